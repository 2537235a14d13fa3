#ifndef ATTNMAP_IMAGE_RESAMPLE_H_
#define ATTNMAP_IMAGE_RESAMPLE_H_

#include "attnmap/core/image.h"
#include "attnmap/core/preprocess.h"
#include "attnmap/core/tensor.h"

namespace attnmap {

// Pillow 13's Image.resize, to the last bit: separable, antialiased when
// shrinking, fixed-point weights of 22 bits, an 8-bit picture between the passes.
// Throws Error where either size is not positive.
Image Resize(const Image& image, RowsCols size, Filter filter);

// torch's antialiased float resize of (3, rows, cols): same bounds and weights
// as above, float sums, nothing rounded between the passes, width first.
Tensor ResizeFloat(const Tensor& chw, RowsCols size, Filter filter);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_RESAMPLE_H_
