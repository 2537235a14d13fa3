#ifndef ATTNMAP_OPS_LINEAR_H_
#define ATTNMAP_OPS_LINEAR_H_

#include <cstdint>

#include "attnmap/core/tensor.h"
#include "attnmap/ops/activation.h"
#include "attnmap/ops/aligned_buffer.h"
#include "attnmap/ops/panels.h"

namespace attnmap::ops {

// What happens to a product before it is stored, in this order:
// y = residual + scale * factor * activation(x . W^T + bias).
struct Epilogue {
  Activation activation = Activation::kNone;
  MatrixView factor;             // (rows, out), may be `out` itself; data null: ones
  const float* scale = nullptr;  // (out), a column each (layer scale); null: ones
  MatrixView residual;           // (rows, out), may be `out` itself; data null: zero
};

// out (rows, out) = epilogue(x (rows, in) . W^T + bias (out, or null)).
// One thread. An element depends on its own row and column alone: the same bits
// however the rows and columns are divided among calls.
void Linear(MatrixView x, PanelView weight, const float* bias, const Epilogue& epilogue,
            MutableMatrixView out);

// The same with a weight (out, in) as files have it, packed a few columns at a
// time on the way: for a weight that is used once.
void Linear(MatrixView x, MatrixView weight, const float* bias, const Epilogue& epilogue,
            MutableMatrixView out);

// x as LinearColumns multiplies it with `weight`: x itself, or its pairs of
// bfloat16 in `words`. Valid as long as x and `words` stay as they are.
MatrixView LinearInput(MatrixView x, const PanelView& weight, AlignedBuffer& words);

// Columns [first, first + count) of a product. REQUIRES: within the weight's,
// first a multiple of 16.
struct ColumnRange {
  int64_t first;
  int64_t count;
};
// Those columns of Linear, for threads that share it: bias, epilogue and out are
// those of all columns, input is LinearInput(x).
void LinearColumns(MatrixView input, PanelView weight, ColumnRange columns, const float* bias,
                   const Epilogue& epilogue, MutableMatrixView out);

// out (+)= a . b. Whole panels are written: out.stride >= PanelPadded(b.cols).
void Multiply(MatrixView a, PanelView b, bool accumulate, MutableMatrixView out);

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_LINEAR_H_
