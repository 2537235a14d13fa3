#ifndef ATTNMAP_OPS_PANELS_H_
#define ATTNMAP_OPS_PANELS_H_

#include <cstdint>

#include "attnmap/core/tensor.h"
#include "attnmap/ops/aligned_buffer.h"

namespace attnmap::ops {

// The right side of a product as the kernels want it: panels of 16 columns, a
// cache line a row, so that a panel is read from front to back. The same for
// every instruction set. Columns past the last are zero.
inline constexpr int64_t kPanelCols = 16;

// `count` rounded up to whole panels.
inline int64_t PanelPadded(int64_t count) {
  return (count + kPanelCols - 1) / kPanelCols * kPanelCols;
}

// Panels someone else owns: entry (k, j) is
// data[j / 16 * stride + k * 16 + j % 16].
struct PanelView {
  const float* data = nullptr;
  int64_t depth = 0;   // k runs over [0, depth)
  int64_t cols = 0;    // j runs over [0, cols)
  int64_t stride = 0;  // floats from panel to panel, >= 16 * depth
  bool pairs = false;  // entries are pairs of bfloat16 (ops/bfloat16.h)

  // Part of it. REQUIRES: within range; `begin` of Cols a multiple of 16.
  PanelView Depth(int64_t begin, int64_t count) const {
    return {data + begin * kPanelCols, count, cols, stride, pairs};
  }
  PanelView Cols(int64_t begin, int64_t count) const {
    return {data + begin / kPanelCols * stride, depth, count, stride, pairs};
  }
};

// The same, to be filled.
struct MutablePanels {
  float* data = nullptr;
  int64_t depth = 0;
  int64_t cols = 0;
  int64_t stride = 0;
  bool pairs = false;

  operator PanelView() const {  // NOLINT(google-explicit-constructor)
    return {data, depth, cols, stride, pairs};
  }
};

// Floats that dense panels take: PanelPadded(cols) * depth.
int64_t PanelFloats(int64_t depth, int64_t cols);
// Dense panels in `data`, which holds PanelFloats(depth, cols).
MutablePanels MakePanels(float* data, int64_t depth, int64_t cols);

// Fills columns [first, first + rows.rows) with the rows of `rows`
// (columns, depth): the weight of a linear layer (out, in), or keys. Whoever
// fills the last column fills the padding too. Threads may fill different
// columns at once.
void PackColumns(MatrixView rows, int64_t first, MutablePanels panels);

// Fills rows [first, first + rows.rows) with those of `rows` (depth, cols):
// values. Threads may fill different rows at once.
void PackRows(MatrixView rows, int64_t first, MutablePanels panels);

// The same for panels of pairs, from rows of plain float32.
void PackPairs(MatrixView rows, int64_t first, MutablePanels panels);

// Owns the panels of a linear layer's weight (out, in).
class PackedMatrix {
 public:
  PackedMatrix() = default;
  explicit PackedMatrix(MatrixView weight, bool pairs = false);
  PanelView view() const { return panels_; }

 private:
  AlignedBuffer buffer_;
  MutablePanels panels_;
};

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_PANELS_H_
