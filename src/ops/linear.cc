#include "attnmap/ops/linear.h"

#include "ops/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/linear.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "attnmap/ops/bfloat16.h"
#include "ops/kernel-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnmap::ops::HWY_NAMESPACE {

// Sums longer than this are cut, so that the rows of x and the panels at work
// stay in the second-level cache.
inline constexpr int64_t kDepthBlock = 768;
inline constexpr int64_t kRowBlock = 128;
inline constexpr int64_t kColBlock = 128;

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

// The columns that fill vectors. `last` does what follows the activation, to a
// vector of row i from column j on; rows run inside, for one after the other
// would wait for its own division.
template <Activation kActivation, typename Last>
HWY_INLINE void FinishVectors(const Block& block, const float* bias, MutableMatrixView out,
                              const Last& last) {
  const FloatTag d;
  for (int64_t j = 0; j + int64_t{kLanes} <= block.cols; j += int64_t{kLanes}) {
    const Floats add = bias == nullptr ? hn::Zero(d) : hn::LoadU(d, bias + block.col + j);
    const float* sums = block.sums + j;
    float* to = out.row(block.row) + block.col + j;
    for (int64_t i = 0; i < block.rows; ++i, sums += block.stride, to += out.stride) {
      hn::StoreU(last(Apply<kActivation>(hn::Add(hn::LoadU(d, sums), add)), i, j), d, to);
    }
  }
}

template <Activation kActivation>
void FinishBlock(const Block& block, const float* bias, const Epilogue& epilogue,
                 MutableMatrixView out) {
  const FloatTag d;
  const auto part = [&](const MatrixView& whole, int64_t i) {
    return whole.data == nullptr ? nullptr : whole.row(block.row + i) + block.col;
  };
  const auto at = [](const float* p, int64_t j) { return p == nullptr ? nullptr : p + j; };
  const float* scale = at(epilogue.scale, block.col);
  const MatrixView& residual = epilogue.residual;
  if (epilogue.factor.data != nullptr || scale != nullptr) {
    const auto last = [&](Floats v, int64_t i, int64_t j) HWY_ATTR {
      return Finish<Activation::kNone>(v, nullptr, at(part(epilogue.factor, i), j), at(scale, j),
                                       at(part(residual, i), j));
    };
    FinishVectors<kActivation>(block, bias, out, last);
  } else if (residual.data != nullptr) {
    const float* from = part(residual, 0);
    const auto last = [&](Floats v, int64_t i, int64_t j) HWY_ATTR {
      return hn::Add(v, hn::LoadU(d, from + i * residual.stride + j));
    };
    FinishVectors<kActivation>(block, bias, out, last);
  } else {
    const auto last = [](Floats v, int64_t, int64_t) HWY_ATTR { return v; };
    FinishVectors<kActivation>(block, bias, out, last);
  }
  const int64_t j = block.cols / int64_t{kLanes} * int64_t{kLanes};
  for (int64_t i = 0; j < block.cols && i < block.rows; ++i) {
    FinishTail<kActivation>(block.sums + i * block.stride + j, block.cols - j,
                            at(bias, block.col + j), at(part(epilogue.factor, i), j), at(scale, j),
                            at(part(residual, i), j), out.row(block.row + i) + block.col + j);
  }
}

// `count` into equal parts of at most `most`.
int64_t EvenPart(int64_t count, int64_t most) {
  const int64_t parts = std::max<int64_t>((count + most - 1) / most, 1);
  return std::max<int64_t>((count + parts - 1) / parts, 1);
}

struct LinearCall {
  MatrixView x;
  PanelView weight;
  ColumnRange columns;
  const float* bias;
  const Epilogue& epilogue;
  MutableMatrixView out;
};

// A part of the depth and kPanels panels (or the one left).
struct Strip {
  int64_t col, cols;
  int64_t k, depth;
};

// The strips of columns of a weight, in blocks whose sums wait where the depth
// is cut: panels first, then depth, then blocks.
class Strips {
 public:
  Strips(PanelView weight, ColumnRange columns)
      : weight_(weight),
        begin_(columns.first),
        end_(columns.first + columns.count),
        depth_part_(EvenPart(weight.depth, kDepthBlock)) {}

  Strip First() const { return At(begin_, 0); }
  // After the last of the range comes the first behind it (Contains says so);
  // false: there is none.
  bool Advance(Strip& strip) const {
    const int64_t block = BlockOf(strip);
    const int64_t block_end = std::min(block + kColBlock, end_);
    if (strip.col + strip.cols < block_end) {
      strip = At(strip.col + strip.cols, strip.k);
    } else if (strip.k + strip.depth < weight_.depth) {
      strip = At(block, strip.k + strip.depth);
    } else if (block_end < weight_.cols) {
      strip = At(block_end, 0);
    } else {
      return false;
    }
    return true;
  }
  bool Contains(const Strip& strip) const { return strip.col < end_; }
  // Where its sums begin in a row of kColBlock.
  int64_t PlaceOf(const Strip& strip) const { return strip.col - BlockOf(strip); }
  PanelView Panels(const Strip& strip) const {
    return weight_.Cols(strip.col, strip.cols).Depth(strip.k, strip.depth);
  }
  bool EndsDepth(const Strip& strip) const { return strip.k + strip.depth == weight_.depth; }

 private:
  int64_t BlockOf(const Strip& strip) const {
    return begin_ + (strip.col - begin_) / kColBlock * kColBlock;
  }
  Strip At(int64_t col, int64_t k) const {
    const int64_t end = col < end_ ? end_ : weight_.cols;
    return {col, std::min(kPanels * kPanelCols, end - col), k,
            std::min(depth_part_, weight_.depth - k)};
  }

  PanelView weight_;
  int64_t begin_, end_;
  int64_t depth_part_;
};

// Divides the lines of the next strip among the kernels of this one, which sum
// `depth` terms each.
class AheadLines {
 public:
  AheadLines(const PanelView& next, int64_t kernels, int64_t depth) : next_(next) {
    if (next.data == nullptr || depth == 0) return;
    const int64_t lines = next.depth * PanelPadded(next.cols) / kPanelCols;
    const int64_t steps = (depth + kStepDepth - 1) / kStepDepth;
    per_step_ = (lines + kernels * steps - 1) / (kernels * steps);
    per_kernel_ = per_step_ * steps;
  }

  // For one kernel after the other.
  Ahead Next() {
    if (per_step_ == 0) return {};
    for (; line_ >= next_.depth; line_ -= next_.depth) {
      if (next_.cols <= kPanelCols) return {};  // all of it was divided
      next_ = next_.Cols(kPanelCols, next_.cols - kPanelCols);
    }
    const Ahead ahead = {next_.data + line_ * kPanelCols, per_step_};
    line_ += per_kernel_;
    return ahead;
  }

 private:
  PanelView next_;
  int64_t line_ = 0;  // of next_'s first panel
  int64_t per_step_ = 0;
  int64_t per_kernel_ = 0;
};

// Has what the epilogue reads and writes at hand when the kernel is done.
void FetchForEpilogue(const LinearCall& call, int64_t row, int64_t rows, int64_t col,
                      int64_t cols) {
  const auto fetch = [&](const float* line) {
    for (int64_t j = 0; j < cols; j += kPanelCols) __builtin_prefetch(line + j, 0, 3);
  };
  for (int64_t i = row; i < row + rows; ++i) {
    fetch(call.out.row(i) + col);
    if (call.epilogue.factor.data != nullptr) fetch(call.epilogue.factor.row(i) + col);
    if (call.epilogue.residual.data != nullptr) fetch(call.epilogue.residual.row(i) + col);
  }
}

// Rows [row, row + rows) of the result, as far as one strip goes. `next`: what
// is multiplied with after it; no data: nothing.
template <Activation kActivation>
// NOLINTNEXTLINE(readability-non-const-parameter): the kernels write to it
void RunStrip(const LinearCall& call, const Strips& strips, const Strip& strip,
              const PanelView& next, int64_t row, int64_t rows, float* sums) {
  const PanelView b = strips.Panels(strip);
  AheadLines ahead(next, (rows + kRows - 1) / kRows, strip.depth);
  for (int64_t i = 0; i < rows;) {
    const int64_t taken = NextRows(rows - i);
    float* const c = sums + i * kColBlock + strips.PlaceOf(strip);
    const Operands operands = {.a = call.x.row(row + i) + strip.k,
                               .lda = call.x.stride,
                               .b = b.data,
                               .b_stride = b.stride,
                               .depth = strip.depth,
                               .c = c,
                               .ldc = kColBlock,
                               .accumulate = strip.k > 0,
                               .ahead = ahead.Next()};
    const bool ends = strips.EndsDepth(strip);
    if (ends) FetchForEpilogue(call, row + i, taken, strip.col, strip.cols);
    RunKernel(operands, taken, PanelPadded(strip.cols) / kPanelCols, b.pairs);
    if (ends) {
      const Block block = {c, kColBlock, row + i, strip.col, taken, strip.cols};
      FinishBlock<kActivation>(block, call.bias, call.epilogue, call.out);
    }
    i += taken;
  }
}

template <Activation kActivation>
void LinearRows(const LinearCall& call, int64_t row, int64_t rows, float* sums) {
  const Strips strips(call.weight, call.columns);
  Strip strip = strips.First();
  for (bool more = true; more && strips.Contains(strip);) {
    Strip next = strip;
    more = strips.Advance(next);
    RunStrip<kActivation>(call, strips, strip, more ? strips.Panels(next) : PanelView(), row, rows,
                          sums);
    strip = next;
  }
}

void LinearImpl(MatrixView input, PanelView weight, ColumnRange columns, const float* bias,
                const Epilogue& epilogue, MutableMatrixView out) {
  if (columns.count == 0) return;
  alignas(64) float sums[kRowBlock * kColBlock];
  const int64_t part = EvenPart(input.rows, kRowBlock);
  const LinearCall call = {input, weight, columns, bias, epilogue, out};
  WithActivation(epilogue.activation, [&]<Activation kActivation>() HWY_ATTR {
    for (int64_t row = 0; row < input.rows; row += part) {
      LinearRows<kActivation>(call, row, std::min(part, input.rows - row), sums);
    }
  });
}

void MultiplyImpl(MatrixView a, PanelView b, bool accumulate, MutableMatrixView out) {
  const int64_t depth_part = EvenPart(b.depth, kDepthBlock);
  for (int64_t k = 0; k < b.depth; k += depth_part) {
    const int64_t depth = std::min(depth_part, b.depth - k);
    for (int64_t j = 0; j < b.cols; j += kPanels * kPanelCols) {
      const PanelView part = b.Cols(j, b.cols - j).Depth(k, depth);
      const int64_t panels = std::min<int64_t>(kPanels, PanelPadded(b.cols - j) / kPanelCols);
      for (int64_t i = 0; i < a.rows;) {
        const int64_t taken = NextRows(a.rows - i);
        const Operands operands = {.a = a.row(i) + k,
                                   .lda = a.stride,
                                   .b = part.data,
                                   .b_stride = part.stride,
                                   .depth = depth,
                                   .c = out.row(i) + j,
                                   .ldc = out.stride,
                                   .accumulate = accumulate || k > 0,
                                   .ahead = {}};
        RunKernel(operands, taken, panels, false);
        i += taken;
      }
    }
  }
}

}  // namespace attnmap::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnmap::ops {

HWY_EXPORT(LinearImpl);
HWY_EXPORT(MultiplyImpl);

MatrixView LinearInput(MatrixView x, const PanelView& weight, AlignedBuffer& words) {
  if (!weight.pairs) return x;
  const MutableMatrixView pairs = {words.Reserve(x.rows * weight.depth), x.rows, weight.depth,
                                   weight.depth};
  ToPairs(x, pairs);
  return pairs;
}

void LinearColumns(MatrixView input, PanelView weight, ColumnRange columns, const float* bias,
                   const Epilogue& epilogue, MutableMatrixView out) {
  HWY_DYNAMIC_DISPATCH(LinearImpl)(input, weight, columns, bias, epilogue, out);
}

void Linear(MatrixView x, PanelView weight, const float* bias, const Epilogue& epilogue,
            MutableMatrixView out) {
  AlignedBuffer words;
  LinearColumns(LinearInput(x, weight, words), weight, {0, weight.cols}, bias, epilogue, out);
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

}  // namespace attnmap::ops
#endif  // HWY_ONCE
