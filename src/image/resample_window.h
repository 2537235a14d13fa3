#ifndef ATTNMAP_IMAGE_RESAMPLE_WINDOW_H_
#define ATTNMAP_IMAGE_RESAMPLE_WINDOW_H_

#include "attnmap/image/resample.h"

namespace attnmap {

// Throws Error where `in` or `size` is empty or the window is not within `size`.
void CheckWindow(RowsCols in, RowsCols size, const PixelWindow& window);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_RESAMPLE_WINDOW_H_
