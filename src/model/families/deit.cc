// DeiT with a distillation token. Touvron et al. 2021, https://arxiv.org/abs/2012.12877
#include "model/family.h"

namespace attnmap {
namespace {

bool Recognise(const Checkpoint& checkpoint) {
  const Aliases token = checkpoint.tower.layout->distillation_token;
  return !token.empty() && checkpoint.Has(token);
}

FamilyDefaults Defaults(const Checkpoint& checkpoint, Library library) {
  FamilyDefaults d;
  d.preprocess = {.crop_pct = 0.875};
  if (library == Library::kTransformers) {
    d.layer_norm_eps = 1e-12F;
    d.position_resize = PositionResize::kBicubic;
    d.preprocess.geometry = PreprocessRecipe::Geometry::kSquash;
  } else if (checkpoint.HasConfig()) {
    d.preprocess = {.crop_pct = 0.9, .whole_from = 384};
  }
  return d;
}

}  // namespace

const Family kDeitDistilledFamily = {"deit-distilled", Recognise, NeverOfficial, Defaults};

}  // namespace attnmap
