#include "attnmap/ops/peak.h"

#include "ops/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/peak.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ops/kernel.h"
#include "ops/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnmap::ops::HWY_NAMESPACE {

double MultiplyAddImpl(int64_t rounds) {
  // As many sums as keep both units busy while each waits for its last one.
  constexpr int kSums = 10;
  constexpr int64_t kPerRound = 6;
  const FloatTag d;
  Floats sum[kSums];
  for (int i = 0; i < kSums; ++i) sum[i] = hn::Set(d, static_cast<float>(i));
  const Floats factor = hn::Set(d, 0.999F);
  const Floats term = hn::Set(d, 0.001F);
  for (int64_t round = 0; round < rounds * kPerRound; ++round) {
    HWY_UNROLL(10)
    for (Floats& each : sum) each = hn::MulAdd(each, factor, term);
  }
  Floats all = sum[0];
  for (int i = 1; i < kSums; ++i) all = hn::Add(all, sum[i]);
  // The result is finite: only so is the work not thrown away.
  return SumOf(all) < 1e30F
             ? 2.0 * static_cast<double>(kLanes) * kSums * kPerRound * static_cast<double>(rounds)
             : 0;
}

}  // namespace attnmap::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnmap::ops {

HWY_EXPORT(MultiplyAddImpl);

double MultiplyAdd(int64_t rounds, bool pairs) {
  if (!pairs) return HWY_DYNAMIC_DISPATCH(MultiplyAddImpl)(rounds);
  return PairMultiplyAdd(rounds);
}

}  // namespace attnmap::ops
#endif  // HWY_ONCE
