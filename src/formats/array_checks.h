#ifndef ATTNMAP_FORMATS_ARRAY_CHECKS_H_
#define ATTNMAP_FORMATS_ARRAY_CHECKS_H_

#include <span>

#include "attnmap/formats/arrays.h"

namespace attnmap {

// Throws Error unless there are as many values as the shape says.
void RequireCount(const Shape& shape, std::span<const float> values);

// The same for each array; and no name may be there twice.
void RequireWritable(std::span<const ArrayToWrite> arrays);

inline std::span<const uint8_t> AsBytes(std::span<const float> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
}
inline std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_ARRAY_CHECKS_H_
