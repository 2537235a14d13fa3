#ifndef ATTNMAP_FORMATS_NPY_HEADER_H_
#define ATTNMAP_FORMATS_NPY_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "attnmap/core/tensor.h"
#include "attnmap/formats/archive.h"
#include "attnmap/formats/dtype.h"

namespace attnmap {

// What stands in front of the numbers of a .npy file, alone or in an .npz.
struct NpyHeader {
  DataType type = DataType::kOther;
  std::string descr;  // the type as the file says it
  ByteOrder order = ByteOrder::kLittle;
  bool fortran_order = false;
  Shape shape;
  size_t data_begin = 0;  // bytes from the file's start

  // Of the numbers; 0 for kOther. Checked not to overflow.
  uint64_t data_size() const;
};

// How many bytes the header has, from a file's first kNpyPreamble bytes (or
// more, or all there are). Throws Error where that is no npy file's begin.
inline constexpr size_t kNpyPreamble = 12;
size_t NpyHeaderSize(std::span<const uint8_t> bytes);

// `bytes`: the file or its first NpyHeaderSize bytes. Structured, text and
// Python-object arrays come out as kOther. Throws Error (without a path) where
// the header is wrong.
NpyHeader ParseNpyHeader(std::span<const uint8_t> bytes);

// The numbers, row-major: a view of `data` where that is what lies there, which
// then keeps `owner` alive. Throws Error for kOther or where `data` is shorter
// than data_size().
SharedTensor LoadNpyData(const NpyHeader& header, const std::shared_ptr<const void>& owner,
                         std::span<const uint8_t> data);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_NPY_HEADER_H_
