#include "attnmap/ops/relative_position.h"

#include <algorithm>
#include <cmath>

#include "attnmap/core/error.h"
#include "attnmap/ops/grid_resize.h"

namespace attnmap::ops {
namespace {

// Rows behind the offsets: prefix to patch, patch to prefix, prefix to prefix.
constexpr int64_t kPrefixRows = 3;

RowsCols Offsets(RowsCols grid) { return {2 * grid.rows - 1, 2 * grid.cols - 1}; }

int64_t NumOffsets(RowsCols grid) {
  const RowsCols offsets = Offsets(grid);
  return static_cast<int64_t>(offsets.rows) * offsets.cols;
}

// The side of the square table of offsets with `count` rows.
int SquareSide(int64_t count, RowsCols grid) {
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(count))));
  if (count < 1 || side * side != count || side % 2 == 0) {
    throw Error("relative position table: expected " + std::to_string(RelativePositionRows(grid)) +
                " rows for a grid of " + std::to_string(grid.rows) + " x " +
                std::to_string(grid.cols) + ", or those of a square grid, found " +
                std::to_string(count + kPrefixRows));
  }
  return static_cast<int>(side);
}

// The offsets of `table` brought to `grid`.
Matrix FitOffsets(MatrixView table, RowsCols grid) {
  const int64_t count = table.rows - kPrefixRows;
  const MatrixView offsets = {table.data, count, table.cols, table.stride};
  RowsCols from = Offsets(grid);
  if (count != NumOffsets(grid)) {
    const int side = SquareSide(count, grid);
    from = {side, side};
  }
  return ResizeGrid(offsets, from, Offsets(grid), GridFilter::kBilinear);
}

}  // namespace

int64_t RelativePositionRows(RowsCols grid) { return NumOffsets(grid) + kPrefixRows; }

int64_t RelativePositionIndex(RowsCols grid, int64_t num_prefix, int64_t query, int64_t key) {
  const int64_t end = RelativePositionRows(grid);
  if (query < num_prefix) return key < num_prefix ? end - 1 : end - 3;
  if (key < num_prefix) return end - 2;
  const int64_t q = query - num_prefix;
  const int64_t k = key - num_prefix;
  const int64_t rows = q / grid.cols - k / grid.cols + grid.rows - 1;
  const int64_t cols = q % grid.cols - k % grid.cols + grid.cols - 1;
  return rows * (2 * grid.cols - 1) + cols;
}

RelativePositionBias::RelativePositionBias(MatrixView table, RowsCols grid, int64_t num_prefix)
    : grid_(grid), num_prefix_(num_prefix), num_offsets_(NumOffsets(grid)) {
  const Matrix offsets = FitOffsets(table, grid);
  for (int64_t head = 0; head < table.cols; ++head) {
    for (int64_t i = num_offsets_; i-- > 0;) by_head_.push_back(offsets.at(i, head));
    for (int64_t i = kPrefixRows; i > 0; --i) by_head_.push_back(table.at(table.rows - i, head));
  }
}

void RelativePositionBias::Row(int64_t head, int64_t query, std::span<float> bias) const {
  const float* values = by_head_.data() + head * (num_offsets_ + kPrefixRows);
  const float* prefix_values = values + num_offsets_;
  const bool from_prefix = query < num_prefix_;
  const auto prefix = static_cast<size_t>(num_prefix_);
  std::fill_n(bias.begin(), prefix, prefix_values[from_prefix ? 2 : 1]);
  if (from_prefix) {
    std::fill(bias.begin() + num_prefix_, bias.end(), prefix_values[0]);
    return;
  }
  float* to = bias.data() + prefix;
  for (int64_t row = 0; row < grid_.rows; ++row, to += grid_.cols) {
    const int64_t key = num_prefix_ + row * grid_.cols;
    const int64_t index = RelativePositionIndex(grid_, num_prefix_, query, key);
    std::copy_n(values + num_offsets_ - 1 - index, grid_.cols, to);
  }
}

}  // namespace attnmap::ops
