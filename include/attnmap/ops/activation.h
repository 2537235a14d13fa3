#ifndef ATTNMAP_OPS_ACTIVATION_H_
#define ATTNMAP_OPS_ACTIVATION_H_

#include <span>

namespace attnmap::ops {

enum class Activation {
  kNone,
  kGelu,       // x (1 + erf(x / sqrt 2)) / 2
  kGeluTanh,   // x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2
  kQuickGelu,  // x sigmoid(1.702 x)
  kSilu,       // x sigmoid(x)
};

// In place. Absolute error below 2e-7 max(1, |x|).
void Activate(Activation activation, std::span<float> values);

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_ACTIVATION_H_
