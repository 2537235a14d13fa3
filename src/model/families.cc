#include <array>

#include "attnmap/core/error.h"
#include "model/family.h"

namespace attnmap {

std::span<const Family* const> Families() {
  // What has marks of its own comes before what is told by their absence.
  static constexpr std::array kTable = {
      &kDinoV3Family, &kBeitFamily,          &kEva02Family,
      &kClipFamily,   &kSiglipFamily,        &kDinoV2RegistersFamily,
      &kDinoV2Family, &kDeitDistilledFamily, &kMaeFamily,
      &kDinoFamily,   &kVitFamily,
  };
  return kTable;
}

const Family& RecogniseFamily(const Checkpoint& checkpoint) {
  for (const Family* family : Families()) {
    if (family->recognise(checkpoint)) return *family;
  }
  return kVitFamily;
}

const Family& FamilyNamed(std::string_view name) {
  std::string names;
  for (const Family* family : Families()) {
    if (family->name == name) return *family;
    names += (names.empty() ? "" : ", ") + std::string(family->name);
  }
  throw UsageError("--family " + std::string(name) + " is unknown, expected one of " + names);
}

Library LibraryOf(const Checkpoint& checkpoint, const Family& family) {
  if (checkpoint.LayoutIs(kGoogleLayout)) return Library::kGoogle;
  if (checkpoint.LayoutIs(kTorchvisionLayout)) return Library::kTorchvision;
  if (checkpoint.LayoutIs(kTransformersLayout) || checkpoint.LayoutIs(kTransformersClipLayout)) {
    return Library::kTransformers;
  }
  const auto kind = checkpoint.config.kind;
  if (checkpoint.LayoutIs(kOpenAiLayout)) {
    return kind == CheckpointConfig::Kind::kOpenClip ? Library::kOpenClip : Library::kOfficial;
  }
  const bool timm =
      kind == CheckpointConfig::Kind::kTimm || kind == CheckpointConfig::Kind::kOpenClip;
  return !timm && family.official(checkpoint) ? Library::kOfficial : Library::kTimm;
}

bool NeverOfficial(const Checkpoint& /*checkpoint*/) { return false; }

}  // namespace attnmap
