#ifndef ATTNMAP_CORE_IMAGE_GEOMETRY_H_
#define ATTNMAP_CORE_IMAGE_GEOMETRY_H_

#include <optional>

#include "attnmap/core/patch_grid.h"

namespace attnmap {

// A rectangle in pixels of the upright source picture; edges, not centres, and
// fractions of a pixel are meant.
struct Rect {
  double top = 0;
  double left = 0;
  double bottom = 0;
  double right = 0;
  double rows() const { return bottom - top; }
  double cols() const { return right - left; }
};

// Where the model's pixels come from: the upright source was resampled to
// `resized`, and the window of `model` pixels at (top, left) of that was cut
// out. A negative top or left is padding: those pixels show no picture.
struct ImageGeometry {
  RowsCols source;   // the upright picture as the user sees it
  RowsCols resized;  // after resampling
  RowsCols model;    // what the encoder gets
  int top = 0;
  int left = 0;

  // The untouched picture.
  static ImageGeometry Identity(RowsCols size) { return {size, size, size, 0, 0}; }

  // A row or column position (edge coordinates) of the model's image as one of
  // the source, and back. Positions in padding fall outside the source.
  double SourceRow(double model_row) const;
  double SourceCol(double model_col) const;
  double ModelRow(double source_row) const;
  double ModelCol(double source_col) const;

  // Source pixels under a patch, exact and not clipped.
  Rect PatchRect(const PatchGrid& grid, int row, int col) const;

  // The patch under the centre of the source pixel that x (to the right) and y
  // (down) lie in; nothing where the model did not see that pixel.
  std::optional<RowsCols> PatchUnder(const PatchGrid& grid, double x, double y) const;

  // The part of the source that the model saw, clipped to the source.
  Rect SeenRect() const;

  // Whether any part of the patch shows the picture, not padding.
  bool PatchShowsPicture(const PatchGrid& grid, int row, int col) const;
};

}  // namespace attnmap

#endif  // ATTNMAP_CORE_IMAGE_GEOMETRY_H_
