// The "config" object of the full form, read. docs/formats/json-weights.md
// lists every key with its default.
#include "model/form.h"
#include "model/limits.h"
#include "model/names.h"

namespace attnmap {
namespace {

int Required(const ConfigNode& node, std::string_view key, int high) {
  const auto value = node.Int(key, 1, high);
  if (!value) {
    node.Fail(key, "is missing, expected a whole number from 1 to " + std::to_string(high));
  }
  return *value;
}

template <typename T>
T Choice(const ConfigNode& node, std::string_view key,
         std::optional<T> (*from_name)(std::string_view), T missing, std::string_view expected) {
  const auto text = node.String(key);
  if (!text) return missing;
  if (const auto value = from_name(*text)) return *value;
  node.Fail(key, "expected " + std::string(expected) + ", found \"" + *text + "\"");
}

void ReadSizes(const ConfigNode& node, VitConfig& config) {
  config.patch_size = Required(node, "patch_size", kMaxPatchSize);
  config.embed_dim = Required(node, "embed_dim", kMaxDim);
  config.num_layers = Required(node, "num_layers", kMaxLayers);
  config.num_heads = Required(node, "num_heads", kMaxHeads);
  config.image_size = ReadImageSize(node, config.patch_size);
  config.num_classes = node.Int("num_classes", 0, kMaxClasses).value_or(0);
  const auto head_dim = node.Int("head_dim", 1, kMaxDim);
  if (!head_dim && config.embed_dim % config.num_heads != 0) {
    node.Fail("num_heads", "embed_dim " + std::to_string(config.embed_dim) +
                               " is not a multiple of " + std::to_string(config.num_heads));
  }
  config.head_dim = head_dim.value_or(config.embed_dim / config.num_heads);
  config.value_dim = node.Int("value_dim", 1, kMaxDim).value_or(config.head_dim);
}

void ReadMlp(const ConfigNode& node, VitConfig& config) {
  config.mlp = Choice(node, "mlp", MlpKindFromName, MlpKind::kPlain, "none, plain or gated");
  const int usual = config.mlp == MlpKind::kNone ? 0 : 4 * config.embed_dim;
  config.mlp_dim = node.Int("mlp_dim", 0, kMaxMlpDim).value_or(usual);
  if ((config.mlp_dim == 0) != (config.mlp == MlpKind::kNone)) {
    node.Fail("mlp_dim", config.mlp_dim == 0 ? "expected above 0 with an MLP"
                                             : "expected 0 or nothing with mlp \"none\"");
  }
  const Activation usual_activation =
      config.mlp == MlpKind::kGated ? Activation::kSilu : Activation::kGelu;
  config.activation =
      Choice(node, "activation", ActivationFromName, usual_activation, ActivationNames());
  config.layer_norm_eps =
      static_cast<float>(node.Number("layer_norm_eps", 0.0, 1.0).value_or(1e-6));
  config.residual = node.Bool("residual").value_or(true);
  config.layer_norm = node.Bool("layer_norm").value_or(true);
}

void ReadTokens(const ConfigNode& node, VitConfig& config) {
  config.tokens.has_class_token = node.Bool("class_token").value_or(true);
  config.tokens.has_distillation_token = node.Bool("distillation_token").value_or(false);
  config.tokens.num_register_tokens = node.Int("num_register_tokens", 0, kMaxRegisters).value_or(0);
}

void ReadPositions(const ConfigNode& node, VitConfig& config) {
  const bool prefix = config.tokens.has_class_token || config.tokens.has_distillation_token;
  config.position_cover =
      Choice(node, "position_cover", PositionCoverFromName,
             prefix ? PositionCover::kPrefixNoRegisters : PositionCover::kPatches,
             "none, patches, prefix or all");
  config.position_resize =
      Choice(node, "position_resize", PositionResizeFromName, PositionResize::kBicubicAntialias,
             "bicubic-antialias, bicubic, bicubic-offset, bicubic-corners, bilinear or "
             "bilinear-antialias");
  config.position_grid = node.Size("position_grid", kMaxImageSide).value_or(RowsCols{});
  config.position_by_count = node.Bool("position_by_count").value_or(false);
  config.rope =
      Choice(node, "rope", RopeKindFromName, RopeKind::kNone, "none, half or interleaved");
  const double theta = config.rope == RopeKind::kInterleaved ? 10000 : 100;
  config.rope_theta = static_cast<float>(node.Number("rope_theta", 1e-3, 1e9).value_or(theta));
  config.relative_position = node.Bool("relative_position").value_or(false);
}

void ReadPooling(const ConfigNode& node, VitConfig& config) {
  config.pooling = Choice(node, "pooling", PoolingFromName,
                          config.tokens.has_class_token ? Pooling::kClass : Pooling::kMeanPatches,
                          "class, mean, class-and-mean, distilled or attention");
  const bool needs_class = config.pooling == Pooling::kClass ||
                           config.pooling == Pooling::kClassAndMean ||
                           config.pooling == Pooling::kDistilled;
  if (needs_class && !config.tokens.has_class_token) {
    node.Fail("pooling", "needs a class token, which this model does not have");
  }
  if (config.pooling == Pooling::kDistilled && !config.tokens.has_distillation_token) {
    node.Fail("pooling", "needs a distillation token, which this model does not have");
  }
  config.norm_before_pool = node.Bool("norm_before_pool").value_or(true);
  config.norm_after_pool = node.Bool("norm_after_pool").value_or(false);
  config.last_hidden_before_norm = node.Bool("last_hidden_before_norm").value_or(false);
}

}  // namespace

std::optional<RowsCols> ReadImageSize(const ConfigNode& node, int patch_size) {
  const auto size = node.Size("image_size", kMaxImageSide);
  if (size && (size->rows % patch_size != 0 || size->cols % patch_size != 0)) {
    node.Fail("image_size", "expected multiples of patch_size " + std::to_string(patch_size) +
                                ", found " + SizeText(*size));
  }
  return size;
}

VitConfig ReadConfig(const ConfigNode& node) {
  VitConfig config;
  config.family = node.String("family").value_or("vit");
  if (config.family == "layer") node.Fail("family", "\"layer\" is the one-layer form's own");
  ReadSizes(node, config);
  ReadMlp(node, config);
  ReadTokens(node, config);
  ReadPositions(node, config);
  ReadPooling(node, config);
  return config;
}

}  // namespace attnmap
