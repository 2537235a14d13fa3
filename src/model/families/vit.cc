// ViT and AugReg, DeiT without distillation, DeiT-III, torchvision's and
// Google's files, and everything plain that nothing else claims.
// Dosovitskiy et al. 2021, https://arxiv.org/abs/2010.11929
#include "model/family.h"

namespace attnmap {
namespace {

using Geometry = PreprocessRecipe::Geometry;
using Norm = PreprocessRecipe::Norm;

FamilyDefaults Defaults(const Checkpoint& checkpoint, Library library) {
  FamilyDefaults d;
  d.preprocess = {.crop_pct = 0.9, .whole_from = 384, .norm = Norm::kHalf};
  if (library == Library::kTransformers) {
    d.layer_norm_eps = 1e-12F;
    d.position_resize = PositionResize::kBicubic;
    d.preprocess = {
        .geometry = Geometry::kSquash, .filter = Filter::kBilinear, .norm = Norm::kHalf};
  } else if (library == Library::kTorchvision) {
    d.position_resize = PositionResize::kBicubicCorners;
    d.preprocess = {.crop_pct = 0.875, .filter = Filter::kBilinear};
  } else if (library == Library::kGoogle) {
    d.position_resize = PositionResize::kBilinear;
  } else if (!checkpoint.HasConfig()) {
    d.preprocess = {.crop_pct = 0.875};
  }
  return d;
}

}  // namespace

const Family kVitFamily = {"vit", [](const Checkpoint&) { return true; }, NeverOfficial, Defaults};

}  // namespace attnmap
