#ifndef ATTNMAP_MODEL_TOWER_READER_H_
#define ATTNMAP_MODEL_TOWER_READER_H_

#include <string>

#include "attnmap/model/vit_model.h"
#include "model/layout.h"
#include "model/tensor_reader.h"

namespace attnmap {

// Which optional tensors a tower has, beyond what VitConfig says.
struct TowerParts {
  bool patches = true;      // false: tokens are the flattened patches
  bool every_bias = false;  // a missing bias is an error, not zero
  bool qkv_bias = true;
  bool zero_key_bias = false;  // DINOv3: whatever the file has there
  bool rope_periods = false;
  bool pre_norm = false;
  bool query_key_norm = false;
  bool attention_norm = false;
  bool layer_scale = false;
  bool mlp_norm = false;
  bool head = false;
  bool distillation_head = false;
  bool projection = false;
  int pool_mlp_dim = 0;  // above 0 with attention pooling
};

// The block prefix with a number in it: "blocks.{}." and 3 -> "blocks.3.".
std::string BlockPrefix(std::string_view block, int layer);

// Reads every tensor of a tower whose configuration (sizes, tokens, MLP,
// positions, pooling, norms) stands in `model.config`, checking each shape
// against it. `block`: the one of layout.block that the file uses.
void ReadTower(const Layout& layout, std::string_view block, const TowerParts& parts,
               TensorReader& reader, VitModel& model);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_TOWER_READER_H_
