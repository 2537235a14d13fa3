#ifndef ATTNMAP_FORMATS_TORCH_ARCHIVE_H_
#define ATTNMAP_FORMATS_TORCH_ARCHIVE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnmap/formats/archive.h"
#include "attnmap/formats/dtype.h"
#include "attnmap/formats/file.h"
#include "formats/pickle_value.h"
#include "formats/torch_tensor.h"
#include "formats/zip_archive.h"

namespace attnmap {

// Where a checkpoint keeps its numbers: the two forms of torch.save differ in
// this alone.
class TorchStorages {
 public:
  virtual ~TorchStorages() = default;
  // A number for the storage, after checking that the file holds all of it.
  // Throws Error.
  virtual size_t Find(const TorchStorage& storage) const = 0;
  // The bytes of one, at least as many as Find was asked for.
  virtual SharedBytes Read(size_t number) const = 0;
  virtual ByteOrder order() const { return ByteOrder::kLittle; }
};

// What opening a checkpoint gives: the pickle's root (owned by the arena, which
// may go once the tensors are known) and the storages.
struct TorchContents {
  std::unique_ptr<PickleArena> arena;
  const PickleValue* root = nullptr;
  std::unique_ptr<TorchStorages> storages;
  // The pickle's bytes, which the values point into.
  SharedBytes pickle;
};

TorchContents ReadTorchZip(const std::shared_ptr<const MappedFile>& file);
TorchContents ReadTorchLegacy(const std::shared_ptr<const MappedFile>& file);
// Whether the bytes start as the older form does.
bool IsTorchLegacy(std::span<const uint8_t> bytes);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_TORCH_ARCHIVE_H_
