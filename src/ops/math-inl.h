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

// e^x, relative error 1e-7; 0 below -87, and not meant for x above 88. x is
// taken apart into n ln 2 + r, |r| <= ln 2 / 2; the polynomial is (e^r - 1 - r) / r^2
// with the least largest error there.
HWY_INLINE Floats Exp(Floats x) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  constexpr float kCoefficients[] = {4.999999404e-01F, 1.666652113e-01F, 4.166838899e-02F,
                                     8.368716575e-03F, 1.381459762e-03F};
  const Floats lowest = hn::Set(d, -87.0F);
  const Floats clamped = hn::Min(hn::Max(x, lowest), hn::Set(d, 88.0F));
  const Floats n = hn::Round(hn::Mul(clamped, hn::Set(d, 1.44269504F)));
  // ln 2 in two parts, the first exact when multiplied by n.
  Floats r = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), clamped);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), r);
  const Floats p = Polynomial(r, kCoefficients);
  const Floats e = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0F));
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  return hn::IfThenElseZero(hn::Ge(x, lowest), hn::Mul(e, hn::BitCast(d, exponent)));
}

// x / (1 + e^(-z)).
HWY_INLINE Floats TimesSigmoid(Floats x, Floats z) {
  const FloatTag d;
  return hn::Div(x, hn::Add(hn::Set(d, 1.0F), Exp(hn::Neg(z))));
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
