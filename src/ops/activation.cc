#include "attnmap/ops/activation.h"

#include "ops/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>

#include "ops/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnmap::ops::HWY_NAMESPACE {

template <Activation kActivation>
void ActivateAll(std::span<float> values) {
  const FloatTag d;
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    float* at = values.data() + i;
    hn::StoreU(Apply<kActivation>(hn::LoadU(d, at)), d, at);
  }
  if (i == values.size()) return;
  float rest[kLanes] = {};
  const size_t bytes = (values.size() - i) * sizeof(float);
  std::memcpy(rest, values.data() + i, bytes);
  hn::StoreU(Apply<kActivation>(hn::LoadU(d, rest)), d, rest);
  std::memcpy(values.data() + i, rest, bytes);
}

void ActivateImpl(Activation activation, std::span<float> values) {
  WithActivation(activation,
                 [&]<Activation kActivation>() HWY_ATTR { ActivateAll<kActivation>(values); });
}

}  // namespace attnmap::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnmap::ops {

HWY_EXPORT(ActivateImpl);

void Activate(Activation activation, std::span<float> values) {
  HWY_DYNAMIC_DISPATCH(ActivateImpl)(activation, values);
}

}  // namespace attnmap::ops
#endif  // HWY_ONCE
