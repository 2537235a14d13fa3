#include "analysis/row_sum.h"

#include <bit>
#include <cstdint>

namespace attnmap {

// Added and taken away again, 1.5 * 2^k leaves a multiple of 2^(k - 52); sums
// of such multiples below 2^(k + 1) are exact in a double.
RowSum::RowSum(int64_t cols, int64_t max_rows)
    : magic_(1.5 * static_cast<double>(std::bit_ceil(static_cast<uint64_t>(max_rows) + 1))),
      sums_(static_cast<size_t>(cols)) {}

void RowSum::Add(MatrixView rows) {
  std::vector<double> tile(sums_.size());
  for (int64_t i = 0; i < rows.rows; ++i) {
    const float* row = rows.row(i);
    for (size_t j = 0; j < tile.size(); ++j) {
      tile[j] += (static_cast<double>(row[j]) + magic_) - magic_;
    }
  }
  const std::lock_guard lock(mutex_);
  for (size_t j = 0; j < tile.size(); ++j) sums_[j] += tile[j];
}

std::vector<float> RowSum::Mean(int64_t count) const {
  std::vector<float> mean(sums_.size());
  for (size_t j = 0; j < mean.size(); ++j) {
    mean[j] = static_cast<float>(sums_[j] / static_cast<double>(count));
  }
  return mean;
}

}  // namespace attnmap
