#ifndef ATTNMAP_ANALYSIS_ROW_SUM_H_
#define ATTNMAP_ANALYSIS_ROW_SUM_H_

#include <mutex>
#include <vector>

#include "attnmap/core/tensor.h"

namespace attnmap {

// Sums rows of attention weights that arrive in tiles, from any thread, in any
// order, with the same result to the bit: each weight is rounded to a multiple
// of a quantum so fine that no later sum is ever rounded, and exact sums do
// not depend on their order. With n rows the quantum is n * 2^-51 at most; the
// mean is off by less than that.
class RowSum {
 public:
  // REQUIRES: weights in [0, 2), at most max_rows rows.
  RowSum(int64_t cols, int64_t max_rows);
  RowSum(RowSum&& other) noexcept : magic_(other.magic_), sums_(std::move(other.sums_)) {}

  void Add(MatrixView rows);
  // (cols): the sum divided by `count`.
  std::vector<float> Mean(int64_t count) const;

 private:
  double magic_;
  std::mutex mutex_;
  std::vector<double> sums_;
};

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_ROW_SUM_H_
