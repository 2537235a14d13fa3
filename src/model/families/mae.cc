// Masked autoencoders. He et al. 2022, https://arxiv.org/abs/2111.06377
#include "model/family.h"

namespace attnmap {
namespace {

bool HasDecoder(const Checkpoint& checkpoint) {
  return checkpoint.Has("decoder_embed.weight|^decoder.decoder_embed.weight");
}

bool Recognise(const Checkpoint& checkpoint) {
  if (checkpoint.ModelTypeIs("vit_mae") || HasDecoder(checkpoint)) return true;
  if (!checkpoint.LayoutIs(kTimmLayout) || !checkpoint.Has("cls_token")) return false;
  if (checkpoint.HasConfig()) return checkpoint.TagHas("mae");
  return checkpoint.FileStartsWith("mae_") || checkpoint.Has("fc_norm.weight");
}

FamilyDefaults Defaults(const Checkpoint&, Library library) {
  FamilyDefaults d;
  d.position_resize = PositionResize::kBicubic;
  d.preprocess = {.crop_pct = 0.875, .whole_from = 225};
  if (library == Library::kTransformers) {
    d.layer_norm_eps = 1e-12F;
    d.preprocess = {.geometry = PreprocessRecipe::Geometry::kSquash, .filter = Filter::kBilinear};
  } else if (library == Library::kTimm) {
    d.position_resize = PositionResize::kBicubicAntialias;
    d.preprocess = {.crop_pct = 0.9};
  }
  return d;
}

}  // namespace

const Family kMaeFamily = {"mae", Recognise, [](const Checkpoint&) { return true; }, Defaults};

}  // namespace attnmap
