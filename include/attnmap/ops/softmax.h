#ifndef ATTNMAP_OPS_SOFTMAX_H_
#define ATTNMAP_OPS_SOFTMAX_H_

#include <limits>
#include <span>

#include "attnmap/core/tensor.h"

namespace attnmap::ops {

// Each row: softmax(scale * x + bias), in place, the maximum subtracted. bias:
// as many rows and columns as `rows`, or data null. Rows have room up to a
// multiple of 16 columns, which is overwritten.
void SoftmaxRows(MutableMatrixView rows, float scale, MatrixView bias);

// What a row has come to while its columns arrive in blocks. max: of x, or with
// a bias or a scale <= 0, of scale * x + bias.
struct RunningSoftmax {
  float max = -std::numeric_limits<float>::infinity();
  float sum = 0;
};

// Takes the next columns of each row: x becomes the exponential of scale * x +
// bias less the largest so far, not yet divided by the sum. `rescale` (rows): what
// earlier results are to be multiplied by, because the maximum has grown. Room as
// in SoftmaxRows. REQUIRES: for all blocks of a row the same scale, and a bias for
// all or none.
// (Online softmax: Milakov & Gimelshein 2018, arXiv:1805.02867.)
void SoftmaxBlock(MutableMatrixView block, float scale, MatrixView bias,
                  std::span<RunningSoftmax> rows, std::span<float> rescale);

// Row i times factors[i].
void ScaleRows(std::span<const float> factors, MutableMatrixView rows);

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_SOFTMAX_H_
