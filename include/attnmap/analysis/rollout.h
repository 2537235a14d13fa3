#ifndef ATTNMAP_ANALYSIS_ROLLOUT_H_
#define ATTNMAP_ANALYSIS_ROLLOUT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "attnmap/core/tensor.h"

namespace attnmap {

enum class RolloutCompat {
  kNone,
  kVitExplain,  // the numbers of the script of that name, its faults included
};

// What is done with each layer's fused weights F (docs/methods.md).
struct RolloutRule {
  RolloutCompat compat = RolloutCompat::kNone;
  // The floor(N * N * discard_ratio) smallest entries of F (ties by place) are set
  // to 0. By default those in the class token's column are spared; vit-explain
  // spares the very first entry alone. In [0, 1).
  double discard_ratio = 0;
  int class_token = -1;  // -1: there is none, nothing is spared
};

// Attention rollout (Abnar & Zuidema 2020, "Quantifying attention flow in
// transformers"): with A_l = rownorm(F_l + I), F_l the weights of layer l fused
// over heads, the rows asked for of R = A_L ... A_1. Only these rows are
// carried, from the last layer to the first: r <- r A_l.
// vit-explain divides column j, not row j, by the sum of row j.
//
// rows: (asked rows, tokens), row-major; in: the rows of the identity asked
// for, or a mixture of them; out: the rows of R.
// layers: F_1 first, (tokens, tokens) each, no entry negative.
void RollOut(std::span<double> rows, std::span<const MatrixView> layers,
             const RolloutRule& rule = {});

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_ROLLOUT_H_
