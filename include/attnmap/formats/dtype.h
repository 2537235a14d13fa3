#ifndef ATTNMAP_FORMATS_DTYPE_H_
#define ATTNMAP_FORMATS_DTYPE_H_

#include <cstdint>
#include <memory>
#include <span>

#include "attnmap/core/tensor.h"
#include "attnmap/formats/archive.h"

namespace attnmap {

// IEEE half and bfloat16 to float32, exact; NaN payloads are kept. No step
// goes through a denormal float, so flush-to-zero modes change nothing.
float HalfToFloat(uint16_t bits);
float Bfloat16ToFloat(uint16_t bits);
// Round to nearest, ties to even; too large becomes infinity, NaN stays NaN.
uint16_t FloatToHalf(float value);
uint16_t FloatToBfloat16(float value);

// How the bytes of an array in a file are to be read.
enum class ByteOrder { kLittle, kBig };

// Elements of `type` at `bytes` (any alignment) to float32: integers and f64
// are rounded to nearest even, true is 1. Throws Error for kOther.
// REQUIRES: bytes.size() == out.size() * DataTypeSize(type).
void ConvertToFloat(DataType type, std::span<const uint8_t> bytes, std::span<float> out,
                    ByteOrder order = ByteOrder::kLittle);

// The same for an array that is not row-major: element (i, j, ...) lies at
// offset + i * strides[0] + j * strides[1] + ..., counted in elements.
// REQUIRES: every such element lies within `bytes`; out.size() ==
// NumElements(shape); as many strides as dimensions, none negative.
struct StridedSource {
  DataType type = DataType::kF32;
  std::span<const uint8_t> bytes;
  ByteOrder order = ByteOrder::kLittle;
  int64_t offset = 0;
  Shape strides;
};
void GatherToFloat(const StridedSource& source, const Shape& shape, std::span<float> out);

// A dense row-major array in a file: a view that keeps `owner` alive where the
// bytes are aligned little-endian float32, else a converted copy.
// REQUIRES: bytes.size() == NumElements(shape) * DataTypeSize(type).
SharedTensor ViewOrConvert(const std::shared_ptr<const void>& owner, DataType type,
                           std::span<const uint8_t> bytes, Shape shape,
                           ByteOrder order = ByteOrder::kLittle);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_DTYPE_H_
