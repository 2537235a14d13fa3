#ifndef ATTNMAP_TESTS_RENDER_RENDER_SUPPORT_H_
#define ATTNMAP_TESTS_RENDER_RENDER_SUPPORT_H_

#include <array>
#include <string>
#include <vector>

#include "attnmap/core/image.h"
#include "attnmap/core/image_geometry.h"
#include "attnmap/core/patch_map.h"
#include "attnmap/render/colormap.h"

namespace attnmap::test {

using Rgb = std::array<uint8_t, 3>;

inline const std::string kFont = ATTNMAP_SOURCE_DIR "/data/fonts/DejaVuSans.ttf";
// Fonts that have 猫 and nothing else, with outlines of both kinds.
inline const std::string kCatCff = ATTNMAP_SOURCE_DIR "/tests/data/fonts/cat-cff.otf";
inline const std::string kCatTrueType = ATTNMAP_SOURCE_DIR "/tests/data/fonts/cat-truetype.ttf";

inline Image Filled(RowsCols size, Rgb colour) {
  Image image(size.rows, size.cols);
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = colour[i % 3];
  return image;
}

inline Rgb At(const Image& image, int row, int col) {
  const uint8_t* pixel = image.row(row) + static_cast<size_t>(col) * 3;
  return {pixel[0], pixel[1], pixel[2]};
}

// Colour i is (i, i, i): a picture drawn with it shows positions.
inline Colormap Grey() {
  Colormap map{};
  for (size_t i = 0; i < 256; ++i) {
    map[i].fill(static_cast<uint8_t>(i));
  }
  return map;
}

inline PatchMap MapOf(PatchGrid grid, std::vector<float> values) {
  PatchMap map;
  map.grid = grid;
  map.values = std::move(values);
  return map;
}

// All zero but one patch.
inline PatchMap Impulse(PatchGrid grid, int row, int col, float value = 1) {
  std::vector<float> values(static_cast<size_t>(grid.num_patches()));
  values[static_cast<size_t>(grid.PatchIndex(row, col))] = value;
  return MapOf(grid, std::move(values));
}

// How a picture can meet the model: the four fits, non-square.
struct FitCase {
  std::string name;
  ImageGeometry geometry;
  PatchGrid grid;
};

inline std::vector<FitCase> FitCases() {
  return {
      {"whole, wide", {{300, 451}, {224, 336}, {224, 336}, 0, 0}, {14, 21, 16}},
      {"whole, tall", {{90, 31}, {160, 56}, {160, 56}, 0, 0}, {20, 7, 8}},
      {"crop", {{200, 333}, {64, 106}, {56, 56}, 4, 25}, {7, 7, 8}},
      {"crop, tall", {{333, 200}, {106, 64}, {56, 56}, 25, 4}, {7, 7, 8}},
      {"stretch", {{120, 57}, {48, 96}, {48, 96}, 0, 0}, {3, 6, 16}},
      {"pad, wide", {{70, 130}, {34, 64}, {64, 64}, -15, 0}, {8, 8, 8}},
      {"pad, tall", {{130, 70}, {64, 34}, {64, 64}, 0, -15}, {8, 8, 8}},
      {"smaller than a patch", {{3, 5}, {32, 48}, {32, 48}, 0, 0}, {2, 3, 16}},
  };
}

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_RENDER_RENDER_SUPPORT_H_
