#ifndef ATTNMAP_RENDER_CANVAS_H_
#define ATTNMAP_RENDER_CANVAS_H_

#include <array>
#include <cstdint>

#include "attnmap/core/image.h"

namespace attnmap {

using Colour = std::array<uint8_t, 3>;  // R G B

// A rectangle of whole pixels.
struct Box {
  int top = 0;
  int left = 0;
  int rows = 0;
  int cols = 0;
  int bottom() const { return top + rows; }
  int right() const { return left + cols; }
  RowsCols size() const { return {rows, cols}; }
};

// Part of a picture to be written to; valid while the picture lives.
struct Region {
  uint8_t* data = nullptr;
  size_t stride = 0;  // bytes between rows
  int rows = 0;
  int cols = 0;
  uint8_t* row(int y) const { return data + static_cast<size_t>(y) * stride; }
};

// REQUIRES: the box lies inside the image.
Region RegionOf(Image& image, const Box& box);

// cover: 0 (as it is) to 255 (the colour).
void BlendPixel(uint8_t* pixel, const Colour& colour, unsigned cover);
void FillBox(Image& image, const Box& box, const Colour& colour);
// REQUIRES: photo has the region's size.
void CopyInto(const Image& photo, const Region& region);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_CANVAS_H_
