#ifndef ATTNMAP_OPS_KERNEL_H_
#define ATTNMAP_OPS_KERNEL_H_

#include <cstdint>

// What the innermost loops of a product take. Panels as attnmap/ops/panels.h
// has them.

namespace attnmap::ops {

// Weights that will be needed soon, to be fetched while a kernel computes: the
// machine's own prefetchers stop where a panel ends, and a model's weights are
// larger than the caches.
struct Ahead {
  const float* data = nullptr;
  int64_t lines_per_step = 0;  // a step: kStepDepth terms of the sums
};
inline constexpr int64_t kStepDepth = 32;

struct Operands {
  const float* a;  // rows lda apart
  int64_t lda;
  const float* b;  // panels b_stride apart
  int64_t b_stride;
  int64_t depth;
  float* c;  // rows ldc apart
  int64_t ldc;
  bool accumulate;
  Ahead ahead;
};

// c (+)= a . b for a fixed number of rows and panels.
using KernelFunction = void (*)(const Operands&);

// Kernels that multiply pairs of bfloat16 with the processor's own instruction,
// for 1 to kPairRows rows and 1 to kPairPanels panels. REQUIRES:
// MultipliesBfloat16().
inline constexpr int kPairRows = 12;
inline constexpr int kPairPanels = 2;
KernelFunction PairKernel(int64_t rows, int64_t panels);
// MultiplyAdd (ops/peak.h) with the same instruction.
double PairMultiplyAdd(int64_t rounds);

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_KERNEL_H_
