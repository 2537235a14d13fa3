// BEiT and BEiT v2: relative position bias. Bao et al. 2021,
// https://arxiv.org/abs/2106.08254; Peng et al. 2022, https://arxiv.org/abs/2208.06366
#include "model/family.h"

namespace attnmap {
namespace {

using Geometry = PreprocessRecipe::Geometry;
using Norm = PreprocessRecipe::Norm;

bool Recognise(const Checkpoint& checkpoint) {
  const Layout& layout = *checkpoint.tower.layout;
  if (layout.relative_position.empty()) return false;
  return checkpoint.BlockHas(layout.relative_position) ||
         checkpoint.Has(layout.shared_relative_position) || checkpoint.BlockHas("lambda_1") ||
         checkpoint.ModelTypeIs("beit") || checkpoint.ArchitectureHas("beit");
}

FamilyDefaults Defaults(const Checkpoint& checkpoint, Library library) {
  FamilyDefaults d;
  const bool v2 = checkpoint.ArchitectureHas("beitv2");
  d.preprocess = {.crop_pct = 0.9, .whole_from = 384, .norm = v2 ? Norm::kImageNet : Norm::kHalf};
  if (library == Library::kTransformers) {
    d.layer_norm_eps = 1e-12F;
    d.position_resize = PositionResize::kBicubic;
    d.preprocess = {
        .geometry = Geometry::kSquash, .filter = Filter::kBilinear, .norm = Norm::kHalf};
  }
  return d;
}

}  // namespace

const Family kBeitFamily = {"beit", Recognise, NeverOfficial, Defaults};

}  // namespace attnmap
