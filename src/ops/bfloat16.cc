#include "attnmap/ops/bfloat16.h"

#include "ops/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/bfloat16.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <cstring>

#include "ops/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnmap::ops::HWY_NAMESPACE {

using Bits = hn::RebindToUnsigned<FloatTag>;

// The bits of x rounded to bfloat16, in the upper half; the lower half is
// whatever is left there. Not a number stays one.
HWY_INLINE hn::Vec<Bits> Rounded(Floats x) {
  const Bits d;
  const auto bits = hn::BitCast(d, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(d, 0x7FFF)));
  const auto is_number = hn::RebindMask(d, hn::Eq(x, x));
  return hn::IfThenElse(is_number, rounded, hn::Set(d, 0x7FC00000));
}

void ToPairsImpl(MatrixView rows, MutableMatrixView words) {
  const FloatTag d;
  const Bits du;
  constexpr auto kStep = int64_t{kLanes};
  const auto pairs = [&](const float* from, float* to) HWY_ATTR {
    Floats even;
    Floats odd;
    hn::LoadInterleaved2(d, from, even, odd);
    const auto low = hn::ShiftRight<16>(Rounded(even));
    const auto high = hn::And(Rounded(odd), hn::Set(du, 0xFFFF0000));
    hn::StoreU(hn::BitCast(d, hn::Or(low, high)), d, to);
  };
  for (int64_t i = 0; i < rows.rows; ++i) {
    const float* from = rows.row(i);
    float* to = words.row(i);
    int64_t k = 0;
    for (; 2 * (k + kStep) <= rows.cols; k += kStep) pairs(from + 2 * k, to + k);
    if (2 * k == rows.cols) continue;
    float rest[2 * kLanes] = {};
    float result[kLanes];
    std::memcpy(rest, from + 2 * k, static_cast<size_t>(rows.cols - 2 * k) * sizeof(float));
    pairs(rest, result);
    std::memcpy(to + k, result, static_cast<size_t>(words.cols - k) * sizeof(float));
  }
}

}  // namespace attnmap::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnmap::ops {

HWY_EXPORT(ToPairsImpl);

void ToPairs(MatrixView rows, MutableMatrixView words) {
  HWY_DYNAMIC_DISPATCH(ToPairsImpl)(rows, words);
}

}  // namespace attnmap::ops
#endif  // HWY_ONCE
