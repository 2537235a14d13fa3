// Exponential, logistic function and activations on vectors of float, for each
// instruction set. Include guard as Highway's per-target headers have it.
#if defined(ATTNMAP_OPS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNMAP_OPS_MATH_INL_H_
#undef ATTNMAP_OPS_MATH_INL_H_
#else
#define ATTNMAP_OPS_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "attnmap/ops/activation.h"

HWY_BEFORE_NAMESPACE();
namespace attnmap::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most 16 floats, so that they divide a panel.
using FloatTag = hn::CappedTag<float, 16>;
using Floats = hn::Vec<FloatTag>;
inline constexpr size_t kLanes = hn::MaxLanes(FloatTag());

inline float SumOf(Floats v) { return hn::GetLane(hn::SumOfLanes(FloatTag(), v)); }
inline float MaxOf(Floats v) { return hn::GetLane(hn::MaxOfLanes(FloatTag(), v)); }

// c[0] + x (c[1] + x (c[2] + ...)).
template <size_t kCount>
HWY_INLINE Floats Polynomial(Floats x, const float (&c)[kCount]) {
  const FloatTag d;
  Floats sum = hn::Set(d, c[kCount - 1]);
  for (size_t i = kCount - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, c[i]));
  return sum;
}

inline constexpr float kLog2E = 1.44269504F;

// 2^t, relative error 2e-7; 0 from -126.5 down, and not meant for t above 127. t
// is taken apart into a whole n and f, |f| <= 1/2; the polynomial is (2^f - 1) / f
// with the least largest error there. Not a number stays one.
HWY_INLINE Floats Exp2(Floats t) {
  const FloatTag d;
  constexpr float kCoefficients[] = {6.931470037e-01F, 2.402224243e-01F, 5.550733581e-02F,
                                     9.671512991e-03F, 1.326472731e-03F};
  // Added to a float, leaves it n + 127 in its lowest bits: the exponent of 2^n,
  // and none where n is -127.
  const Floats places = hn::Set(d, 12582912.0F + 127.0F);
  // Not Max, which drops what is not a number on some machines.
  const Floats lowest = hn::Set(d, -127.0F);
  const Floats clamped = hn::IfThenElse(hn::Lt(t, lowest), lowest, t);
  const Floats placed = hn::Add(clamped, places);
  const Floats f = hn::Sub(clamped, hn::Sub(placed, places));
  const Floats e = hn::MulAdd(Polynomial(f, kCoefficients), f, hn::Set(d, 1.0F));
  const hn::RebindToSigned<FloatTag> di;
  return hn::Mul(e, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, placed))));
}

// x / (1 + e^(-z)).
HWY_INLINE Floats TimesSigmoid(Floats x, Floats z) {
  const FloatTag d;
  const Floats t = hn::Min(hn::Mul(z, hn::Set(d, -kLog2E)), hn::Set(d, 127.0F));
  return hn::Div(x, hn::Add(hn::Set(d, 1.0F), Exp2(t)));
}

// x (1 + erf(x / sqrt 2)) / 2. erf(x / sqrt 2) / 2 is x times a rational
// function of x^2, fitted for the least relative error (2e-8) on [0, 5.6],
// beyond which it is 1/2 to the last bit.
HWY_INLINE Floats Gelu(Floats x) {
  const FloatTag d;
  constexpr float kAbove[] = {3.989422619e-01F, 3.392775729e-02F, 4.677243065e-03F,
                              1.689122000e-04F, 6.289313205e-06F, 2.229631413e-08F};
  constexpr float kBelow[] = {1.0F,
                              2.517105937e-01F,
                              2.867675200e-02F,
                              1.885397243e-03F,
                              7.333687972e-05F,
                              1.179589844e-06F};
  const Floats half = hn::Set(d, 0.5F);
  const Floats size = hn::Min(hn::Abs(x), hn::Set(d, 5.6F));
  const Floats u = hn::Mul(size, size);
  const Floats g = hn::Div(hn::Mul(size, Polynomial(u, kAbove)), Polynomial(u, kBelow));
  return hn::Mul(x, hn::Add(half, hn::CopySign(hn::Min(g, half), x)));
}

template <Activation kActivation>
HWY_INLINE Floats Apply(Floats x) {
  const FloatTag d;
  if constexpr (kActivation == Activation::kGelu) {
    return Gelu(x);
  } else if constexpr (kActivation == Activation::kGeluTanh) {
    // (1 + tanh z) / 2 = sigmoid(2 z).
    const Floats cubic = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.044715F), hn::Set(d, 1.0F));
    return TimesSigmoid(x, hn::Mul(hn::Mul(x, cubic), hn::Set(d, 1.59576912F)));
  } else if constexpr (kActivation == Activation::kQuickGelu) {
    return TimesSigmoid(x, hn::Mul(x, hn::Set(d, 1.702F)));
  } else if constexpr (kActivation == Activation::kSilu) {
    return TimesSigmoid(x, x);
  } else {
    return x;
  }
}

// Calls function.operator()<activation>() with the activation as a constant.
template <typename Function>
HWY_INLINE void WithActivation(Activation activation, const Function& function) {
  switch (activation) {
    case Activation::kNone:
      return function.template operator()<Activation::kNone>();
    case Activation::kGelu:
      return function.template operator()<Activation::kGelu>();
    case Activation::kGeluTanh:
      return function.template operator()<Activation::kGeluTanh>();
    case Activation::kQuickGelu:
      return function.template operator()<Activation::kQuickGelu>();
    case Activation::kSilu:
      return function.template operator()<Activation::kSilu>();
  }
}

}  // namespace attnmap::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
