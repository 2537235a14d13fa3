#include "attnmap/analysis/rollout.h"

#include <algorithm>

namespace attnmap {
namespace {

double RowSum(MatrixView matrix, int64_t row) {
  const float* values = matrix.row(row);
  double sums[4] = {0, 0, 0, 0};
  int64_t j = 0;
  for (; j + 4 <= matrix.cols; j += 4) {
    for (int lane = 0; lane < 4; ++lane) sums[lane] += values[j + lane];
  }
  for (; j < matrix.cols; ++j) sums[0] += values[j];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// One layer: rows <- rows * rownorm(fused + I). A row of `fused` is read once
// for a block of rows, which then stay in cache.
void MultiplyLayer(std::span<double> rows, MatrixView fused, std::vector<double>& scratch) {
  constexpr int64_t kBlock = 8;
  const int64_t num_tokens = fused.cols;
  const int64_t num_rows = static_cast<int64_t>(rows.size()) / num_tokens;
  std::vector<double> norm(static_cast<size_t>(num_tokens));
  for (int64_t i = 0; i < num_tokens; ++i) {
    norm[static_cast<size_t>(i)] = 1 / (RowSum(fused, i) + 1);
  }
  for (int64_t begin = 0; begin < num_rows; begin += kBlock) {
    const int64_t count = std::min(kBlock, num_rows - begin);
    double* block = rows.data() + begin * num_tokens;
    scratch.assign(static_cast<size_t>(count * num_tokens), 0);
    for (int64_t i = 0; i < num_tokens; ++i) {
      const float* weights = fused.row(i);
      for (int64_t r = 0; r < count; ++r) {
        const double factor = block[r * num_tokens + i] * norm[static_cast<size_t>(i)];
        if (factor == 0) continue;  // at the start most are
        double* out = scratch.data() + r * num_tokens;
        out[i] += factor;  // the residual's identity
        for (int64_t j = 0; j < num_tokens; ++j) out[j] += factor * weights[j];
      }
    }
    std::copy(scratch.begin(), scratch.end(), block);
  }
}

}  // namespace

void RollOut(std::span<double> rows, std::span<const MatrixView> layers) {
  std::vector<double> scratch;
  for (size_t layer = layers.size(); layer-- > 0;) MultiplyLayer(rows, layers[layer], scratch);
}

}  // namespace attnmap
