#ifndef ATTNMAP_OPS_RELATIVE_POSITION_H_
#define ATTNMAP_OPS_RELATIVE_POSITION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "attnmap/core/patch_grid.h"
#include "attnmap/core/tensor.h"

namespace attnmap::ops {

// Rows of a relative position table for a grid: (2 rows - 1)(2 cols - 1)
// offsets between patches, then prefix to patch, patch to prefix, prefix to
// prefix (BEiT).
int64_t RelativePositionRows(RowsCols grid);

// The row of the table for a query and a key token, prefix tokens first.
int64_t RelativePositionIndex(RowsCols grid, int64_t num_prefix, int64_t query, int64_t key);

// A bias for each head, query and key, read off a table of offsets.
class RelativePositionBias {
 public:
  // table: (RelativePositionRows(from), heads); from a square grid it is
  // brought to `grid` by bilinear interpolation, the last three rows kept.
  // Throws Error where the rows fit neither `grid` nor a square.
  RelativePositionBias(MatrixView table, RowsCols grid, int64_t num_prefix);

  // One query's bias (num_tokens) for one head.
  void Row(int64_t head, int64_t query, std::span<float> bias) const;

 private:
  RowsCols grid_;
  int64_t num_prefix_ = 0;
  int64_t num_offsets_ = 0;
  // (heads, offsets + 3); the offsets in falling order, so that the keys of a
  // patch row lie one after the other.
  std::vector<float> by_head_;
};

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_RELATIVE_POSITION_H_
