#ifndef ATTNMAP_ENCODER_ROW_STAGE_H_
#define ATTNMAP_ENCODER_ROW_STAGE_H_

#include <algorithm>
#include <cstdint>
#include <functional>

#include "attnmap/core/tensor.h"
#include "attnmap/encoder/stage_times.h"
#include "attnmap/model/vit_model.h"
#include "attnmap/ops/linear.h"
#include "attnmap/ops/normalize.h"
#include "encoder/workspace.h"

// A layer's products run in chains of rows (core/chains.h): a chain's rows go
// through one product after the other while they are in the cache, and threads
// share a product by its columns where there are fewer chains than threads.

namespace attnmap::encoder {

// Rows of a chain: a multiple of every kernel's group, and few enough that they
// stay in the second-level cache.
inline constexpr int64_t kMostRows = 120;
// With fewer, reading the weights costs more than multiplying.
inline constexpr int64_t kLeastRows = 48;

// Rows of a chain when `count` rows are spread over threads: equal shares.
inline int64_t RowsPerChain(int64_t count, int num_threads) {
  const auto parts = [count](int64_t most) {
    return std::max<int64_t>((count + most - 1) / most, 1);
  };
  int64_t chains = (parts(kMostRows) + num_threads - 1) / num_threads * num_threads;
  chains = std::min(chains, std::max<int64_t>(count / kLeastRows, 1));
  return std::max<int64_t>((count + chains - 1) / chains, 1);
}

// A chain's rows, and its owner's scratch.
struct RowBlock {
  int64_t begin;
  int64_t count;
  WorkerScratch& scratch;

  template <typename View>
  View Of(const View& matrix) const {
    return matrix.Rows(begin, count);
  }
};

inline MutableMatrixView Dense(ops::AlignedBuffer& buffer, int64_t rows, int64_t cols) {
  return {buffer.Reserve(rows * cols), rows, cols, cols};
}

// Layer norm of the rows of x. REQUIRES: norm.present().
inline void Norm(MatrixView x, const NormWeights& norm, float eps, MutableMatrixView out) {
  ops::LayerNorm(x, norm.weight.data(), norm.bias.data(), eps, out);
}
// The same into the scratch of the rows; without a norm, x itself.
inline MatrixView Normed(MatrixView x, const NormWeights& norm, float eps, WorkerScratch& scratch) {
  if (!norm.present()) return x;
  const MutableMatrixView normed = Dense(scratch.normed, x.rows, x.cols);
  Norm(x, norm, eps, normed);
  return normed;
}

// A ChainStage for rows.
struct RowStage {
  EncoderStage kind;
  std::function<void(const RowBlock&)> open;
  int64_t num_parts = 1;
  std::function<void(const RowBlock&, int64_t part)> part;
};

// The columns of a product with `weight`, divided among the parts of a stage:
// as few as share well, for a thread that did not do the part before finds
// nothing fetched.
class ColumnParts {
 public:
  explicit ColumnParts(const ops::PanelView& weight)
      : cols_(weight.cols), step_(weight.depth > kDeep ? kMostCols / 2 : kMostCols) {}

  int64_t count() const { return (cols_ + step_ - 1) / step_; }
  ops::ColumnRange At(int64_t part) const {
    const int64_t first = part * step_;
    return {first, std::min(step_, cols_ - first)};
  }

  static constexpr int64_t kMostCols = 128;

 private:
  static constexpr int64_t kDeep = 1536;

  int64_t cols_;
  int64_t step_;
};

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_ROW_STAGE_H_
