#include "encoder/check_model.h"

#include <string>

#include "attnmap/core/error.h"

namespace attnmap::encoder {
namespace {

// Checks tensors under a common beginning of their names.
class Checker {
 public:
  Checker(const VitModel& model, std::string where)
      : path_(model.source_path), where_(std::move(where)) {}

  void Require(const std::string& name, const SharedTensor& tensor, const Shape& shape) const {
    if (!tensor.present()) Fail(name, ToString(shape), "nothing");
    if (tensor.shape() != shape) Fail(name, ToString(shape), ToString(tensor.shape()));
  }
  void Optional(const std::string& name, const SharedTensor& tensor, const Shape& shape) const {
    if (tensor.present()) Require(name, tensor, shape);
  }
  void Norm(const std::string& name, const NormWeights& norm, int64_t width) const {
    Optional(name + ".weight", norm.weight, {width});
    Optional(name + ".bias", norm.bias, {width});
  }
  void Linear(const std::string& name, const LinearWeights& linear, int64_t out, int64_t in) const {
    Require(name + ".weight", linear.weight, {out, in});
    Optional(name + ".bias", linear.bias, {out});
  }
  void OptionalLinear(const std::string& name, const LinearWeights& linear, int64_t out,
                      int64_t in) const {
    if (linear.present()) Linear(name, linear, out, in);
  }

 private:
  [[noreturn]] void Fail(const std::string& name, const std::string& expected,
                         const std::string& found) const {
    throw Error((path_.empty() ? "model" : path_) + ": " + where_ + name + ": expected " +
                expected + ", found " + found);
  }

  std::string path_;
  std::string where_;
};

int64_t OutOf(const LinearWeights& linear) {
  return linear.present() && linear.weight.shape().size() == 2 ? linear.weight.shape()[0] : 0;
}

void CheckLayer(const VitModel& model, size_t index) {
  const VitConfig& config = model.config;
  const LayerWeights& layer = model.layers[index];
  const Checker check(model, "layer " + std::to_string(index) + " ");
  const int64_t width = config.embed_dim;
  const int64_t queries = int64_t{config.num_heads} * config.head_dim;
  const int64_t values = int64_t{config.num_heads} * config.value_dim;
  check.Norm("norm1", layer.norm1, width);
  check.Linear("query", layer.query, queries, width);
  check.Linear("key", layer.key, queries, width);
  check.Linear("value", layer.value, values, width);
  check.Norm("query norm", layer.query_norm, config.head_dim);
  check.Norm("key norm", layer.key_norm, config.head_dim);
  check.Norm("attention norm", layer.attention_norm, values);
  if (config.residual) {
    check.Linear("output", layer.output, width, values);
  } else {
    check.OptionalLinear("output", layer.output, OutOf(layer.output), values);
  }
  if (config.relative_position) {
    const auto& shape = layer.relative_position.shape();
    check.Require("relative position", layer.relative_position,
                  {shape.empty() ? 0 : shape[0], config.num_heads});
  }
  const int64_t out = layer.output.present() ? OutOf(layer.output) : values;
  check.Optional("layer scale 1", layer.layer_scale1, {out});
  if (config.mlp == MlpKind::kNone) return;
  check.Norm("norm2", layer.norm2, out);
  if (config.mlp == MlpKind::kGated) check.Linear("gate", layer.gate, config.mlp_dim, out);
  check.Linear("fc1", layer.fc1, config.mlp_dim, out);
  check.Norm("MLP norm", layer.mlp_norm, config.mlp_dim);
  check.Linear("fc2", layer.fc2, out, config.mlp_dim);
  check.Optional("layer scale 2", layer.layer_scale2, {out});
}

void CheckPool(const VitModel& model) {
  const PoolWeights& pool = model.pool;
  const Checker check(model, "pooling head ");
  const int64_t width = model.config.embed_dim;
  check.Require("probe", pool.probe, {width});
  check.Linear("query", pool.query, width, width);
  check.Linear("key", pool.key, width, width);
  check.Linear("value", pool.value, width, width);
  check.Linear("output", pool.output, width, width);
  check.Norm("norm", pool.norm, width);
  if (!pool.fc1.present()) return;
  check.Linear("fc1", pool.fc1, OutOf(pool.fc1), width);
  check.Linear("fc2", pool.fc2, width, OutOf(pool.fc1));
}

void CheckEmbedding(const VitModel& model) {
  const VitConfig& config = model.config;
  const Checker check(model, "");
  const int64_t width = config.embed_dim;
  const int64_t patch = int64_t{3} * config.patch_size * config.patch_size;
  if (model.patch_weight.present()) {
    check.Require("patch embedding", model.patch_weight, {width, patch});
    check.Optional("patch bias", model.patch_bias, {width});
  } else if (width != patch) {
    throw Error("model: without a patch embedding tokens are patches: expected a width of " +
                std::to_string(patch) + ", found " + std::to_string(width));
  }
  if (config.tokens.has_class_token) check.Require("class token", model.class_token, {width});
  if (config.tokens.has_distillation_token) {
    check.Require("distillation token", model.distillation_token, {width});
  }
  if (config.tokens.num_register_tokens > 0) {
    check.Require("register tokens", model.register_tokens,
                  {config.tokens.num_register_tokens, width});
  }
  if (config.position_cover != PositionCover::kNone) {
    const auto& shape = model.position.shape();
    check.Require("positions", model.position, {shape.empty() ? 0 : shape[0], width});
  }
  if (config.rope == RopeKind::kHalf) {
    check.Optional("rope periods", model.rope_periods, {config.head_dim / 4});
  }
  check.Norm("pre-norm", model.pre_norm, width);
}

void CheckHeads(const VitModel& model) {
  const VitConfig& config = model.config;
  const Checker check(model, "");
  const int64_t width = config.embed_dim;
  const int64_t pooled = config.pooling == Pooling::kClassAndMean ? 2 * width : width;
  check.Norm("norm", model.norm, width);
  check.Norm("fc_norm", model.fc_norm, pooled);
  check.OptionalLinear("head", model.head, OutOf(model.head), pooled);
  check.OptionalLinear("projection", model.projection, OutOf(model.projection), pooled);
  if (config.pooling == Pooling::kDistilled && model.head.present()) {
    check.Linear("distillation head", model.distillation_head, OutOf(model.head), width);
  }
  if (model.pool.present()) CheckPool(model);
}

}  // namespace

void CheckModel(const VitModel& model) {
  const VitConfig& config = model.config;
  const bool sizes = config.embed_dim > 0 && config.num_heads > 0 && config.head_dim > 0 &&
                     config.value_dim > 0 && config.patch_size > 0;
  if (!sizes || config.num_layers != static_cast<int>(model.layers.size())) {
    throw Error(
        "model: width, heads, head sizes and patch size must be positive, and as many "
        "layers there as the configuration says");
  }
  const bool turns = config.rope != RopeKind::kNone;
  if (turns && config.head_dim % 4 != 0) {
    throw Error("model: rotary positions need heads of a multiple of 4 channels, found " +
                std::to_string(config.head_dim));
  }
  CheckEmbedding(model);
  for (size_t i = 0; i < model.layers.size(); ++i) CheckLayer(model, i);
  CheckHeads(model);
}

}  // namespace attnmap::encoder
