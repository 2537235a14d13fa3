#ifndef ATTNMAP_ANALYSIS_VALUE_NORM_H_
#define ATTNMAP_ANALYSIS_VALUE_NORM_H_

#include <span>
#include <vector>

#include "attnmap/core/tensor.h"
#include "attnmap/core/thread_pool.h"

namespace attnmap {

// Kobayashi et al. 2020, "Attention is not only a weight: analyzing
// transformers with vector norms": what head h carries from token j is
// f_h(x_j) = v_h(x_j) W_O^h, the value's bias in, the output's bias out.
//
// values: (heads, tokens, value_dim). output: (width, heads * value_dim), data
// null: each head's values stand in columns of their own.
// Returns the products of every two heads' vectors, a matrix for each token:
// (tokens, heads, heads), G_j[a, b] = f_a(x_j) . f_b(x_j).
Tensor ValueGram(const Tensor& values, MatrixView output, ThreadPool& pool);

// f_h(x_j) of one token: (heads, width).
Matrix TransformedValues(const Tensor& values, MatrixView output, int64_t token);

// ||sum_h weights[h] f_h||, from the token's matrix: sqrt(w^T G w). weights: (heads).
double FusedNorm(std::span<const float> weights, const float* gram);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_VALUE_NORM_H_
