#ifndef ATTNMAP_FORMATS_ARCHIVE_H_
#define ATTNMAP_FORMATS_ARCHIVE_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnmap/core/tensor.h"

namespace attnmap {

enum class DataType {
  kF64,
  kF32,
  kF16,
  kBF16,
  kI64,
  kI32,
  kI16,
  kI8,
  kU64,
  kU32,
  kU16,
  kU8,
  kBool,
  kOther
};

// "f32", "bf16", ...; "other".
std::string_view DataTypeName(DataType type);
// Bytes of one element; 0 for kOther.
int64_t DataTypeSize(DataType type);

// One array in a file, before any of its numbers are read.
struct TensorInfo {
  std::string name;
  DataType type = DataType::kF32;
  Shape shape;
};

// An opened file of named arrays. Opening checks the structure; numbers are
// read by Load. Safe to Load from several threads.
class TensorArchive {
 public:
  virtual ~TensorArchive() = default;
  virtual std::string_view format() const = 0;  // "safetensors", "npz", "pytorch", "json", ...
  virtual std::span<const TensorInfo> tensors() const = 0;
  // Numbers as float32, row-major: a view into the mapped file where the file
  // holds just that, else a converted copy. NaN and infinities are handed on.
  // Throws Error naming the tensor. REQUIRES: index < tensors().size().
  virtual SharedTensor Load(size_t index) const = 0;
  // Text that came with the arrays, if any: "config" is the JSON header of our
  // own files, "metadata:KEY" a value of safetensors' "__metadata__".
  virtual std::optional<std::string> Text(std::string_view /*key*/) const { return std::nullopt; }
};

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_ARCHIVE_H_
