#include "attnmap/ops/panels.h"

#include <algorithm>
#include <cstring>

namespace attnmap::ops {
namespace {

constexpr int64_t kStep = 4;

// Four columns of a panel from four rows: a transposition of 4 x 4 blocks.
void PackFour(const float* rows, int64_t stride, int64_t depth, float* to) {
  const float* r0 = rows;
  const float* r1 = rows + stride;
  const float* r2 = rows + 2 * stride;
  const float* r3 = rows + 3 * stride;
  for (int64_t k = 0; k < depth; ++k) {
    float* out = to + k * kPanelCols;
    out[0] = r0[k];
    out[1] = r1[k];
    out[2] = r2[k];
    out[3] = r3[k];
  }
}

void PackOne(const float* row, int64_t depth, float* to) {
  for (int64_t k = 0; k < depth; ++k) to[k * kPanelCols] = row[k];
}

}  // namespace

int64_t PanelFloats(int64_t depth, int64_t cols) { return PanelPadded(cols) * depth; }

MutablePanels MakePanels(float* data, int64_t depth, int64_t cols) {
  return {data, depth, cols, kPanelCols * depth};
}

void PackColumns(MatrixView rows, int64_t first, MutablePanels panels) {
  const auto column = [&](int64_t j) {
    return panels.data + j / kPanelCols * panels.stride + j % kPanelCols;
  };
  for (int64_t i = 0; i < rows.rows;) {
    const int64_t j = first + i;
    if (j % kStep == 0 && i + kStep <= rows.rows) {
      PackFour(rows.row(i), rows.stride, panels.depth, column(j));
      i += kStep;
    } else {
      PackOne(rows.row(i), panels.depth, column(j));
      ++i;
    }
  }
  if (first + rows.rows < panels.cols) return;
  for (int64_t j = panels.cols; j < PanelPadded(panels.cols); ++j) {
    float* to = column(j);
    for (int64_t k = 0; k < panels.depth; ++k) to[k * kPanelCols] = 0;
  }
}

void PackRows(MatrixView rows, int64_t first, MutablePanels panels) {
  for (int64_t i = 0; i < rows.rows; ++i) {
    const float* from = rows.row(i);
    for (int64_t j = 0; j < panels.cols; j += kPanelCols) {
      const int64_t count = std::min(kPanelCols, panels.cols - j);
      float* to = panels.data + j / kPanelCols * panels.stride + (first + i) * kPanelCols;
      std::memcpy(to, from + j, static_cast<size_t>(count) * sizeof(float));
      std::fill(to + count, to + kPanelCols, 0.0F);
    }
  }
}

PackedMatrix::PackedMatrix(MatrixView weight) : buffer_(PanelFloats(weight.cols, weight.rows)) {
  panels_ = MakePanels(buffer_.data(), weight.cols, weight.rows);
  PackColumns(weight, 0, panels_);
}

}  // namespace attnmap::ops
