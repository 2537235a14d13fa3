#ifndef ATTNMAP_TESTS_SUPPORT_TORCH_WRITER_H_
#define ATTNMAP_TESTS_SUPPORT_TORCH_WRITER_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnmap/core/tensor.h"
#include "attnmap/formats/archive.h"

namespace attnmap::test {

// Writes pickle operations one after the other; each returns *this.
class PickleWriter {
 public:
  PickleWriter& Proto();        // protocol 2
  PickleWriter& Op(char code);  // one without an argument
  PickleWriter& Op(uint8_t code);
  PickleWriter& Text(std::string_view text);  // BINUNICODE
  PickleWriter& Int(int64_t value);           // the shortest form
  PickleWriter& Global(std::string_view module, std::string_view name);
  PickleWriter& Put(uint32_t key);  // LONG_BINPUT
  PickleWriter& Get(uint32_t key);  // LONG_BINGET
  PickleWriter& Tuple(std::span<const int64_t> values);
  PickleWriter& Raw(std::string_view bytes);
  PickleWriter& Raw(std::span<const uint8_t> bytes);
  // {} of class OrderedDict; an ordinary one is Op('}').
  PickleWriter& OrderedDict();

  // ('storage', torch.<type>, key, 'cpu', num_items[, None]) and BINPERSID.
  struct Storage {
    std::string type = "FloatStorage";
    std::string key = "0";
    int64_t num_items = 0;
    bool legacy = false;  // the id has the sixth part
  };
  PickleWriter& Persistent(const Storage& storage);
  // _rebuild_tensor_v2(storage, offset, shape, strides, False, OrderedDict()).
  struct View {
    int64_t offset = 0;
    Shape shape;
    Shape strides;
  };
  PickleWriter& RebuildTensor(const Storage& storage, const View& view);

  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  PickleWriter& Number(uint64_t value, int num_bytes);
  std::vector<uint8_t> bytes_;
};

// Row-major strides.
Shape ContiguousStrides(const Shape& shape);

// The numbers as `type` (kF32, kF16, kBF16 or kF64), little-endian.
std::vector<uint8_t> NumberBytes(std::span<const float> values, DataType type);
// "FloatStorage", ...
std::string StorageName(DataType type);

// torch.save(dict) with a tensor a storage: the zip form, entries stored as
// torch stores them, and the form before 1.6.
std::vector<uint8_t> TorchZipBytes(std::span<const NamedTensor> tensors,
                                   DataType type = DataType::kF32);
std::vector<uint8_t> TorchLegacyBytes(std::span<const NamedTensor> tensors,
                                      DataType type = DataType::kF32);

// A zip checkpoint of a hand-made pickle and storages (key, bytes).
using StorageBytes = std::pair<std::string, std::vector<uint8_t>>;
std::vector<uint8_t> TorchZipOf(std::span<const uint8_t> pickle,
                                std::span<const StorageBytes> storages);
// An old-form checkpoint: the object's pickle, and what follows it.
std::vector<uint8_t> TorchLegacyOf(std::span<const uint8_t> pickle, std::span<const uint8_t> rest,
                                   bool little_endian = true);

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_SUPPORT_TORCH_WRITER_H_
