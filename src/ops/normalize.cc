#include "attnmap/ops/normalize.h"

#include "ops/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/normalize.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

#include "ops/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnmap::ops::HWY_NAMESPACE {

constexpr int64_t kStep = int64_t{kLanes};

// Sum over the row of (x - shift) or its square; the columns that fill no
// vector one by one.
template <bool kSquare>
float SumRow(const float* x, int64_t cols, float shift) {
  const FloatTag d;
  const Floats shifts = hn::Set(d, shift);
  // Two sums, so that one addition need not wait for the other.
  Floats sums[2] = {hn::Zero(d), hn::Zero(d)};
  int64_t j = 0;
  for (int which = 0; j + kStep <= cols; j += kStep, which ^= 1) {
    const Floats v = hn::Sub(hn::LoadU(d, x + j), shifts);
    sums[which] = kSquare ? hn::MulAdd(v, v, sums[which]) : hn::Add(v, sums[which]);
  }
  float sum = SumOf(hn::Add(sums[0], sums[1]));
  for (; j < cols; ++j) {
    const float v = x[j] - shift;
    sum += kSquare ? v * v : v;
  }
  return sum;
}

void NormRow(const float* x, int64_t cols, const float* weight, const float* bias, float eps,
             float* out) {
  const FloatTag d;
  const auto count = static_cast<float>(cols);
  const float mean = SumRow<false>(x, cols, 0.0F) / count;
  const float variance = SumRow<true>(x, cols, mean) / count;
  const float factor = 1.0F / std::sqrt(variance + eps);
  int64_t j = 0;
  for (; j + kStep <= cols; j += kStep) {
    Floats v = hn::Mul(hn::Sub(hn::LoadU(d, x + j), hn::Set(d, mean)), hn::Set(d, factor));
    if (weight != nullptr) v = hn::Mul(v, hn::LoadU(d, weight + j));
    if (bias != nullptr) v = hn::Add(v, hn::LoadU(d, bias + j));
    hn::StoreU(v, d, out + j);
  }
  for (; j < cols; ++j) {
    float v = (x[j] - mean) * factor;
    if (weight != nullptr) v *= weight[j];
    if (bias != nullptr) v += bias[j];
    out[j] = v;
  }
}

void LayerNormImpl(MatrixView x, const float* weight, const float* bias, float eps,
                   MutableMatrixView out) {
  for (int64_t i = 0; i < x.rows; ++i) {
    NormRow(x.row(i), x.cols, weight, bias, eps, out.row(i));
  }
}

}  // namespace attnmap::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnmap::ops {

HWY_EXPORT(LayerNormImpl);

void LayerNorm(MatrixView x, const float* weight, const float* bias, float eps,
               MutableMatrixView out) {
  HWY_DYNAMIC_DISPATCH(LayerNormImpl)(x, weight, bias, eps, out);
}

}  // namespace attnmap::ops
#endif  // HWY_ONCE
