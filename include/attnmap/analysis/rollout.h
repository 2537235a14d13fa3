#ifndef ATTNMAP_ANALYSIS_ROLLOUT_H_
#define ATTNMAP_ANALYSIS_ROLLOUT_H_

#include <span>
#include <vector>

#include "attnmap/core/tensor.h"

namespace attnmap {

// Attention rollout (Abnar & Zuidema 2020, "Quantifying attention flow in
// transformers"): with A_l = rownorm(F_l + I), F_l the weights of layer l fused
// over heads, the rows asked for of R = A_L ... A_1. Only these rows are
// carried, from the last layer to the first: r <- r A_l.
//
// rows: (asked rows, tokens), row-major; in: the rows of the identity asked
// for, or a mixture of them; out: the rows of R.
// layers: F_1 first, (tokens, tokens) each.
void RollOut(std::span<double> rows, std::span<const MatrixView> layers);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_ROLLOUT_H_
