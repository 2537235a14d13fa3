#ifndef ATTNMAP_RENDER_CONTOUR_H_
#define ATTNMAP_RENDER_CONTOUR_H_

#include <cstdint>
#include <span>
#include <vector>

#include "attnmap/core/image_geometry.h"
#include "attnmap/core/patch_grid.h"
#include "render/canvas.h"

namespace attnmap {

// What lies under each row and column of patches, in edge coordinates of the
// picture. Empty where a patch shows nothing of it.
struct PatchSpans {
  struct Span {
    double begin = 0;
    double end = 0;
    bool empty() const { return !(end > begin); }
  };
  std::vector<Span> rows;  // (grid rows)
  std::vector<Span> cols;  // (grid cols)
};
// Whole pixels: the pixel's centre decides, as everywhere.
PatchSpans PixelsOfPatches(const ImageGeometry& geometry, const PatchGrid& grid);
// Exact, clipped to the picture.
PatchSpans EdgesOfPatches(const ImageGeometry& geometry, const PatchGrid& grid);

// One side of a kept patch whose neighbour is not kept, or the picture's end.
struct EdgeSegment {
  bool horizontal = false;
  double at = 0;  // its row (or column), in edge coordinates
  double begin = 0;
  double end = 0;
};
// kept: (grid.num_patches()), not 0 where kept.
std::vector<EdgeSegment> MaskEdge(const PatchSpans& spans, const PatchGrid& grid,
                                  std::span<const uint8_t> kept);

// A light line with a dark one on either side, seen on any photo.
inline constexpr Colour kContourLight = {0xFF, 0xFF, 0xFF};
inline constexpr Colour kContourDark = {0x10, 0x10, 0x10};
struct ContourWidth {
  int light = 1;
  int dark = 1;  // on each side
  int all() const { return light + 2 * dark; }
};
ContourWidth ContourWidthFor(RowsCols picture);

// Draws the outline along the mask's edge into a region of the size of
// geometry.source. At the picture's end the line lies within the picture.
void DrawContour(const ImageGeometry& geometry, const PatchGrid& grid,
                 std::span<const uint8_t> kept, const Region& region);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_CONTOUR_H_
