#include "attnmap/core/image_geometry.h"

#include <algorithm>
#include <cmath>

namespace attnmap {

double ImageGeometry::SourceRow(double model_row) const {
  return (model_row + top) * source.rows / resized.rows;
}

double ImageGeometry::SourceCol(double model_col) const {
  return (model_col + left) * source.cols / resized.cols;
}

double ImageGeometry::ModelRow(double source_row) const {
  return source_row * resized.rows / source.rows - top;
}

double ImageGeometry::ModelCol(double source_col) const {
  return source_col * resized.cols / source.cols - left;
}

Rect ImageGeometry::PatchRect(const PatchGrid& grid, int row, int col) const {
  const double p = grid.patch_size;
  return {SourceRow(row * p), SourceCol(col * p), SourceRow((row + 1) * p),
          SourceCol((col + 1) * p)};
}

std::optional<RowsCols> ImageGeometry::PatchUnder(const PatchGrid& grid, double x, double y) const {
  // Put so that what is not a number is refused too.
  if (!(x >= 0 && y >= 0 && x < source.cols && y < source.rows)) return std::nullopt;
  const double row = std::floor(ModelRow(std::floor(y) + 0.5) / grid.patch_size);
  const double col = std::floor(ModelCol(std::floor(x) + 0.5) / grid.patch_size);
  if (row < 0 || col < 0 || row >= grid.rows || col >= grid.cols) return std::nullopt;
  return RowsCols{static_cast<int>(row), static_cast<int>(col)};
}

Rect ImageGeometry::SeenRect() const {
  const double rows = source.rows;
  const double cols = source.cols;
  return {std::clamp(SourceRow(0), 0.0, rows), std::clamp(SourceCol(0), 0.0, cols),
          std::clamp(SourceRow(model.rows), 0.0, rows),
          std::clamp(SourceCol(model.cols), 0.0, cols)};
}

bool ImageGeometry::PatchShowsPicture(const PatchGrid& grid, int row, int col) const {
  const Rect rect = PatchRect(grid, row, col);
  return rect.bottom > 0 && rect.right > 0 && rect.top < source.rows && rect.left < source.cols;
}

}  // namespace attnmap
