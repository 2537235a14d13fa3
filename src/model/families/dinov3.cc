// DINOv3: rotary positions, storage tokens. Siméoni et al. 2025,
// https://arxiv.org/abs/2508.10104
#include "model/family.h"

namespace attnmap {
namespace {

using Geometry = PreprocessRecipe::Geometry;

bool IsOfficial(const Checkpoint& checkpoint) {
  return checkpoint.Has("storage_tokens|rope_embed.periods");
}

bool Recognise(const Checkpoint& checkpoint) {
  if (checkpoint.ModelTypeIs("dinov3_vit") || checkpoint.ArchitectureHas("dinov3")) return true;
  if (checkpoint.LayoutIs(kTransformersLayout)) {
    return checkpoint.BlockHas("attention.q_proj.weight") &&
           !checkpoint.Has("embeddings.position_embeddings");
  }
  if (!checkpoint.LayoutIs(kTimmLayout)) return false;
  return IsOfficial(checkpoint) || (checkpoint.Has("cls_token") && checkpoint.Has("reg_token") &&
                                    !checkpoint.Has("pos_embed") && checkpoint.BlockHas("gamma_1"));
}

FamilyDefaults Defaults(const Checkpoint&, Library library) {
  FamilyDefaults d;
  d.layer_norm_eps = 1e-5F;
  d.rope = RopeKind::kHalf;
  d.rope_theta = 100.0F;
  d.zero_key_bias = true;
  if (library == Library::kTimm) {
    d.mean_pooling = true;
    d.preprocess.usual_side = 256;
  } else if (library == Library::kTransformers) {
    d.preprocess = {
        .geometry = Geometry::kSquash, .filter = Filter::kBilinear, .resize_in_float = true};
  } else {
    d.preprocess = {.crop_pct = 0.875};
  }
  return d;
}

}  // namespace

const Family kDinoV3Family = {"dinov3", Recognise, IsOfficial, Defaults};

}  // namespace attnmap
