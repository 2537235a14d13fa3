#ifndef ATTNMAP_ENCODER_BLOCK_H_
#define ATTNMAP_ENCODER_BLOCK_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "attnmap/core/tensor.h"
#include "attnmap/model/vit_model.h"
#include "encoder/layer_panels.h"
#include "encoder/row_stage.h"

namespace attnmap::encoder {

// A block from A.V to its end: output projection, residual, MLP.
struct BlockRest {
  const VitConfig& config;
  const LayerWeights& layer;
  const RestPanels& panels;

  MutableMatrixView context;  // (tokens, heads * value_dim), overwritten
  MatrixView tokens;          // what entered the block
  MutableMatrixView out;      // what leaves it, (tokens, OutWidth()), may be `tokens`

  // For the rows of `out`, one after the other; they call this as long as they
  // are used.
  void AddStages(std::vector<RowStage>& stages) const;
  // Width of what leaves the block.
  int64_t OutWidth() const;

 private:
  using Input = std::function<MutableMatrixView(const RowBlock&)>;

  RowStage Output() const;
  RowStage MlpIn() const;
  RowStage MlpOut() const;
  // How both halves end: out = residual + scale * linear(norm(input)), the norm in
  // place.
  RowStage Closing(EncoderStage kind, const Input& input, const NormWeights& norm,
                   const PackedLinear& linear, const SharedTensor& scale,
                   MatrixView residual) const;
  MutableMatrixView Hidden(const RowBlock& rows) const;
};

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_BLOCK_H_
