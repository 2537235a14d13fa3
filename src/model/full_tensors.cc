// The tensors of a model under the full form's names. What a model leaves out
// but the form wants (biases, a few scales) is written as the zeros or ones it means.
#include <algorithm>

#include "model/form.h"

namespace attnmap {
namespace {

SharedTensor Ones(int64_t size) {
  return SharedTensor(Tensor({size}, std::vector<float>(static_cast<size_t>(size), 1.0F)));
}

SharedTensor OrZeros(const SharedTensor& tensor, int64_t size) {
  return tensor.present() ? tensor : Zeros({size});
}

class FullWriter {
 public:
  explicit FullWriter(const VitModel& model)
      : model_(model), config_(model.config), dim_(model.config.embed_dim) {}

  std::vector<NamedTensor> Write() {
    WriteTokens();
    const bool scaled = model_.layers[0].layer_scale1.present();
    for (size_t i = 0; i < model_.layers.size(); ++i) {
      prefix_ = "blocks." + std::to_string(i) + ".";
      WriteAttention(model_.layers[i], scaled);
      WriteMlp(model_.layers[i], scaled);
    }
    prefix_.clear();
    WriteHeads();
    if (model_.pool.present()) WritePool();
    return std::move(tensors_);
  }

 private:
  void Add(const std::string& name, const SharedTensor& tensor) {
    tensors_.push_back({prefix_ + name, tensor});
  }

  void AddNorm(const std::string& name, const NormWeights& norm) {
    if (!norm.present()) return;
    Add(name + ".weight", norm.weight);
    Add(name + ".bias", OrZeros(norm.bias, norm.weight.size()));
  }

  void AddLinear(const std::string& name, const LinearWeights& linear) {
    if (!linear.present()) return;
    Add(name + ".weight", linear.weight);
    Add(name + ".bias", OrZeros(linear.bias, linear.weight.shape()[0]));
  }

  // Projections stacked into one.
  void AddFused(const std::string& name, const std::vector<const LinearWeights*>& parts,
                bool with_bias) {
    std::vector<SharedTensor> weights;
    std::vector<SharedTensor> biases;
    for (const LinearWeights* part : parts) {
      weights.push_back(part->weight);
      biases.push_back(OrZeros(part->bias, part->weight.shape()[0]));
    }
    Add(name + ".weight", Stacked(weights));
    if (with_bias) Add(name + ".bias", Stacked(biases));
  }

  void AddTable(const std::string& name, const SharedTensor& table) {
    if (!table.present()) return;
    Add(name, table.Reshaped({1, table.size() / dim_, dim_}));
  }

  void WriteTokens() {
    AddTable("cls_token", model_.class_token);
    AddTable("dist_token", model_.distillation_token);
    AddTable("reg_token", model_.register_tokens);
    AddTable("pos_embed", model_.position);
    if (model_.rope_periods.present()) Add("rope_embed.periods", model_.rope_periods);
    if (model_.patch_weight.present()) {
      const int64_t p = config_.patch_size;
      Add("patch_embed.proj.weight", model_.patch_weight.Reshaped({dim_, 3, p, p}));
      Add("patch_embed.proj.bias", OrZeros(model_.patch_bias, dim_));
    }
    AddNorm("norm_pre", model_.pre_norm);
  }

  void WriteAttention(const LayerWeights& layer, bool scaled) {
    AddNorm("norm1", layer.norm1);
    AddFused("attn.qkv", {&layer.query, &layer.key, &layer.value}, HasQkvBias(model_));
    AddNorm("attn.q_norm", layer.query_norm);
    AddNorm("attn.k_norm", layer.key_norm);
    if (layer.relative_position.present()) {
      Add("attn.relative_position_bias_table", layer.relative_position);
    }
    AddNorm("attn.norm", layer.attention_norm);
    AddLinear("attn.proj", layer.output);
    if (scaled) Add("ls1.gamma", layer.layer_scale1.present() ? layer.layer_scale1 : Ones(dim_));
  }

  void WriteMlp(const LayerWeights& layer, bool scaled) {
    if (config_.mlp == MlpKind::kNone) return;
    AddNorm("norm2", layer.norm2);
    const bool gated = config_.mlp == MlpKind::kGated;
    AddLinear("mlp.fc1_g", layer.gate);
    AddLinear(gated ? "mlp.fc1_x" : "mlp.fc1", layer.fc1);
    AddNorm("mlp.norm", layer.mlp_norm);
    AddLinear("mlp.fc2", layer.fc2);
    if (scaled) Add("ls2.gamma", layer.layer_scale2.present() ? layer.layer_scale2 : Ones(dim_));
  }

  void WriteHeads() {
    AddNorm("norm", model_.norm);
    AddNorm("fc_norm", model_.fc_norm);
    AddLinear("head", model_.head);
    AddLinear("head_dist", model_.distillation_head);
    if (!model_.projection.present()) return;
    Add("projection.weight", model_.projection.weight);
    if (model_.projection.bias.present()) Add("projection.bias", model_.projection.bias);
  }

  void WritePool() {
    const PoolWeights& pool = model_.pool;
    Add("attn_pool.latent", pool.probe.Reshaped({1, 1, dim_}));
    AddLinear("attn_pool.q", pool.query);
    AddFused("attn_pool.kv", {&pool.key, &pool.value}, true);
    AddLinear("attn_pool.proj", pool.output);
    AddNorm("attn_pool.norm", pool.norm);
    AddLinear("attn_pool.mlp.fc1", pool.fc1);
    AddLinear("attn_pool.mlp.fc2", pool.fc2);
  }

  const VitModel& model_;
  const VitConfig& config_;
  const int64_t dim_;
  std::string prefix_;
  std::vector<NamedTensor> tensors_;
};

}  // namespace

bool HasQkvBias(const VitModel& model) {
  return std::any_of(model.layers.begin(), model.layers.end(), [](const LayerWeights& layer) {
    return layer.query.bias.present() || layer.key.bias.present() || layer.value.bias.present();
  });
}

std::vector<NamedTensor> FullTensors(const VitModel& model) { return FullWriter(model).Write(); }

}  // namespace attnmap
