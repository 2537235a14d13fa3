#include "model/tower_reader.h"

#include <algorithm>

#include "model/form.h"
#include "model/linear_layout.h"

namespace attnmap {
namespace {

class TowerReader {
 public:
  TowerReader(const Layout& layout, std::string_view block, const TowerParts& parts,
              TensorReader& reader, VitModel& model)
      : layout_(layout),
        block_(block),
        parts_(parts),
        reader_(reader),
        model_(model),
        config_(model.config),
        dim_(model.config.embed_dim) {}

  void Read() {
    ReadPatches();
    ReadTokens();
    ReadPositions();
    if (parts_.pre_norm) model_.pre_norm = Norm(layout_.pre_norm, dim_);
    model_.layers.resize(static_cast<size_t>(config_.num_layers));
    for (layer_ = 0; layer_ < config_.num_layers; ++layer_) ReadLayer(model_.layers[layer_]);
    layer_ = -1;
    if (config_.norm_before_pool) model_.norm = Norm(layout_.norm, dim_);
    if (config_.norm_after_pool) model_.fc_norm = Norm(layout_.fc_norm, dim_);
    ReadHeads();
    if (config_.pooling == Pooling::kAttention) ReadPool();
  }

 private:
  // A name within the block being read, or of the tower.
  std::string Here(Aliases aliases) const {
    return layer_ < 0 ? std::string(aliases) : WithPrefix(BlockPrefix(block_, layer_), aliases);
  }

  // Whether a bias has to be there: always, or where the first block has it.
  bool NeedsBias(Aliases bases) const {
    if (parts_.every_bias) return true;
    return layer_ > 0 && reader_.Has(WithSuffix(WithPrefix(BlockPrefix(block_, 0), bases), "bias"));
  }

  SharedTensor Bias(Aliases bases, int64_t out) {
    const std::string name = WithSuffix(Here(bases), "bias");
    const Shape shape =
        layout_.style == Layout::Style::kFlax ? FlatShape(reader_.Info(name), {out}) : Shape{out};
    const auto flat = [out](const SharedTensor& bias) { return bias.Reshaped({out}); };
    return NeedsBias(bases) ? reader_.Read(name, shape, flat) : reader_.ReadIf(name, shape, flat);
  }

  SharedTensor Weight(Aliases bases, int64_t out, int64_t in) {
    if (layout_.style == Layout::Style::kTorch) {
      return reader_.Read(WithSuffix(Here(bases), "weight"), {out, in});
    }
    const std::string name = WithSuffix(Here(bases), "kernel");
    return reader_.Read(name, KernelShape(reader_.Info(name), in, out),
                        [in, out](const SharedTensor& kernel) {
                          return Transposed(kernel.Reshaped({in, out}));
                        });
  }

  LinearWeights Linear(Aliases bases, int64_t out, int64_t in) {
    return {Weight(bases, out, in), Bias(bases, out)};
  }

  NormWeights Norm(Aliases bases, int64_t dim) {
    const bool flax = layout_.style == Layout::Style::kFlax;
    return {reader_.Read(WithSuffix(Here(bases), flax ? "scale" : "weight"), {dim}),
            reader_.Read(WithSuffix(Here(bases), "bias"), {dim})};
  }

  SharedTensor Vector(Aliases names) { return reader_.Read(Here(names), {dim_}); }

  void ReadPatches() {
    if (!parts_.patches) return;
    const bool flax = layout_.style == Layout::Style::kFlax;
    const std::string name = WithSuffix(layout_.patch, flax ? "kernel" : "weight");
    const bool linear_rgb = layout_.name == kTransformersClipLayout.name;
    const PatchLayout patch = PatchLayoutOf(reader_.Info(name), flax, linear_rgb, config_);
    model_.patch_weight = reader_.Read(name, patch.shape, patch.transform);
    model_.patch_bias = Bias(layout_.patch, dim_);
  }

  void ReadTokens() {
    const TokenLayout& tokens = config_.tokens;
    if (tokens.has_class_token) model_.class_token = Vector(layout_.class_token);
    if (tokens.has_distillation_token) {
      model_.distillation_token = Vector(layout_.distillation_token);
    }
    if (tokens.num_register_tokens > 0) {
      model_.register_tokens =
          reader_.Read(layout_.register_tokens, {tokens.num_register_tokens, dim_});
    }
  }

  void ReadPositions() {
    if (parts_.rope_periods) {
      model_.rope_periods = reader_.Read(layout_.rope_periods, {config_.head_dim / 4});
    }
    if (config_.position_cover == PositionCover::kNone) return;
    const TensorInfo* info = reader_.Info(layout_.position);
    const int64_t rows = info == nullptr || info->shape.size() < 2
                             ? ExpectedPositions()
                             : info->shape[info->shape.size() - 2];
    model_.position = reader_.Read(layout_.position, {rows, dim_});
  }

  // For messages where the table is missing or no table at all.
  int64_t ExpectedPositions() const {
    if (!config_.image_size) return config_.tokens.num_prefix_tokens();
    const RowsCols grid = ImageGrid(config_);
    return config_.tokens.num_prefix_tokens() + int64_t{grid.rows} * grid.cols;
  }

  void ReadLayer(LayerWeights& layer) {
    if (config_.layer_norm) layer.norm1 = Norm(layout_.norm1, dim_);
    if (!layout_.qkv.empty() && reader_.Has(WithSuffix(Here(layout_.qkv), "weight"))) {
      ReadFused(layer);
    } else {
      ReadSplit(layer);
    }
    if (parts_.query_key_norm) {
      layer.query_norm = Norm(layout_.query_norm, config_.head_dim);
      layer.key_norm = Norm(layout_.key_norm, config_.head_dim);
    }
    if (config_.relative_position) ReadRelativePosition(layer);
    const int64_t values = int64_t{config_.num_heads} * config_.value_dim;
    if (parts_.attention_norm) layer.attention_norm = Norm(layout_.attention_norm, values);
    layer.output = Linear(layout_.output, dim_, values);
    if (parts_.layer_scale) layer.layer_scale1 = Vector(layout_.scale1);
    ReadMlp(layer);
  }

  void ReadFused(LayerWeights& layer) {
    const int64_t queries = int64_t{config_.num_heads} * config_.head_dim;
    const int64_t values = int64_t{config_.num_heads} * config_.value_dim;
    const int64_t rows = 2 * queries + values;
    const SharedTensor weight = Weight(layout_.qkv, rows, dim_);
    layer.query.weight = weight.Slice(0, {queries, dim_});
    layer.key.weight = weight.Slice(queries * dim_, {queries, dim_});
    layer.value.weight = weight.Slice(2 * queries * dim_, {values, dim_});
    const SharedTensor bias = FusedBias(rows, queries);
    if (bias.present()) {
      layer.query.bias = bias.Slice(0, {queries});
      if (!parts_.zero_key_bias) layer.key.bias = bias.Slice(queries, {queries});
      layer.value.bias = bias.Slice(2 * queries, {values});
    } else if (parts_.qkv_bias) {
      layer.query.bias = SideBias(layout_.query_bias, queries);
      layer.value.bias = SideBias(layout_.value_bias, values);
    }
  }

  SharedTensor FusedBias(int64_t rows, int64_t queries) {
    if (!parts_.qkv_bias) return {};
    if (!parts_.zero_key_bias) return Bias(layout_.qkv, rows);
    if (!layout_.bias_mask.empty()) reader_.MarkUsed(Here(layout_.bias_mask));
    // The key's third may hold anything, NaN included: none of it is used.
    return reader_.ReadIf(WithSuffix(Here(layout_.qkv), "bias"), {rows},
                          [queries](const SharedTensor& bias) {
                            Tensor copy(bias.shape(), {bias.values().begin(), bias.values().end()});
                            std::fill_n(copy.values.begin() + queries, queries, 0.0F);
                            return SharedTensor(std::move(copy));
                          });
  }

  SharedTensor SideBias(Aliases name, int64_t size) {
    return name.empty() ? SharedTensor() : reader_.ReadIf(Here(name), {size});
  }

  void ReadSplit(LayerWeights& layer) {
    const int64_t queries = int64_t{config_.num_heads} * config_.head_dim;
    const int64_t values = int64_t{config_.num_heads} * config_.value_dim;
    layer.query = Linear(layout_.query, queries, dim_);
    layer.key = Linear(layout_.key, queries, dim_);
    layer.value = Linear(layout_.value, values, dim_);
    if (!layer.query.bias.present()) layer.query.bias = SideBias(layout_.query_bias, queries);
    if (!layer.value.bias.present()) layer.value.bias = SideBias(layout_.value_bias, values);
  }

  void ReadRelativePosition(LayerWeights& layer) {
    const RowsCols grid = config_.position_grid;
    const int64_t rows = int64_t{2 * grid.rows - 1} * (2 * grid.cols - 1) + 3;
    const Shape shape = {rows, config_.num_heads};
    SharedTensor shared;
    if (!layout_.shared_relative_position.empty()) {
      shared = reader_.ReadIf(layout_.shared_relative_position, shape);
    }
    const std::string own = Here(layout_.relative_position);
    if (!shared.present()) {
      layer.relative_position = reader_.Read(own, shape);
    } else if (reader_.Has(own)) {
      layer.relative_position = Sum(reader_.Read(own, shape), shared);
    } else {
      layer.relative_position = shared;
    }
  }

  static SharedTensor Sum(const SharedTensor& a, const SharedTensor& b) {
    Tensor sum(a.shape());
    for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] = a.values()[i] + b.values()[i];
    return SharedTensor(std::move(sum));
  }

  void ReadMlp(LayerWeights& layer) {
    if (config_.mlp == MlpKind::kNone) return;
    const int64_t mlp = config_.mlp_dim;
    if (config_.layer_norm) layer.norm2 = Norm(layout_.norm2, dim_);
    if (config_.mlp == MlpKind::kPlain) {
      layer.fc1 = Linear(layout_.fc1, mlp, dim_);
    } else if (!layout_.gate.empty() && reader_.Has(WithSuffix(Here(layout_.gate), "weight"))) {
      layer.gate = Linear(layout_.gate, mlp, dim_);
      layer.fc1 = Linear(layout_.up, mlp, dim_);
    } else {
      ReadPacked(layer, mlp);
    }
    if (parts_.mlp_norm) layer.mlp_norm = Norm(layout_.mlp_norm, mlp);
    layer.fc2 = Linear(layout_.fc2, dim_, mlp);
    if (parts_.layer_scale) layer.layer_scale2 = Vector(layout_.scale2);
  }

  // Gate and up in one matrix, the gate first.
  void ReadPacked(LayerWeights& layer, int64_t mlp) {
    const bool own_name =
        !layout_.packed.empty() && reader_.Has(WithSuffix(Here(layout_.packed), "weight"));
    const LinearWeights packed = Linear(own_name ? layout_.packed : layout_.fc1, 2 * mlp, dim_);
    layer.gate.weight = packed.weight.Slice(0, {mlp, dim_});
    layer.fc1.weight = packed.weight.Slice(mlp * dim_, {mlp, dim_});
    if (!packed.bias.present()) return;
    layer.gate.bias = packed.bias.Slice(0, {mlp});
    layer.fc1.bias = packed.bias.Slice(mlp, {mlp});
  }

  void ReadHeads() {
    const int64_t width = config_.pooling == Pooling::kClassAndMean ? 2 * dim_ : dim_;
    if (parts_.head) model_.head = Linear(layout_.head, config_.num_classes, width);
    if (parts_.distillation_head) {
      model_.distillation_head = Linear(layout_.distillation_head, config_.num_classes, width);
    }
    if (parts_.projection) ReadProjection();
  }

  void ReadProjection() {
    if (!layout_.projection_matrix.empty()) {
      const Shape& shape = reader_.ShapeOf(layout_.projection_matrix, 2);
      model_.projection.weight =
          reader_.Read(layout_.projection_matrix, {dim_, shape[1]}, Transposed);
      return;
    }
    const std::string name = WithSuffix(layout_.projection, "weight");
    const int64_t out = reader_.ShapeOf(name, 2)[0];
    model_.projection.weight = reader_.Read(name, {out, dim_});
    model_.projection.bias = reader_.ReadIf(WithSuffix(layout_.projection, "bias"), {out});
  }

  void ReadPool() {
    PoolWeights& pool = model_.pool;
    pool.probe = Vector(layout_.probe);
    ReadPoolAttention();
    pool.output = Linear(layout_.pool_output, dim_, dim_);
    pool.norm = Norm(layout_.pool_norm, dim_);
    pool.fc1 = Linear(layout_.pool_fc1, parts_.pool_mlp_dim, dim_);
    pool.fc2 = Linear(layout_.pool_fc2, dim_, parts_.pool_mlp_dim);
  }

  void ReadPoolAttention() {
    PoolWeights& pool = model_.pool;
    if (!layout_.pool_qkv.empty()) {
      const LinearWeights all = Linear(layout_.pool_qkv, 3 * dim_, dim_);
      pool.query = Part(all, 0);
      pool.key = Part(all, 1);
      pool.value = Part(all, 2);
      return;
    }
    pool.query = Linear(layout_.pool_query, dim_, dim_);
    if (!layout_.pool_kv.empty()) {
      const LinearWeights both = Linear(layout_.pool_kv, 2 * dim_, dim_);
      pool.key = Part(both, 0);
      pool.value = Part(both, 1);
    } else {
      pool.key = Linear(layout_.pool_key, dim_, dim_);
      pool.value = Linear(layout_.pool_value, dim_, dim_);
    }
  }

  // The i-th D rows of a fused projection.
  LinearWeights Part(const LinearWeights& fused, int64_t i) const {
    LinearWeights part;
    part.weight = fused.weight.Slice(i * dim_ * dim_, {dim_, dim_});
    if (fused.bias.present()) part.bias = fused.bias.Slice(i * dim_, {dim_});
    return part;
  }

  const Layout& layout_;
  std::string_view block_;
  const TowerParts& parts_;
  TensorReader& reader_;
  VitModel& model_;
  const VitConfig& config_;
  const int64_t dim_;
  int layer_ = -1;  // -1: the tower
};

}  // namespace

std::string BlockPrefix(std::string_view block, int layer) {
  const size_t at = block.find("{}");
  return std::string(block.substr(0, at)) + std::to_string(layer) +
         std::string(block.substr(at + 2));
}

void ReadTower(const Layout& layout, std::string_view block, const TowerParts& parts,
               TensorReader& reader, VitModel& model) {
  TowerReader(layout, block, parts, reader, model).Read();
}

}  // namespace attnmap
