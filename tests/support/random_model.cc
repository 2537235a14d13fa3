#include "support/random_model.h"

#include <cmath>
#include <random>
#include <utility>

namespace attnmap::test {
namespace {

class Maker {
 public:
  Maker(const VitConfig& config, const RandomParts& parts, uint32_t seed)
      : config_(config), parts_(parts), generator_(seed) {}

  VitModel Make();

 private:
  SharedTensor Normal(const Shape& shape, double deviation, double mean = 0) {
    std::normal_distribution<float> normal(static_cast<float>(mean), static_cast<float>(deviation));
    Tensor tensor(shape);
    for (float& v : tensor.values) v = normal(generator_);
    return SharedTensor(std::move(tensor));
  }
  LinearWeights Linear(int64_t out, int64_t in, double gain = 1.0) {
    LinearWeights linear;
    linear.weight = Normal({out, in}, gain / std::sqrt(static_cast<double>(in)));
    if (parts_.biases) linear.bias = Normal({out}, 0.2);
    return linear;
  }
  NormWeights Norm(int64_t width) { return {Normal({width}, 0.2, 1.0), Normal({width}, 0.2)}; }
  LayerWeights Layer();
  PoolWeights Pool();
  int64_t PositionRows() const;

  const VitConfig& config_;
  const RandomParts& parts_;
  std::mt19937 generator_;
};

LayerWeights Maker::Layer() {
  const int64_t width = config_.embed_dim;
  const int64_t queries = int64_t{config_.num_heads} * config_.head_dim;
  const int64_t values = int64_t{config_.num_heads} * config_.value_dim;
  const int64_t out = !parts_.output_projection  ? values
                      : parts_.output_width != 0 ? parts_.output_width
                                                 : width;
  LayerWeights layer;
  if (config_.layer_norm) layer.norm1 = Norm(width);
  layer.query = Linear(queries, width, 1.5);
  layer.key = Linear(queries, width, 1.5);
  layer.value = Linear(values, width);
  if (parts_.query_key_norm) {
    layer.query_norm = Norm(config_.head_dim);
    layer.key_norm = Norm(config_.head_dim);
  }
  if (config_.relative_position) {
    const int64_t rows = (2 * config_.position_grid.rows - 1);
    const int64_t cols = (2 * config_.position_grid.cols - 1);
    layer.relative_position = Normal({rows * cols + 3, config_.num_heads}, 1.0);
  }
  if (parts_.attention_norm) layer.attention_norm = Norm(values);
  if (parts_.output_projection) layer.output = Linear(out, values);
  if (parts_.layer_scale) layer.layer_scale1 = Normal({out}, 0.3, 0.5);
  if (config_.mlp == MlpKind::kNone) return layer;
  if (config_.layer_norm) layer.norm2 = Norm(out);
  if (config_.mlp == MlpKind::kGated) layer.gate = Linear(config_.mlp_dim, out);
  layer.fc1 = Linear(config_.mlp_dim, out);
  if (parts_.mlp_norm) layer.mlp_norm = Norm(config_.mlp_dim);
  layer.fc2 = Linear(out, config_.mlp_dim);
  if (parts_.layer_scale) layer.layer_scale2 = Normal({out}, 0.3, 0.5);
  return layer;
}

PoolWeights Maker::Pool() {
  const int64_t width = config_.embed_dim;
  PoolWeights pool;
  pool.probe = Normal({width}, 1.0);
  pool.query = Linear(width, width, 1.5);
  pool.key = Linear(width, width, 1.5);
  pool.value = Linear(width, width);
  pool.output = Linear(width, width);
  pool.norm = Norm(width);
  pool.fc1 = Linear(2 * width, width);
  pool.fc2 = Linear(width, 2 * width);
  return pool;
}

int64_t Maker::PositionRows() const {
  const int64_t patches = int64_t{config_.position_grid.rows} * config_.position_grid.cols;
  const TokenLayout& tokens = config_.tokens;
  if (config_.position_cover == PositionCover::kAll) return patches + tokens.num_prefix_tokens();
  if (config_.position_cover == PositionCover::kPatches) return patches;
  return patches + tokens.first_register_token();
}

VitModel Maker::Make() {
  const int64_t width = config_.embed_dim;
  const int64_t patch = int64_t{3} * config_.patch_size * config_.patch_size;
  VitModel model;
  model.config = config_;
  if (parts_.patch_embedding) {
    const LinearWeights linear = Linear(width, patch);
    model.patch_weight = linear.weight;
    model.patch_bias = linear.bias;
  }
  const TokenLayout& tokens = config_.tokens;
  if (tokens.has_class_token) model.class_token = Normal({width}, 1.0);
  if (tokens.has_distillation_token) model.distillation_token = Normal({width}, 1.0);
  if (tokens.num_register_tokens > 0) {
    model.register_tokens = Normal({tokens.num_register_tokens, width}, 1.0);
  }
  if (config_.position_cover != PositionCover::kNone) {
    model.position = Normal({PositionRows(), width}, 0.5);
  }
  if (parts_.rope_periods) model.rope_periods = Normal({config_.head_dim / 4}, 0.3, 2.0);
  if (parts_.pre_norm) model.pre_norm = Norm(width);
  for (int layer = 0; layer < config_.num_layers; ++layer) model.layers.push_back(Layer());
  const int64_t pooled = config_.pooling == Pooling::kClassAndMean ? 2 * width : width;
  if (parts_.final_norm) model.norm = Norm(width);
  if (parts_.fc_norm) model.fc_norm = Norm(pooled);
  if (config_.num_classes > 0) {
    model.head = Linear(config_.num_classes, pooled);
    if (config_.pooling == Pooling::kDistilled) {
      model.distillation_head = Linear(config_.num_classes, width);
    }
  }
  if (parts_.projection > 0) model.projection = Linear(parts_.projection, pooled);
  if (config_.pooling == Pooling::kAttention) model.pool = Pool();
  return model;
}

}  // namespace

VitModel MakeRandomModel(const VitConfig& config, const RandomParts& parts, uint32_t seed) {
  return Maker(config, parts, seed).Make();
}

ModelInput MakeRandomInput(const PatchGrid& grid, uint32_t seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  const RowsCols pixels = grid.pixels();
  ModelInput input;
  input.grid = grid;
  input.geometry = ImageGeometry::Identity(pixels);
  input.pixels = Tensor({3, pixels.rows, pixels.cols});
  for (float& v : input.pixels.values) v = normal(generator);
  return input;
}

}  // namespace attnmap::test
