#ifndef ATTNMAP_TESTS_SUPPORT_RANDOM_MODEL_H_
#define ATTNMAP_TESTS_SUPPORT_RANDOM_MODEL_H_

#include <cstdint>

#include "attnmap/core/model_input.h"
#include "attnmap/model/vit_model.h"

namespace attnmap::test {

// Parts of a model that its configuration does not tell of.
struct RandomParts {
  bool patch_embedding = true;  // false: tokens are the flattened patches
  bool biases = true;
  bool output_projection = true;
  int output_width = 0;  // of the textbook form's W_O; 0: embed_dim
  bool layer_scale = false;
  bool query_key_norm = false;
  bool attention_norm = false;
  bool mlp_norm = false;
  bool pre_norm = false;
  bool final_norm = true;
  bool fc_norm = false;
  int projection = 0;  // width of the image embedding; 0: none
  bool rope_periods = false;
};

// Fills every tensor the configuration calls for with seeded random numbers, of
// such a size that attention is neither flat nor saturated.
VitModel MakeRandomModel(const VitConfig& config, const RandomParts& parts, uint32_t seed);

// Pixels of unit variance for a grid.
ModelInput MakeRandomInput(const PatchGrid& grid, uint32_t seed);

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_SUPPORT_RANDOM_MODEL_H_
