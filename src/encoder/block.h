#ifndef ATTNMAP_ENCODER_BLOCK_H_
#define ATTNMAP_ENCODER_BLOCK_H_

#include <cstdint>
#include <span>
#include <vector>

#include "attnmap/core/tensor.h"
#include "attnmap/model/vit_model.h"
#include "attnmap/ops/rotary.h"
#include "encoder/layer_panels.h"
#include "encoder/workspace.h"

namespace attnmap::encoder {

// Rows worked on at once: a multiple of every kernel's group, and few enough
// that they stay in the second-level cache.
inline constexpr int64_t kMostRows = 120;

// Rows of an item when `count` rows are spread over threads: equal shares.
int64_t RowsPerItem(int64_t count, int num_threads);

// What a block's projections need.
struct Projection {
  const VitConfig& config;
  const LayerWeights& layer;
  const ProjectionPanels& panels;
  const ops::RotaryTable& rotary;

  // norm1 of `tokens`, or `tokens` themselves where there is none.
  MatrixView Normed(MatrixView tokens, WorkerScratch& scratch) const;
  // Queries or keys of normed rows, whose tokens are `first`, `first + 1`, ...:
  // with bias, q/k norm and rotation. out: (rows, heads * head_dim).
  void Queries(MatrixView normed, std::span<const int> tokens, MutableMatrixView out) const;
  void Keys(MatrixView normed, int64_t first, MutableMatrixView out) const;
  void Values(MatrixView normed, MutableMatrixView out) const;

 private:
  void Finish(const NormWeights& norm, MutableMatrixView rows) const;
  void RotateRow(int64_t token, std::span<float> row) const;
};

// A block from A.V to its end: output projection, residual, MLP.
struct BlockRest {
  const VitConfig& config;
  const LayerWeights& layer;
  const RestPanels& panels;

  // context: (rows, heads * value_dim), overwritten; tokens: what entered the
  // block; out: what leaves it, may be `tokens`.
  void Run(MutableMatrixView context, MatrixView tokens, MutableMatrixView out,
           WorkerScratch& scratch) const;
  // Width of what leaves the block.
  int64_t OutWidth() const;

 private:
  void Mlp(MutableMatrixView rows, WorkerScratch& scratch) const;
};

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_BLOCK_H_
