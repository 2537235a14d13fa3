#ifndef ATTNMAP_OPS_GRID_RESIZE_H_
#define ATTNMAP_OPS_GRID_RESIZE_H_

#include "attnmap/core/patch_grid.h"
#include "attnmap/core/tensor.h"

namespace attnmap::ops {

// How a table of vectors on a grid is brought to another grid. All sample at
// (i + 0.5) * ratio - 0.5 but kBicubicCorners, and clamp at the edges.
enum class GridFilter {
  kBicubicAntialias,   // a = -0.5, support widened when shrinking, renormalised
  kBicubic,            // a = -0.75, ratio in / out
  kBicubicOffset,      // a = -0.75, ratio in / (out + 0.1)
  kBicubicCorners,     // a = -0.75, corners on corners
  kBilinear,           // no antialias
  kBilinearAntialias,  // support widened when shrinking
};

// table: (from.rows * from.cols, width), rows of the grid first. The result:
// (to.rows * to.cols, width); an unchanged copy where the grids are equal.
Matrix ResizeGrid(MatrixView table, RowsCols from, RowsCols to, GridFilter filter);

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_GRID_RESIZE_H_
