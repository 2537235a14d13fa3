// DINOv2, without and with registers. Oquab et al. 2023,
// https://arxiv.org/abs/2304.07193; Darcet et al. 2024, https://arxiv.org/abs/2309.16588
#include "model/family.h"

namespace attnmap {
namespace {

constexpr int kPublishedRows = 37 * 37;  // 518 px, although 224 is what it is used at

bool IsDinoV2(const Checkpoint& checkpoint) {
  if (checkpoint.ArchitectureHas("dinov2")) return true;
  if (checkpoint.LayoutIs(kTransformersLayout)) {
    return checkpoint.ModelTypeIs("dinov2") || checkpoint.ModelTypeIs("dinov2_with_registers") ||
           checkpoint.BlockHas("layer_scale1.lambda1");
  }
  if (!checkpoint.LayoutIs(kTimmLayout) || !checkpoint.Has("cls_token")) return false;
  if (checkpoint.BlockHas("mlp.w12.weight") || checkpoint.Has("register_tokens")) return true;
  if (!checkpoint.BlockHas("ls1.gamma")) return false;
  if (checkpoint.Has("mask_token")) return true;
  // timm's copies without their configuration.
  return !checkpoint.HasConfig() && (checkpoint.PatchSize() == 14 || checkpoint.Has("reg_token"));
}

bool HasRegisters(const Checkpoint& checkpoint) {
  return checkpoint.Has(checkpoint.tower.layout->register_tokens);
}

bool IsOfficial(const Checkpoint& checkpoint) {
  return checkpoint.BlockHas("mlp.w12.weight") || checkpoint.Has("register_tokens|mask_token");
}

bool IsPublishedSize(const Checkpoint& checkpoint) {
  const TensorInfo* info = checkpoint.reader.Info(checkpoint.tower.layout->position);
  if (info == nullptr || info->shape.size() < 2 || checkpoint.PatchSize() != 14) return false;
  const int64_t rows = info->shape[info->shape.size() - 2];
  return rows == kPublishedRows || rows == kPublishedRows + 1;
}

FamilyDefaults Defaults(const Checkpoint& checkpoint, Library library) {
  FamilyDefaults d;
  d.class_and_mean = library != Library::kTimm;
  if (library == Library::kTimm) return d;  // short side and crop of the model's own size
  d.preprocess = {.crop_pct = 0.875, .side = IsPublishedSize(checkpoint) ? 224 : 0};
  if (HasRegisters(checkpoint)) return d;  // antialiased in both libraries
  d.position_resize =
      library == Library::kTransformers ? PositionResize::kBicubic : PositionResize::kBicubicOffset;
  return d;
}

}  // namespace

const Family kDinoV2Family = {"dinov2",
                              [](const Checkpoint& c) { return IsDinoV2(c) && !HasRegisters(c); },
                              IsOfficial, Defaults};

const Family kDinoV2RegistersFamily = {
    "dinov2-registers", [](const Checkpoint& c) { return IsDinoV2(c) && HasRegisters(c); },
    IsOfficial, Defaults};

}  // namespace attnmap
