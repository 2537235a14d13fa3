#include "analysis/fused_rows.h"

#include <algorithm>
#include <numeric>

#include "attnmap/ops/fuse_heads.h"
#include "attnmap/ops/linear.h"
#include "attnmap/ops/softmax.h"

namespace attnmap {
namespace {

constexpr int64_t kTileRows = 24;  // what one thread computes at once

int64_t RowsPerBand(int64_t num_tokens, int64_t stride, int64_t band_bytes) {
  const int64_t fitting = band_bytes / (stride * static_cast<int64_t>(sizeof(float)));
  return std::clamp(fitting / kTileRows * kTileRows, kTileRows, std::max(num_tokens, kTileRows));
}

MatrixView HeadOf(const Tensor& tensor, int head) {
  const int64_t rows = tensor.shape[1];
  const int64_t cols = tensor.shape[2];
  return {tensor.values.data() + head * rows * cols, rows, cols, cols};
}

}  // namespace

RecomputedRows::RecomputedRows(const QueriesAndKeys& from, int64_t band_bytes, ThreadPool& pool)
    : from_(from),
      num_tokens_(from.key->shape[1]),
      head_dim_(from.key->shape[2]),
      heads_(from.head >= 0 ? size_t{1} : static_cast<size_t>(from.key->shape[0]), from.head),
      stride_(ops::PanelPadded(num_tokens_)),
      rows_per_band_(RowsPerBand(num_tokens_, stride_, band_bytes)),
      scratch_(static_cast<size_t>(pool.num_threads())) {
  if (from.head < 0) std::iota(heads_.begin(), heads_.end(), 0);
  const int64_t size = ops::PanelFloats(head_dim_, num_tokens_);
  const auto count = static_cast<int64_t>(heads_.size());
  float* data = packed_.Reserve(count * size);
  for (int64_t i = 0; i < count; ++i) {
    keys_.push_back(ops::MakePanels(data + i * size, head_dim_, num_tokens_));
  }
  pool.Run(count, [&](int64_t i, int) {
    const auto at = static_cast<size_t>(i);
    ops::PackColumns(HeadOf(*from_.key, heads_[at]), 0, keys_[at]);
  });
}

MatrixView RecomputedRows::Queries(int head, int64_t begin, int64_t count) const {
  const MatrixView all = HeadOf(*from_.query, head);
  return {all.row(begin), count, all.cols, all.stride};
}

void RecomputedRows::ComputeHead(int index, int64_t first, MutableMatrixView rows) const {
  const auto at = static_cast<size_t>(index);
  ops::Multiply(Queries(heads_[at], first, rows.rows), keys_[at], false, rows);
  ops::SoftmaxRows(rows, from_.scale, {});
}

void RecomputedRows::ComputeTile(int64_t first, MutableMatrixView rows,
                                 MutableMatrixView scratch) const {
  ComputeHead(0, first, rows);
  const int count = static_cast<int>(heads_.size());
  for (int index = 1; index < count; ++index) {
    ComputeHead(index, first, scratch);
    for (int64_t i = 0; i < rows.rows; ++i) {
      ops::FuseInto(from_.fusion, scratch.row(i), rows.cols, rows.row(i));
    }
  }
  if (from_.head >= 0) return;
  for (int64_t i = 0; i < rows.rows; ++i) {
    ops::FinishFusing(from_.fusion, count, rows.cols, rows.row(i));
  }
}

MatrixView RecomputedRows::Band(int64_t begin, ThreadPool& pool) {
  const int64_t rows = std::min(rows_per_band_, num_tokens_ - begin);
  float* data = band_.Reserve(rows_per_band_ * stride_);
  const MatrixView band = {data, rows, num_tokens_, stride_};
  if (begin == begin_) return band;
  pool.Run((rows + kTileRows - 1) / kTileRows, [&](int64_t tile, int worker) {
    const int64_t first = tile * kTileRows;
    const int64_t count = std::min(kTileRows, rows - first);
    float* scratch = scratch_[static_cast<size_t>(worker)].Reserve(kTileRows * stride_);
    ComputeTile(begin + first, {data + first * stride_, count, num_tokens_, stride_},
                {scratch, count, num_tokens_, stride_});
  });
  begin_ = begin;
  return band;
}

}  // namespace attnmap
