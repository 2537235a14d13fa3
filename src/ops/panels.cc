#include "attnmap/ops/panels.h"

#include "ops/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/panels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "attnmap/ops/bfloat16.h"

HWY_BEFORE_NAMESPACE();
namespace attnmap::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Side of the blocks that are transposed at once.
inline constexpr int64_t kBlock = 4;

#if HWY_TARGET != HWY_SCALAR
// to: a block of four columns of a panel, from four rows.
HWY_INLINE void TransposeBlock(const float* from, int64_t stride, float* to) {
  const hn::FixedTag<float, kBlock> d;
  const hn::RepartitionToWide<decltype(d)> dw;
  const auto pairs = [&](auto low, auto high) {
    return hn::BitCast(dw, hn::InterleaveLower(d, low, high));
  };
  const auto upper = [&](auto low, auto high) {
    return hn::BitCast(dw, hn::InterleaveUpper(d, low, high));
  };
  const auto r0 = hn::LoadU(d, from);
  const auto r1 = hn::LoadU(d, from + stride);
  const auto r2 = hn::LoadU(d, from + 2 * stride);
  const auto r3 = hn::LoadU(d, from + 3 * stride);
  const auto low01 = pairs(r0, r1);
  const auto low23 = pairs(r2, r3);
  const auto high01 = upper(r0, r1);
  const auto high23 = upper(r2, r3);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, low01, low23)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, low01, low23)), d, to + kPanelCols);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, high01, high23)), d, to + 2 * kPanelCols);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, high01, high23)), d, to + 3 * kPanelCols);
}
#else
HWY_INLINE void TransposeBlock(const float* from, int64_t stride, float* to) {
  for (int64_t k = 0; k < kBlock; ++k) {
    for (int64_t i = 0; i < kBlock; ++i) to[k * kPanelCols + i] = from[i * stride + k];
  }
}
#endif

// `count` columns of one panel, a multiple of four, from as many rows.
void PackBlocksImpl(const float* rows, int64_t stride, int64_t count, int64_t depth, float* to) {
  int64_t k = 0;
  for (; k + kBlock <= depth; k += kBlock) {
    for (int64_t i = 0; i < count; i += kBlock) {
      TransposeBlock(rows + i * stride + k, stride, to + k * kPanelCols + i);
    }
  }
  for (; k < depth; ++k) {
    for (int64_t i = 0; i < count; ++i) to[k * kPanelCols + i] = rows[i * stride + k];
  }
}

}  // namespace attnmap::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnmap::ops {
namespace {

HWY_EXPORT(PackBlocksImpl);

constexpr int64_t kStep = 4;

void PackOne(const float* row, int64_t depth, float* to) {
  for (int64_t k = 0; k < depth; ++k) to[k * kPanelCols] = row[k];
}

}  // namespace

int64_t PanelFloats(int64_t depth, int64_t cols) { return PanelPadded(cols) * depth; }

MutablePanels MakePanels(float* data, int64_t depth, int64_t cols) {
  return {data, depth, cols, kPanelCols * depth};
}

void PackColumns(MatrixView rows, int64_t first, MutablePanels panels) {
  const auto column = [&](int64_t j) {
    return panels.data + j / kPanelCols * panels.stride + j % kPanelCols;
  };
  for (int64_t i = 0; i < rows.rows;) {
    const int64_t j = first + i;
    const int64_t in_panel = std::min(kPanelCols - j % kPanelCols, rows.rows - i);
    if (const int64_t count = in_panel / kStep * kStep; count > 0) {
      HWY_DYNAMIC_DISPATCH(PackBlocksImpl)
      (rows.row(i), rows.stride, count, panels.depth, column(j));
      i += count;
    } else {
      PackOne(rows.row(i), panels.depth, column(j));
      ++i;
    }
  }
  if (first + rows.rows < panels.cols) return;
  for (int64_t j = panels.cols; j < PanelPadded(panels.cols); ++j) {
    float* to = column(j);
    for (int64_t k = 0; k < panels.depth; ++k) to[k * kPanelCols] = 0;
  }
}

void PackRows(MatrixView rows, int64_t first, MutablePanels panels) {
  for (int64_t i = 0; i < rows.rows; ++i) {
    const float* from = rows.row(i);
    for (int64_t j = 0; j < panels.cols; j += kPanelCols) {
      const int64_t count = std::min(kPanelCols, panels.cols - j);
      float* to = panels.data + j / kPanelCols * panels.stride + (first + i) * kPanelCols;
      std::memcpy(to, from + j, static_cast<size_t>(count) * sizeof(float));
      std::fill(to + count, to + kPanelCols, 0.0F);
    }
  }
}

void PackPairs(MatrixView rows, int64_t first, MutablePanels panels) {
  thread_local AlignedBuffer words;
  const MutableMatrixView to = {words.Reserve(rows.rows * panels.depth), rows.rows, panels.depth,
                                panels.depth};
  ToPairs(rows, to);
  PackColumns(to, first, panels);
}

PackedMatrix::PackedMatrix(MatrixView weight, bool pairs) {
  const int64_t depth = pairs ? PairCount(weight.cols) : weight.cols;
  buffer_.Reserve(PanelFloats(depth, weight.rows));
  panels_ = MakePanels(buffer_.data(), depth, weight.rows);
  panels_.pairs = pairs;
  pairs ? PackPairs(weight, 0, panels_) : PackColumns(weight, 0, panels_);
}

}  // namespace attnmap::ops
#endif  // HWY_ONCE
