#ifndef ATTNMAP_CORE_IMAGE_H_
#define ATTNMAP_CORE_IMAGE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attnmap/core/patch_grid.h"

namespace attnmap {

// An upright picture, 8 bits a channel, R G B, rows without gaps.
struct Image {
  int rows = 0;
  int cols = 0;
  std::vector<uint8_t> rgb;  // rows * cols * 3

  Image() = default;
  Image(int r, int c)
      : rows(r), cols(c), rgb(static_cast<size_t>(r) * static_cast<size_t>(c) * 3) {}
  RowsCols size() const { return {rows, cols}; }
  uint8_t* row(int y) {
    return rgb.data() + static_cast<size_t>(y) * static_cast<size_t>(cols) * 3;
  }
  const uint8_t* row(int y) const {
    return rgb.data() + static_cast<size_t>(y) * static_cast<size_t>(cols) * 3;
  }
};

}  // namespace attnmap

#endif  // ATTNMAP_CORE_IMAGE_H_
