#include "render/canvas.h"

#include <cassert>
#include <cstring>

namespace attnmap {

Region RegionOf(Image& image, const Box& box) {
  assert(box.top >= 0 && box.left >= 0 && box.bottom() <= image.rows && box.right() <= image.cols);
  return {image.row(box.top) + static_cast<size_t>(box.left) * 3,
          static_cast<size_t>(image.cols) * 3, box.rows, box.cols};
}

void BlendPixel(uint8_t* pixel, const Colour& colour, unsigned cover) {
  for (size_t c = 0; c < 3; ++c) {
    pixel[c] = static_cast<uint8_t>((pixel[c] * (255 - cover) + colour[c] * cover + 127) / 255);
  }
}

void FillBox(Image& image, const Box& box, const Colour& colour) {
  const Region region = RegionOf(image, box);
  for (int y = 0; y < region.rows; ++y) {
    uint8_t* out = region.row(y);
    for (int x = 0; x < region.cols; ++x, out += 3) std::memcpy(out, colour.data(), 3);
  }
}

void CopyInto(const Image& photo, const Region& region) {
  assert(photo.rows == region.rows && photo.cols == region.cols);
  for (int y = 0; y < region.rows; ++y) {
    std::memcpy(region.row(y), photo.row(y), static_cast<size_t>(region.cols) * 3);
  }
}

}  // namespace attnmap
