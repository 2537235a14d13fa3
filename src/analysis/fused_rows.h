#ifndef ATTNMAP_ANALYSIS_FUSED_ROWS_H_
#define ATTNMAP_ANALYSIS_FUSED_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "attnmap/core/capture.h"
#include "attnmap/core/tensor.h"
#include "attnmap/core/thread_pool.h"
#include "attnmap/ops/aligned_buffer.h"
#include "attnmap/ops/panels.h"

namespace attnmap {

// A layer's attention weights, fused over heads or of one head, a band of rows
// at a time: (tokens, tokens) in all.
class FusedRows {
 public:
  virtual ~FusedRows() = default;
  virtual int64_t num_tokens() const = 0;
  virtual int64_t rows_per_band() const = 0;
  // Rows [begin, begin + rows_per_band()), or up to the last. REQUIRES: `begin`
  // a multiple of rows_per_band(). Valid until the next call.
  virtual MatrixView Band(int64_t begin, ThreadPool& pool) = 0;
};

// A matrix that was kept whole.
class KeptRows : public FusedRows {
 public:
  explicit KeptRows(MatrixView matrix) : matrix_(matrix) {}
  int64_t num_tokens() const override { return matrix_.cols; }
  int64_t rows_per_band() const override {
    return std::max<int64_t>(1, kBandNumbers / std::max<int64_t>(1, matrix_.cols));
  }
  MatrixView Band(int64_t begin, ThreadPool&) override {
    return {matrix_.row(begin), std::min(rows_per_band(), matrix_.rows - begin), matrix_.cols,
            matrix_.stride};
  }

 private:
  static constexpr int64_t kBandNumbers = int64_t{1} << 20;  // a band that is copied stays small
  MatrixView matrix_;
};

// What the weights of a layer are computed again from: exactly as the encoder
// had them, to the bit.
struct QueriesAndKeys {
  const Tensor* query = nullptr;  // (heads, tokens, head_dim)
  const Tensor* key = nullptr;    // (heads, tokens, head_dim)
  float scale = 1;                // of the scores
  int head = -1;                  // -1: all heads, fused
  HeadFusion fusion = HeadFusion::kMean;
};

// Bands that are computed when they are asked for, of about `band_bytes`.
class RecomputedRows : public FusedRows {
 public:
  RecomputedRows(const QueriesAndKeys& from, int64_t band_bytes, ThreadPool& pool);
  int64_t num_tokens() const override { return num_tokens_; }
  int64_t rows_per_band() const override { return rows_per_band_; }
  MatrixView Band(int64_t begin, ThreadPool& pool) override;

 private:
  MatrixView Queries(int head, int64_t begin, int64_t count) const;
  void ComputeTile(int64_t first, MutableMatrixView rows, MutableMatrixView scratch) const;
  void ComputeHead(int index, int64_t first, MutableMatrixView rows) const;

  QueriesAndKeys from_;
  int64_t num_tokens_;
  int64_t head_dim_;
  std::vector<int> heads_;
  int64_t stride_;  // between rows: whole panels
  int64_t rows_per_band_;
  int64_t begin_ = -1;  // of the band that is there
  ops::AlignedBuffer packed_;
  std::vector<ops::MutablePanels> keys_;  // one of heads_ each: (head_dim, tokens)
  ops::AlignedBuffer band_;
  std::vector<ops::AlignedBuffer> scratch_;  // a worker each
};

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_FUSED_ROWS_H_
