#ifndef ATTNMAP_ANALYSIS_DOT_H_
#define ATTNMAP_ANALYSIS_DOT_H_

#include <cstdint>

namespace attnmap {

// The sum of value(0) ... value(count - 1) in double, on four lanes, so that
// additions need not wait for one another; always in the same order.
template <typename Value>
double FourLaneSum(int64_t count, Value value) {
  double sums[4] = {0, 0, 0, 0};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int lane = 0; lane < 4; ++lane) sums[lane] += value(i + lane);
  }
  for (; i < count; ++i) sums[0] += value(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

inline double Sum(const float* values, int64_t count) {
  return FourLaneSum(count, [&](int64_t i) { return static_cast<double>(values[i]); });
}

template <typename Number>
double Dot(const Number* a, const Number* b, int64_t count) {
  return FourLaneSum(
      count, [&](int64_t i) { return static_cast<double>(a[i]) * static_cast<double>(b[i]); });
}

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_DOT_H_
