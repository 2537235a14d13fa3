#ifndef ATTNMAP_ENCODER_EMBED_H_
#define ATTNMAP_ENCODER_EMBED_H_

#include <cstdint>

#include "attnmap/core/model_input.h"
#include "attnmap/core/tensor.h"
#include "attnmap/model/vit_model.h"
#include "encoder/grid_tables.h"
#include "encoder/layer_panels.h"
#include "encoder/workspace.h"

namespace attnmap::encoder {

// From pixels to the tokens that enter the first layer: patches, prefix tokens,
// positions, pre-norm.
struct Embedding {
  const VitModel& model;
  const ModelInput& input;
  const GridTables& tables;
  const PackedLinear& patch;  // not present: tokens are the patches themselves

  // Fills rows [begin, begin + rows.rows) of the tokens, which `rows` is.
  void Fill(int64_t begin, MutableMatrixView rows, WorkerScratch& scratch) const;

 private:
  void FillPrefix(int64_t token, float* to) const;
  void FillPatches(int64_t first_patch, MutableMatrixView rows, WorkerScratch& scratch) const;
};

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_EMBED_H_
