#include "attnmap/ops/linear.h"

#include "ops/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/linear.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "ops/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnmap::ops::HWY_NAMESPACE {

// The block of the result a kernel keeps in registers: kRows rows of kPanels
// panels. Both factors as large as the registers allow: 16 of them up to AVX2,
// 32 for AVX-512 and Arm.
#if HWY_TARGET <= HWY_AVX3
inline constexpr int kRows = 12;
inline constexpr int kPanels = 2;
#elif HWY_TARGET == HWY_AVX2
inline constexpr int kRows = 6;
inline constexpr int kPanels = 1;
#elif HWY_TARGET == HWY_NEON
inline constexpr int kRows = 6;
inline constexpr int kPanels = 1;
#else
inline constexpr int kRows = 2;
inline constexpr int kPanels = 1;
#endif
inline constexpr int kVectorsPerPanel = static_cast<int>(kPanelCols) / static_cast<int>(kLanes);

// Sums longer than this are cut, so that the rows of x and the panels at work
// stay in the second-level cache.
inline constexpr int64_t kDepthBlock = 768;
inline constexpr int64_t kRowBlock = 128;
inline constexpr int64_t kColBlock = 128;

struct Operands {
  const float* a;  // rows lda apart
  int64_t lda;
  const float* b;  // panels b_stride apart
  int64_t b_stride;
  int64_t depth;
  float* c;  // rows ldc apart
  int64_t ldc;
  bool accumulate;
};

// c (+)= a . b, a block of kR rows and kP panels kept in registers.
template <int kR, int kP>
HWY_NOINLINE void Kernel(const Operands& o) {
  constexpr int kVectors = kP * kVectorsPerPanel;
  const FloatTag d;
  Floats sum[kR][kVectors];
  HWY_UNROLL(32)
  for (int i = 0; i < kR; ++i) {
    HWY_UNROLL(32)
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = o.accumulate ? hn::LoadU(d, o.c + i * o.ldc + j * int64_t{kLanes}) : hn::Zero(d);
    }
  }
  const float* HWY_RESTRICT a = o.a;
  const float* HWY_RESTRICT b = o.b;
  const int64_t lda = o.lda;
  const int64_t b_stride = o.b_stride;
  const int64_t depth = o.depth;
  for (int64_t k = 0; k < depth; ++k) {
    Floats row[kVectors];
    HWY_UNROLL(32)
    for (int j = 0; j < kVectors; ++j) {
      const int64_t panel = j / kVectorsPerPanel;
      const int64_t lane = j % kVectorsPerPanel * int64_t{kLanes};
      row[j] = hn::LoadU(d, b + panel * b_stride + k * kPanelCols + lane);
    }
    HWY_UNROLL(32)
    for (int i = 0; i < kR; ++i) {
      const Floats x = hn::Set(d, a[i * lda + k]);
      HWY_UNROLL(32)
      for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::MulAdd(x, row[j], sum[i][j]);
    }
  }
  HWY_UNROLL(32)
  for (int i = 0; i < kR; ++i) {
    HWY_UNROLL(32)
    for (int j = 0; j < kVectors; ++j) {
      hn::StoreU(sum[i][j], d, o.c + i * o.ldc + j * int64_t{kLanes});
    }
  }
}

// The largest kernel that fits `rows` rows; returns how many it took.
template <int kP>
int64_t RunKernel(const Operands& o, int64_t rows) {
  if (rows >= kRows) {
    Kernel<kRows, kP>(o);
    return kRows;
  }
  if constexpr (kRows > 4) {
    if (rows >= 4) {
      Kernel<4, kP>(o);
      return 4;
    }
  }
  if (rows >= 2) {
    Kernel<2, kP>(o);
    return 2;
  }
  Kernel<1, kP>(o);
  return 1;
}

int64_t RunKernel(const Operands& o, int64_t rows, int64_t panels) {
  return panels == kPanels ? RunKernel<kPanels>(o, rows) : RunKernel<1>(o, rows);
}

// A block of sums on its way to the result: rows, columns and where they lie.
struct Block {
  const float* sums;  // rows `stride` apart, room for whole vectors
  int64_t stride;
  int64_t row;  // of the result
  int64_t col;
  int64_t rows;
  int64_t cols;
};

// One vector of the result: everything of the epilogue.
template <Activation kActivation>
HWY_INLINE Floats Finish(Floats v, const float* bias, const float* factor, const float* scale,
                         const float* residual) {
  const FloatTag d;
  if (bias != nullptr) v = hn::Add(v, hn::LoadU(d, bias));
  v = Apply<kActivation>(v);
  if (factor != nullptr) v = hn::Mul(v, hn::LoadU(d, factor));
  if (scale != nullptr) v = hn::Mul(v, hn::LoadU(d, scale));
  if (residual != nullptr) v = hn::Add(v, hn::LoadU(d, residual));
  return v;
}

// The columns that fill no vector, through copies that do.
template <Activation kActivation>
HWY_INLINE void FinishTail(const float* sums, int64_t count, const float* bias, const float* factor,
                           const float* scale, const float* residual, float* out) {
  const FloatTag d;
  float copies[4][kLanes] = {};
  const float* from[4] = {bias, factor, scale, residual};
  const float* to[4] = {};
  for (int i = 0; i < 4; ++i) {
    if (from[i] == nullptr) continue;
    std::memcpy(copies[i], from[i], static_cast<size_t>(count) * sizeof(float));
    to[i] = copies[i];
  }
  float result[kLanes];
  hn::StoreU(Finish<kActivation>(hn::LoadU(d, sums), to[0], to[1], to[2], to[3]), d, result);
  std::memcpy(out, result, static_cast<size_t>(count) * sizeof(float));
}

template <Activation kActivation>
void FinishBlock(const Block& block, const float* bias, const Epilogue& epilogue,
                 MutableMatrixView out) {
  const FloatTag d;
  const auto at = [](const float* p, int64_t i) { return p == nullptr ? nullptr : p + i; };
  for (int64_t i = 0; i < block.rows; ++i) {
    const int64_t row = block.row + i;
    const MatrixView& factors = epilogue.factor;
    const MatrixView& residuals = epilogue.residual;
    const float* factor = factors.data == nullptr ? nullptr : factors.row(row) + block.col;
    const float* residual = residuals.data == nullptr ? nullptr : residuals.row(row) + block.col;
    const float* sums = block.sums + i * block.stride;
    float* to = out.row(row) + block.col;
    int64_t j = 0;
    for (; j + int64_t{kLanes} <= block.cols; j += int64_t{kLanes}) {
      const Floats v =
          Finish<kActivation>(hn::LoadU(d, sums + j), at(bias, block.col + j), at(factor, j),
                              at(epilogue.scale, block.col + j), at(residual, j));
      hn::StoreU(v, d, to + j);
    }
    if (j < block.cols) {
      FinishTail<kActivation>(sums + j, block.cols - j, at(bias, block.col + j), at(factor, j),
                              at(epilogue.scale, block.col + j), at(residual, j), to + j);
    }
  }
}

// `count` into equal parts of at most `most`, each a multiple of `step`.
int64_t EvenPart(int64_t count, int64_t most, int64_t step) {
  const int64_t parts = (count + most - 1) / most;
  return ((count + parts - 1) / parts + step - 1) / step * step;
}

struct LinearCall {
  MatrixView x;
  PanelView weight;
  const float* bias;
  const Epilogue& epilogue;
  MutableMatrixView out;
};

// Some rows of x, a part of the depth and kPanels panels (or the one left).
struct Strip {
  int64_t row, rows;
  int64_t col, cols;
  int64_t k, depth;
  float* sums;  // (rows, cols), rows kColBlock apart
};

template <Activation kActivation>
void RunStrip(const LinearCall& call, const Strip& strip) {
  const PanelView b = call.weight.Cols(strip.col, strip.cols).Depth(strip.k, strip.depth);
  const int64_t panels = PanelPadded(strip.cols) / kPanelCols;
  const bool last = strip.k + strip.depth == call.weight.depth;
  for (int64_t i = 0; i < strip.rows;) {
    float* sums = strip.sums + i * kColBlock;
    const Operands operands = {.a = call.x.row(strip.row + i) + strip.k,
                               .lda = call.x.stride,
                               .b = b.data,
                               .b_stride = b.stride,
                               .depth = strip.depth,
                               .c = sums,
                               .ldc = kColBlock,
                               .accumulate = strip.k > 0};
    const int64_t taken = RunKernel(operands, strip.rows - i, panels);
    if (last) {
      const Block block = {sums, kColBlock, strip.row + i, strip.col, taken, strip.cols};
      FinishBlock<kActivation>(block, call.bias, call.epilogue, call.out);
    }
    i += taken;
  }
}

// Rows [row, row + rows) of the result, in blocks of columns whose sums wait in
// `sums` where the depth is cut.
template <Activation kActivation>
// NOLINTNEXTLINE(readability-non-const-parameter): the strips write to it
void LinearRows(const LinearCall& call, int64_t row, int64_t rows, float* sums) {
  constexpr int64_t kStripCols = kPanels * kPanelCols;
  const int64_t depth = call.weight.depth;
  const int64_t depth_part = EvenPart(depth, kDepthBlock, 1);
  for (int64_t col = 0; col < call.weight.cols; col += kColBlock) {
    const int64_t cols = std::min(kColBlock, call.weight.cols - col);
    for (int64_t k = 0; k < depth; k += depth_part) {
      for (int64_t j = 0; j < cols; j += kStripCols) {
        RunStrip<kActivation>(call, {.row = row,
                                     .rows = rows,
                                     .col = col + j,
                                     .cols = std::min(kStripCols, cols - j),
                                     .k = k,
                                     .depth = std::min(depth_part, depth - k),
                                     .sums = sums + j});
      }
    }
  }
}

void LinearImpl(MatrixView x, PanelView weight, const float* bias, const Epilogue& epilogue,
                MutableMatrixView out) {
  alignas(64) float sums[kRowBlock * kColBlock];
  constexpr int64_t kMostRows = kRowBlock / kRows * kRows;
  const int64_t part = EvenPart(std::max<int64_t>(x.rows, 1), kMostRows, kRows);
  const LinearCall call = {x, weight, bias, epilogue, out};
  WithActivation(epilogue.activation, [&]<Activation kActivation>() HWY_ATTR {
    for (int64_t row = 0; row < x.rows; row += part) {
      LinearRows<kActivation>(call, row, std::min(part, x.rows - row), sums);
    }
  });
}

void MultiplyImpl(MatrixView a, PanelView b, bool accumulate, MutableMatrixView out) {
  const int64_t depth_part = EvenPart(std::max<int64_t>(b.depth, 1), kDepthBlock, 1);
  for (int64_t k = 0; k < b.depth; k += depth_part) {
    const int64_t depth = std::min(depth_part, b.depth - k);
    for (int64_t j = 0; j < b.cols; j += kPanels * kPanelCols) {
      const PanelView part = b.Cols(j, b.cols - j).Depth(k, depth);
      const int64_t panels = std::min<int64_t>(kPanels, PanelPadded(b.cols - j) / kPanelCols);
      for (int64_t i = 0; i < a.rows;) {
        const Operands operands = {.a = a.row(i) + k,
                                   .lda = a.stride,
                                   .b = part.data,
                                   .b_stride = part.stride,
                                   .depth = depth,
                                   .c = out.row(i) + j,
                                   .ldc = out.stride,
                                   .accumulate = accumulate || k > 0};
        i += RunKernel(operands, a.rows - i, panels);
      }
    }
  }
}

int64_t RowGroupImpl() { return kRows; }

}  // namespace attnmap::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnmap::ops {

HWY_EXPORT(LinearImpl);
HWY_EXPORT(MultiplyImpl);
HWY_EXPORT(RowGroupImpl);

void Linear(MatrixView x, PanelView weight, const float* bias, const Epilogue& epilogue,
            MutableMatrixView out) {
  HWY_DYNAMIC_DISPATCH(LinearImpl)(x, weight, bias, epilogue, out);
}

void Linear(MatrixView x, MatrixView weight, const float* bias, const Epilogue& epilogue,
            MutableMatrixView out) {
  constexpr int64_t kCols = 128;
  AlignedBuffer buffer(PanelFloats(weight.cols, std::min(kCols, weight.rows)));
  const auto part = [](MatrixView m, int64_t col) {
    return m.data == nullptr ? m : MatrixView{m.data + col, m.rows, m.cols - col, m.stride};
  };
  for (int64_t col = 0; col < weight.rows; col += kCols) {
    const int64_t cols = std::min(kCols, weight.rows - col);
    const MutablePanels panels = MakePanels(buffer.data(), weight.cols, cols);
    PackColumns({weight.row(col), cols, weight.cols, weight.stride}, 0, panels);
    Epilogue here = epilogue;
    here.factor = part(epilogue.factor, col);
    here.residual = part(epilogue.residual, col);
    here.scale = epilogue.scale == nullptr ? nullptr : epilogue.scale + col;
    Linear(x, panels, bias == nullptr ? nullptr : bias + col, here,
           {out.data + col, out.rows, cols, out.stride});
  }
}

void Multiply(MatrixView a, PanelView b, bool accumulate, MutableMatrixView out) {
  HWY_DYNAMIC_DISPATCH(MultiplyImpl)(a, b, accumulate, out);
}

int64_t RowGroup() { return HWY_DYNAMIC_DISPATCH(RowGroupImpl)(); }

}  // namespace attnmap::ops
#endif  // HWY_ONCE
