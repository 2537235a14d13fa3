// The vision tower of CLIP. Radford et al. 2021, https://arxiv.org/abs/2103.00020
#include <algorithm>
#include <array>

#include "model/family.h"

namespace attnmap {
namespace {

bool Recognise(const Checkpoint& checkpoint) {
  if (checkpoint.LayoutIs(kOpenAiLayout)) return true;
  if (checkpoint.LayoutIs(kTransformersClipLayout)) {
    return checkpoint.Has("embeddings.class_embedding");
  }
  if (!checkpoint.LayoutIs(kTimmLayout)) return false;
  return checkpoint.Has("norm_pre.weight") || checkpoint.ArchitectureHas("_clip_");
}

// timm keeps these weights under architectures with the exact GELU, but they
// were trained with the quick one.
bool TrainedWithQuickGelu(const Checkpoint& c) {
  constexpr std::array<std::string_view, 5> kTags = {"openai", "dfn5b", "metaclip_2pt5b",
                                                     "metaclip_400m", "metaclip2_worldwide"};
  if (std::find(kTags.begin(), kTags.end(), c.config.tag) != kTags.end()) return true;
  return (c.config.tag == "dfn2b" && c.ArchitectureHas("vit_large_patch14_clip_224")) ||
         (c.config.tag == "laion400m_e32" && c.ArchitectureHas("vit_base_patch32_clip_224"));
}

Activation TimmActivation(const Checkpoint& checkpoint, std::string& note) {
  if (checkpoint.ArchitectureHas("quickgelu")) return Activation::kQuickGelu;
  if (!TrainedWithQuickGelu(checkpoint)) return Activation::kGelu;
  note = "quick_gelu, with which " + checkpoint.config.tag +
         " was trained, instead of timm's gelu (--act overrules)";
  return Activation::kQuickGelu;
}

FamilyDefaults Defaults(const Checkpoint& checkpoint, Library library) {
  FamilyDefaults d;
  d.layer_norm_eps = 1e-5F;
  d.preprocess = {.norm = PreprocessRecipe::Norm::kClip};
  if (library == Library::kTransformers) {
    d.activation = Activation::kQuickGelu;
    d.position_resize = PositionResize::kBicubic;
    d.last_hidden_before_norm = true;
  } else if (library == Library::kOfficial) {
    d.activation = Activation::kQuickGelu;
    d.note = "quick_gelu assumed, as OpenAI's models have; open_clip's others need --act gelu";
  } else if (library == Library::kTimm) {
    d.activation = TimmActivation(checkpoint, d.note);
  }
  return d;
}

}  // namespace

const Family kClipFamily = {"clip", Recognise, NeverOfficial, Defaults};

}  // namespace attnmap
