// EVA-02 and EVA's giant: learned and rotary positions. Fang et al. 2023,
// https://arxiv.org/abs/2303.11331
#include "model/family.h"

namespace attnmap {
namespace {

bool Recognise(const Checkpoint& c) {
  if (!c.LayoutIs(kTimmLayout)) return false;
  if (c.ArchitectureHas("eva")) return true;
  if (c.Has("reg_token") && !c.Has("cls_token|pos_embed")) return true;  // timm's *_rope_reg*_gap
  return c.Has("pos_embed") &&
         c.BlockHas("mlp.fc1_g.weight|mlp.w1.weight|attn.q_proj.weight|attn.q_bias");
}

// Gate and up in one matrix: twice as many rows as fc2 has columns.
bool IsGated(const Checkpoint& c) {
  if (c.BlockHas("mlp.fc1_g.weight|mlp.w1.weight|mlp.w12.weight")) return true;
  if (!c.BlockHas("mlp.fc1.weight") || !c.BlockHas("mlp.fc2.weight")) return false;
  const Shape& fc1 = c.reader.ShapeOf("blocks.0.mlp.fc1.weight", 2);
  const Shape& fc2 = c.reader.ShapeOf("blocks.0.mlp.fc2.weight", 2);
  return fc1[0] == 2 * fc2[1];
}

FamilyDefaults Defaults(const Checkpoint& checkpoint, Library) {
  FamilyDefaults d;
  // EVA's giant has a plain MLP and no rotation; a model without any table has one.
  if (IsGated(checkpoint) || !checkpoint.Has("pos_embed")) {
    d.rope = RopeKind::kInterleaved;
    d.rope_theta = 10000.0F;
  }
  d.preprocess = {.crop_pct = 0.9, .whole_from = 336, .norm = PreprocessRecipe::Norm::kClip};
  return d;
}

}  // namespace

const Family kEva02Family = {"eva02", Recognise, NeverOfficial, Defaults};

}  // namespace attnmap
