#include "model/heads.h"

#include <algorithm>

#include "model/limits.h"
#include "model/tower_reader.h"

namespace attnmap {
namespace {

// Width -> heads of the published models of all families.
struct WidthHeads {
  int width;
  int heads;
};
constexpr WidthHeads kUsual[] = {
    {64, 2},    {96, 3},    {192, 3},   {256, 4},   {320, 5},   {384, 6},   {512, 8},
    {640, 10},  {768, 12},  {832, 13},  {896, 14},  {1024, 16}, {1152, 16}, {1280, 16},
    {1408, 16}, {1536, 24}, {1664, 16}, {1792, 16}, {4096, 32},
};

// Families that differ from that.
struct FamilyHeads {
  std::string_view family;
  int width;
  int heads;
};
constexpr FamilyHeads kUnusual[] = {
    {"dinov3", 1280, 20},
    {"siglip", 1536, 16},
};

int HeadsByWidth(std::string_view family, int width) {
  for (const FamilyHeads& entry : kUnusual) {
    if (entry.family == family && entry.width == width) return entry.heads;
  }
  for (const WidthHeads& entry : kUsual) {
    if (entry.width == width) return entry.heads;
  }
  return width % 64 == 0 ? width / 64 : 0;
}

// transformers leaves out what is its class's default.
int TransformersDefault(const CheckpointConfig& config) {
  if (config.kind != CheckpointConfig::Kind::kTransformers || config.model_type.empty()) return 0;
  return config.model_type == "dinov3_vit" ? 6 : 12;
}

// (D, heads, head_dim) of a flax kernel.
int HeadsOfKernel(const Checkpoint& c) {
  if (!c.LayoutIs(kGoogleLayout)) return 0;
  const std::string name =
      WithSuffix(WithPrefix(BlockPrefix(c.tower.block, 0), c.tower.layout->query), "kernel");
  const TensorInfo* info = c.reader.Info(name);
  if (info == nullptr || info->shape.size() != 3) return 0;
  return static_cast<int>(std::min<int64_t>(info->shape[1], kMaxHeads + 1));
}

// The columns of a relative-position table.
int HeadsOfTable(const Checkpoint& c) {
  const Layout& layout = *c.tower.layout;
  if (layout.relative_position.empty()) return 0;
  const TensorInfo* info =
      c.reader.Info(WithPrefix(BlockPrefix(c.tower.block, 0), layout.relative_position));
  if (info == nullptr) info = c.reader.Info(layout.shared_relative_position);
  if (info == nullptr || info->shape.size() != 2) return 0;
  return static_cast<int>(std::min<int64_t>(info->shape[1], kMaxHeads + 1));
}

// One RoPE period for every four channels of a head.
int HeadsOfPeriods(const Checkpoint& c, int embed_dim) {
  const Layout& layout = *c.tower.layout;
  const TensorInfo* info =
      layout.rope_periods.empty() ? nullptr : c.reader.Info(layout.rope_periods);
  if (info == nullptr || info->shape.size() != 1) return 0;
  const int64_t periods = info->shape[0];
  if (periods < 1 || periods > embed_dim || embed_dim % (4 * periods) != 0) return 0;
  return static_cast<int>(embed_dim / (4 * periods));
}

// timm's architectures follow the table, this one apart.
int HeadsOfArchitecture(const Checkpoint& c, const Family& family, int embed_dim) {
  if (c.config.architecture.empty()) return 0;
  if (c.ArchitectureHas("vit_base_patch16_gap_224")) return 16;
  return HeadsByWidth(family.name, embed_dim);
}

}  // namespace

HeadCount FindHeads(const Checkpoint& c, const Family& family, int embed_dim) {
  const CheckpointConfig& config = c.config;
  if (config.num_heads) return {*config.num_heads, config.file};
  if (config.head_dim && embed_dim % *config.head_dim == 0) {
    return {embed_dim / *config.head_dim, config.file};
  }
  for (int heads : {HeadsOfKernel(c), HeadsOfTable(c), HeadsOfPeriods(c, embed_dim),
                    HeadsOfArchitecture(c, family, embed_dim)}) {
    if (heads > 0) return {heads, "inferred"};
  }
  const int usual = TransformersDefault(config);
  if (usual > 0 && embed_dim % usual == 0) return {usual, config.file + " (default)"};
  // OpenAI's own loader takes 64 channels a head at any width.
  const int heads = c.LayoutIs(kOpenAiLayout) && embed_dim % 64 == 0
                        ? embed_dim / 64
                        : HeadsByWidth(family.name, embed_dim);
  return {heads, "assumed"};
}

}  // namespace attnmap
