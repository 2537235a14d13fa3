#include "image/exif.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "image/tiff_directory.h"

namespace attnmap {
namespace {

// Where an output pixel comes from: first + y * per_row + x * per_col, in pixels.
struct Walk {
  ptrdiff_t first;
  ptrdiff_t per_row;
  ptrdiff_t per_col;
};

Walk WalkFor(int orientation, ptrdiff_t rows, ptrdiff_t cols) {
  const ptrdiff_t last_row = (rows - 1) * cols;
  switch (orientation) {
    case 2:
      return {cols - 1, cols, -1};
    case 3:
      return {last_row + cols - 1, -cols, -1};
    case 4:
      return {last_row, -cols, 1};
    case 5:
      return {0, 1, cols};
    case 6:
      return {last_row, 1, -cols};
    case 7:
      return {last_row + cols - 1, -1, -cols};
    case 8:
      return {cols - 1, -1, cols};
    default:
      return {0, cols, 1};
  }
}

void CopyTile(const Image& from, const Walk& walk, int top, int left, Image& to) {
  constexpr int kTile = 32;  // both sides of a transposed tile stay in the cache
  const int bottom = std::min(top + kTile, to.rows);
  const int right = std::min(left + kTile, to.cols);
  for (int y = top; y < bottom; ++y) {
    uint8_t* out = to.row(y) + static_cast<ptrdiff_t>(left) * 3;
    const uint8_t* in = from.rgb.data() + 3 * (walk.first + y * walk.per_row + left * walk.per_col);
    for (int x = left; x < right; ++x, out += 3, in += 3 * walk.per_col) {
      out[0] = in[0];
      out[1] = in[1];
      out[2] = in[2];
    }
  }
}

}  // namespace

int ExifOrientation(Bytes exif) {
  constexpr std::string_view kPrefix("Exif\0\0", 6);
  if (exif.size() >= kPrefix.size() &&
      std::equal(kPrefix.begin(), kPrefix.end(), exif.begin(),
                 [](char a, uint8_t b) { return static_cast<uint8_t>(a) == b; })) {
    exif = exif.subspan(kPrefix.size());
  }
  const auto directory = TiffDirectory::First(exif);
  if (!directory) return 1;
  const uint64_t value = directory->Integer(TiffTag::kOrientation).value_or(1);
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

Image Upright(Image stored, int orientation) {
  if (orientation <= 1 || orientation > 8) return stored;
  const bool turned = orientation >= 5;
  Image upright(turned ? stored.cols : stored.rows, turned ? stored.rows : stored.cols);
  const Walk walk = WalkFor(orientation, stored.rows, stored.cols);
  for (int top = 0; top < upright.rows; top += 32) {
    for (int left = 0; left < upright.cols; left += 32) CopyTile(stored, walk, top, left, upright);
  }
  return upright;
}

}  // namespace attnmap
