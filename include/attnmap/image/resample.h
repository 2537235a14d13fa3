#ifndef ATTNMAP_IMAGE_RESAMPLE_H_
#define ATTNMAP_IMAGE_RESAMPLE_H_

#include "attnmap/core/image.h"
#include "attnmap/core/preprocess.h"
#include "attnmap/core/tensor.h"

namespace attnmap {

// A rectangle of whole pixels.
struct PixelWindow {
  int top = 0;
  int left = 0;
  RowsCols size;
};

// Pillow 13's Image.resize, to the last bit: separable, antialiased when
// shrinking, fixed-point weights of 22 bits, an 8-bit picture between the passes.
// Throws Error where either size is not positive.
Image Resize(const Image& image, RowsCols size, Filter filter);

// The pixels of `window` of what Resize gives, computing nothing else: a
// centre crop costs what it shows. Throws Error also where the window is empty
// or does not lie within `size`.
Image ResizeWindow(const Image& image, RowsCols size, Filter filter, const PixelWindow& window);

// torch's antialiased float resize of (3, rows, cols): same bounds and weights
// as above, float sums, nothing rounded between the passes, width first.
Tensor ResizeFloat(const Tensor& chw, RowsCols size, Filter filter);

// A window of the same for a picture of 8 bits, each value times `rescale`
// before anything else.
Tensor ResizeFloatWindow(const Image& image, double rescale, RowsCols size, Filter filter,
                         const PixelWindow& window);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_RESAMPLE_H_
