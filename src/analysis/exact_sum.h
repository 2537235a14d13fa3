#ifndef ATTNMAP_ANALYSIS_EXACT_SUM_H_
#define ATTNMAP_ANALYSIS_EXACT_SUM_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace attnmap {

// A sum of numbers in [0, max] that is the same to the bit in any order: each
// is rounded to a multiple of a quantum so fine that all of them, `max_count`
// at most, use 60 bits of an integer. Each is off by max * max_count * 2^-61.
// Not for several threads at once: sum a tile, then add the tiles under a lock.
class ExactSum {
 public:
  ExactSum() = default;
  ExactSum(double max, int64_t max_count)
      : per_unit_(std::exp2(
            60 - std::ceil(std::log2(std::max(max, 1.0) * static_cast<double>(max_count))))) {}

  // An empty sum with this one's quantum.
  ExactSum Empty() const {
    ExactSum empty = *this;
    empty.sum_ = 0;
    return empty;
  }
  void Add(double value) { sum_ += std::llround(value * per_unit_); }
  // REQUIRES: both have the same quantum.
  void Add(const ExactSum& other) { sum_ += other.sum_; }
  double Mean(int64_t count) const {
    return static_cast<double>(sum_) / per_unit_ / static_cast<double>(count);
  }

 private:
  double per_unit_ = 1;
  int64_t sum_ = 0;
};

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_EXACT_SUM_H_
