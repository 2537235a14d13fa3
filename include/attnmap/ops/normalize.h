#ifndef ATTNMAP_OPS_NORMALIZE_H_
#define ATTNMAP_OPS_NORMALIZE_H_

#include "attnmap/core/tensor.h"

namespace attnmap::ops {

// Each row: (x - mean) / sqrt(variance + eps) * weight + bias, the variance
// biased. weight and bias (cols), null: ones, zeros. `out` may be `x`.
void LayerNorm(MatrixView x, const float* weight, const float* bias, float eps,
               MutableMatrixView out);

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_NORMALIZE_H_
