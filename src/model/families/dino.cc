// DINO. Caron et al. 2021, https://arxiv.org/abs/2104.14294
#include "model/family.h"

namespace attnmap {
namespace {

// A plain tower under timm's names: DINO's files have no classifier, and
// nothing else tells them from other plain towers.
bool Recognise(const Checkpoint& checkpoint) {
  if (!checkpoint.LayoutIs(kTimmLayout) || !checkpoint.Has("cls_token")) return false;
  if (checkpoint.HasConfig()) return checkpoint.TagHas("dino");
  return checkpoint.FileStartsWith("dino_") ||
         (!checkpoint.Has("head.weight") && !checkpoint.Has("fc_norm.weight"));
}

FamilyDefaults Defaults(const Checkpoint&, Library library) {
  FamilyDefaults d;
  d.preprocess = {.crop_pct = 0.875};
  if (library == Library::kOfficial) {
    d.position_resize = PositionResize::kBicubicOffset;
  } else if (library == Library::kTransformers) {
    d.layer_norm_eps = 1e-12F;
    d.position_resize = PositionResize::kBicubic;
  } else {
    d.preprocess.crop_pct = 0.9;
  }
  return d;
}

}  // namespace

const Family kDinoFamily = {"dino", Recognise, [](const Checkpoint&) { return true; }, Defaults};

}  // namespace attnmap
