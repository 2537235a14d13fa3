#ifndef ATTNMAP_IMAGE_RESAMPLE_WEIGHTS_H_
#define ATTNMAP_IMAGE_RESAMPLE_WEIGHTS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "attnmap/core/preprocess.h"

namespace attnmap {

inline constexpr int kWeightBits = 22;  // of the fixed point, as Pillow's

// Which outputs of one axis, and how long the axis is before and after.
struct AxisRange {
  int in = 0;
  int out = 0;
  int begin = 0;  // outputs [begin, end)
  int end = 0;
};

// Output i (counted from AxisRange::begin) is the sum of the source elements
// first[i] ... times the weights [offset[i], offset[i + 1]).
template <typename T>
struct AxisWeights {
  std::vector<int> first;
  std::vector<size_t> offset;
  std::vector<T> values;

  int count(size_t i) const { return static_cast<int>(offset[i + 1] - offset[i]); }
  const T* at(size_t i) const { return values.data() + offset[i]; }
  // One behind the last source element that output i reads.
  int last(size_t i) const { return first[i] + count(i); }
};

// The most source elements one output can read.
int MaxTaps(int in, int out, Filter filter);

// Pillow's coefficients (Resample.c), worked out in double. REQUIRES: not
// kNearest, which has none.
AxisWeights<int32_t> FixedWeights(const AxisRange& range, Filter filter);
AxisWeights<float> FloatWeights(const AxisRange& range, Filter filter);

// Source elements [first, second) that the outputs of a range read.
std::pair<int, int> SourceSpan(const AxisRange& range, Filter filter);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_RESAMPLE_WEIGHTS_H_
