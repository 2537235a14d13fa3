// SigLIP and SigLIP 2: no class token, attention pooling. Zhai et al. 2023,
// https://arxiv.org/abs/2303.15343; Tschannen et al. 2025, https://arxiv.org/abs/2502.14786
#include <algorithm>
#include <array>

#include "model/family.h"

namespace attnmap {
namespace {

using Geometry = PreprocessRecipe::Geometry;
using Norm = PreprocessRecipe::Norm;

bool Recognise(const Checkpoint& checkpoint) {
  if (checkpoint.LayoutIs(kTransformersClipLayout)) return true;  // with a class token: CLIP
  if (checkpoint.LayoutIs(kGoogleLayout)) return checkpoint.Has("MAPHead_0/probe");
  if (!checkpoint.LayoutIs(kTimmLayout)) return false;
  return checkpoint.Has("attn_pool.latent") || checkpoint.ArchitectureHas("siglip");
}

// timm gives only these architectures the activation that all were trained with.
bool TimmUsesTanh(const Checkpoint& checkpoint) {
  constexpr std::array<std::string_view, 6> kTanh = {
      "vit_base_patch32_siglip",          "vit_large_patch16_siglip_512",
      "vit_large_patch16_siglip_gap_512", "vit_so400m_patch16_siglip",
      "vit_giantopt_patch16_siglip",      "gelu_tanh",
  };
  return std::any_of(kTanh.begin(), kTanh.end(), [&checkpoint](std::string_view architecture) {
    return checkpoint.ArchitectureHas(architecture);
  });
}

bool IsNaFlex(const Checkpoint& checkpoint) {
  const TensorInfo* info =
      checkpoint.reader.Info(WithSuffix(checkpoint.tower.layout->patch, "weight"));
  return checkpoint.LayoutIs(kTransformersClipLayout) && info != nullptr && info->shape.size() == 2;
}

FamilyDefaults Defaults(const Checkpoint& checkpoint, Library library) {
  FamilyDefaults d;
  d.activation = Activation::kGeluTanh;
  d.preprocess = {.geometry = Geometry::kSquash, .norm = Norm::kHalf};
  if (library == Library::kTransformers) {
    d.position_resize = PositionResize::kBicubic;
    if (IsNaFlex(checkpoint)) {
      d.position_resize = PositionResize::kBilinearAntialias;
      d.preprocess.filter = Filter::kBilinear;
    }
  } else if (library == Library::kTimm) {
    d.activation = TimmUsesTanh(checkpoint) ? Activation::kGeluTanh : Activation::kGelu;
    d.preprocess = {.crop_pct = 0.9, .norm = Norm::kHalf};
  } else if (library == Library::kGoogle) {
    d.position_resize = PositionResize::kBilinear;
  }
  return d;
}

}  // namespace

const Family kSiglipFamily = {"siglip", Recognise, NeverOfficial, Defaults};

}  // namespace attnmap
