#ifndef ATTNMAP_ENCODER_PROJECTION_H_
#define ATTNMAP_ENCODER_PROJECTION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "attnmap/core/tensor.h"
#include "attnmap/model/vit_model.h"
#include "attnmap/ops/rotary.h"
#include "encoder/layer_panels.h"
#include "encoder/row_stage.h"

namespace attnmap::encoder {

// A layer's queries, keys and values as a sink wants them: (heads, tokens,
// width) each, without a shape where it does not.
struct CapturedProjections {
  Tensor query, key, value;
};

// Rows of neighbouring heads (rows, count * width), from `first_head` on, into
// (heads, tokens, width).
void CopyHeads(MatrixView rows, int64_t first_token, int64_t first_head, Tensor& to);

// Queries, keys and values of what enters a block, with norm1 before and bias,
// q/k norm and rotation after the products.
struct Projection {
  const VitConfig& config;
  const LayerWeights& layer;
  const ProjectionPanels& panels;
  const ops::RotaryTable& rotary;
  CapturedProjections& captured;

  // What enters, and where it goes; empty: not wanted of all tokens.
  MatrixView tokens;
  MutableMatrixView query;                     // (tokens, heads * head_dim)
  std::span<const ops::MutablePanels> keys;    // a head each, (head_dim, tokens)
  std::span<const ops::MutablePanels> values;  // a head each, (tokens, value_dim)

  bool wanted() const { return query.data != nullptr || !keys.empty() || !values.empty(); }
  // For the rows of `tokens`; calls this as long as it is used. REQUIRES:
  // wanted().
  RowStage Stage() const;
  // The queries of a few rows alone, tokens `which`.
  void ChosenQueries(MatrixView rows, std::span<const int> which, WorkerScratch& scratch,
                     MutableMatrixView out) const;

 private:
  enum class Kind : uint8_t { kQuery, kKey, kValue };
  // Neighbouring heads of one kind.
  struct Heads {
    Kind kind;
    int64_t first;
    int64_t count;
  };

  std::vector<Heads> Parts() const;
  void Run(const RowBlock& rows, const Heads& heads) const;
  void Finish(const NormWeights& norm, int64_t token, MutableMatrixView heads) const;
};

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_PROJECTION_H_
