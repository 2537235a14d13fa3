#ifndef ATTNMAP_FORMATS_NPY_WRITER_H_
#define ATTNMAP_FORMATS_NPY_WRITER_H_

#include <string>

#include "attnmap/core/tensor.h"

namespace attnmap {

// What stands before the numbers of a little-endian, row-major float32 .npy
// file: a multiple of 64 bytes.
std::string NpyPreamble(const Shape& shape);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_NPY_WRITER_H_
