#include "attnmap/ops/softmax.h"

#include "ops/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/softmax.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "ops/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnmap::ops::HWY_NAMESPACE {

constexpr int64_t kStep = int64_t{kLanes};

inline int64_t WholeVectors(int64_t cols) { return (cols + kStep - 1) / kStep * kStep; }

// The room behind a row, up to whole vectors, becomes minus infinity.
void FillRoom(float* x, int64_t cols) {
  std::fill(x + cols, x + WholeVectors(cols), -std::numeric_limits<float>::infinity());
}

float LargestOf(const float* x, int64_t cols) {
  const FloatTag d;
  Floats largest = hn::Set(d, -std::numeric_limits<float>::infinity());
  for (int64_t j = 0; j < cols; j += kStep) largest = hn::Max(largest, hn::LoadU(d, x + j));
  return MaxOf(largest);
}

// x = scale * x + bias (null: zero).
void ScaleAndAdd(float* x, int64_t cols, float scale, const float* bias) {
  const FloatTag d;
  const Floats scales = hn::Set(d, scale);
  int64_t j = 0;
  for (; j + kStep <= cols; j += kStep) {
    Floats v = hn::Mul(hn::LoadU(d, x + j), scales);
    if (bias != nullptr) v = hn::Add(v, hn::LoadU(d, bias + j));
    hn::StoreU(v, d, x + j);
  }
  for (; j < cols; ++j) x[j] = scale * x[j] + (bias != nullptr ? bias[j] : 0.0F);
}

// x = 2^((x - shift) * factor) up to whole vectors. Returns the sum.
float ExpRow(float* x, int64_t cols, float shift, float factor) {
  const FloatTag d;
  const Floats shifts = hn::Set(d, shift);
  const Floats factors = hn::Set(d, factor);
  Floats sum = hn::Zero(d);
  for (int64_t j = 0; j < cols; j += kStep) {
    const Floats e = Exp2(hn::Mul(hn::Sub(hn::LoadU(d, x + j), shifts), factors));
    hn::StoreU(e, d, x + j);
    sum = hn::Add(sum, e);
  }
  return SumOf(sum);
}

// Makes a row ready for ExpRow, which does the scaling too where it can.
// Returns its factor.
float Prepare(float* x, int64_t cols, float scale, const float* bias) {
  const bool scales = bias == nullptr && scale > 0;
  if (!scales) ScaleAndAdd(x, cols, scale, bias);
  FillRoom(x, cols);
  return scales ? scale * kLog2E : kLog2E;
}

void ScaleVectors(float* x, int64_t cols, float factor) {
  const FloatTag d;
  const Floats factors = hn::Set(d, factor);
  int64_t j = 0;
  for (; j + kStep <= cols; j += kStep) hn::StoreU(hn::Mul(hn::LoadU(d, x + j), factors), d, x + j);
  for (; j < cols; ++j) x[j] *= factor;
}

inline const float* RowOrNull(const MatrixView& m, int64_t i) {
  return m.data == nullptr ? nullptr : m.row(i);
}

void SoftmaxRowsImpl(MutableMatrixView rows, float scale, MatrixView bias) {
  for (int64_t i = 0; i < rows.rows; ++i) {
    float* row = rows.row(i);
    const float factor = Prepare(row, rows.cols, scale, RowOrNull(bias, i));
    const float largest = LargestOf(row, rows.cols);
    ScaleVectors(row, rows.cols, 1.0F / ExpRow(row, rows.cols, largest, factor));
  }
}

void SoftmaxBlockImpl(MutableMatrixView block, float scale, MatrixView bias,
                      std::span<RunningSoftmax> rows, std::span<float> rescale) {
  for (int64_t i = 0; i < block.rows; ++i) {
    RunningSoftmax& running = rows[static_cast<size_t>(i)];
    float* row = block.row(i);
    const float factor = Prepare(row, block.cols, scale, RowOrNull(bias, i));
    const float largest = std::max(running.max, LargestOf(row, block.cols));
    const float shrink = std::exp2((running.max - largest) * factor);
    running.sum = running.sum * shrink + ExpRow(row, block.cols, largest, factor);
    running.max = largest;
    rescale[static_cast<size_t>(i)] = shrink;
  }
}

void ScaleRowsImpl(std::span<const float> factors, MutableMatrixView rows) {
  for (int64_t i = 0; i < rows.rows; ++i) {
    const float factor = factors[static_cast<size_t>(i)];
    if (factor != 1.0F) ScaleVectors(rows.row(i), rows.cols, factor);
  }
}

}  // namespace attnmap::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnmap::ops {

HWY_EXPORT(SoftmaxRowsImpl);
HWY_EXPORT(SoftmaxBlockImpl);
HWY_EXPORT(ScaleRowsImpl);

void SoftmaxRows(MutableMatrixView rows, float scale, MatrixView bias) {
  HWY_DYNAMIC_DISPATCH(SoftmaxRowsImpl)(rows, scale, bias);
}

void SoftmaxBlock(MutableMatrixView block, float scale, MatrixView bias,
                  std::span<RunningSoftmax> rows, std::span<float> rescale) {
  HWY_DYNAMIC_DISPATCH(SoftmaxBlockImpl)(block, scale, bias, rows, rescale);
}

void ScaleRows(std::span<const float> factors, MutableMatrixView rows) {
  HWY_DYNAMIC_DISPATCH(ScaleRowsImpl)(factors, rows);
}

}  // namespace attnmap::ops
#endif  // HWY_ONCE
