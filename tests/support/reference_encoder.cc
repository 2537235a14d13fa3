#include "support/reference_encoder.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attnmap/ops/grid_resize.h"

namespace attnmap::test {
namespace {

using Row = std::vector<double>;

Row ToRow(const SharedTensor& tensor, int64_t begin, int64_t count) {
  return {tensor.data() + begin, tensor.data() + begin + count};
}

Row Linear(const LinearWeights& linear, const Row& x) {
  Row y;
  const int64_t out = linear.weight.shape()[0];
  const int64_t in = linear.weight.shape()[1];
  for (int64_t o = 0; o < out; ++o) {
    double sum = linear.bias.present() ? linear.bias.data()[o] : 0.0;
    for (int64_t i = 0; i < in; ++i) {
      sum += double{linear.weight.data()[o * in + i]} * x[static_cast<size_t>(i)];
    }
    y.push_back(sum);
  }
  return y;
}

Row Norm(const NormWeights& norm, const Row& x, double eps) {
  if (!norm.present()) return x;
  double mean = 0;
  for (double v : x) mean += v / static_cast<double>(x.size());
  double variance = 0;
  for (double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
  Row y;
  for (size_t i = 0; i < x.size(); ++i) {
    const double bias = norm.bias.present() ? norm.bias.data()[i] : 0.0;
    y.push_back((x[i] - mean) / std::sqrt(variance + eps) * norm.weight.data()[i] + bias);
  }
  return y;
}

double Activate(Activation activation, double x) {
  const auto sigmoid = [](double z) { return 1 / (1 + std::exp(-z)); };
  switch (activation) {
    case Activation::kGelu:
      return x * 0.5 * (1 + std::erf(x / std::numbers::sqrt2));
    case Activation::kGeluTanh:
      return 0.5 * x *
             (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::kQuickGelu:
      return x * sigmoid(1.702 * x);
    case Activation::kSilu:
      return x * sigmoid(x);
  }
  return 0;
}

void Add(Row& to, const Row& what, const SharedTensor& scale = {}) {
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] += what[i] * (scale.present() ? scale.data()[i] : 1.0);
  }
}

Row Softmax(const Row& x) {
  const double largest = *std::max_element(x.begin(), x.end());
  Row y;
  double sum = 0;
  for (double v : x) {
    y.push_back(std::exp(v - largest));
    sum += y.back();
  }
  for (double& v : y) v /= sum;
  return y;
}

double Dot(const Row& a, const Row& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

class Reference {
 public:
  Reference(const VitModel& model, const ModelInput& input, std::optional<double> scale)
      : model_(model), config_(model.config), input_(input), grid_(input.grid) {
    scale_ = scale.value_or(1 / std::sqrt(static_cast<double>(config_.head_dim)));
  }

  ReferenceResult Run();

 private:
  Rows Embed() const;
  Row Patch(int index) const;
  Rows PositionRows() const;
  std::vector<Rows> Heads(const Rows& rows, int width) const;
  void Turn(Row& v, int token) const;
  double RelativeBias(const LayerWeights& layer, int head, int query, int key) const;
  ReferenceLayer Block(const LayerWeights& layer, const Rows& tokens) const;
  void Attention(const LayerWeights& layer, ReferenceLayer& result) const;
  Row Mlp(const LayerWeights& layer, const Row& x) const;
  void Outputs(const Rows& last, ReferenceResult& result) const;
  Row PoolHead(const Rows& tokens, Rows& attention) const;
  int Prefix() const { return config_.tokens.num_prefix_tokens(); }

  const VitModel& model_;
  const VitConfig& config_;
  const ModelInput& input_;
  PatchGrid grid_;
  double scale_ = 1;
};

Row Reference::Patch(int index) const {
  const int p = config_.patch_size;
  const int top = index / grid_.cols * p;
  const int left = index % grid_.cols * p;
  const int rows = grid_.rows * p;
  const int cols = grid_.cols * p;
  const auto pixel = [&](int c, int y, int x) {
    return double{
        input_.pixels.values[static_cast<size_t>((c * rows + top + y) * cols + left + x)]};
  };
  Row flat;
  if (!model_.patch_weight.present()) {
    for (int y = 0; y < p; ++y) {
      for (int x = 0; x < p; ++x) {
        for (int c = 0; c < 3; ++c) flat.push_back(pixel(c, y, x));
      }
    }
    return flat;
  }
  for (int c = 0; c < 3; ++c) {
    for (int y = 0; y < p; ++y) {
      for (int x = 0; x < p; ++x) flat.push_back(pixel(c, y, x));
    }
  }
  return Linear({model_.patch_weight, model_.patch_bias}, flat);
}

// A position for each token, zeros where it has none.
Rows Reference::PositionRows() const {
  const auto width = static_cast<size_t>(config_.embed_dim);
  const int num_tokens = config_.tokens.num_tokens(grid_);
  Rows rows(static_cast<size_t>(num_tokens), Row(width, 0.0));
  if (config_.position_cover == PositionCover::kNone) return rows;
  int covered = 0;
  if (config_.position_cover == PositionCover::kAll) covered = Prefix();
  if (config_.position_cover == PositionCover::kPrefixNoRegisters) {
    covered = Prefix() - config_.tokens.num_register_tokens;
  }
  for (int token = 0; token < covered; ++token) {
    rows[static_cast<size_t>(token)] =
        ToRow(model_.position, token * config_.embed_dim, config_.embed_dim);
  }
  MatrixView patches = model_.position.matrix();
  patches.data += covered * patches.stride;
  patches.rows -= covered;
  const ops::GridFilter filters[] = {
      ops::GridFilter::kBicubicAntialias, ops::GridFilter::kBicubic,
      ops::GridFilter::kBicubicOffset,    ops::GridFilter::kBicubicCorners,
      ops::GridFilter::kBilinear,         ops::GridFilter::kBilinearAntialias};
  const bool as_it_is = config_.position_by_count && patches.rows == grid_.num_patches();
  const RowsCols to = {grid_.rows, grid_.cols};
  const Matrix resized = ops::ResizeGrid(patches, as_it_is ? to : config_.position_grid, to,
                                         filters[static_cast<int>(config_.position_resize)]);
  for (int patch = 0; patch < grid_.num_patches(); ++patch) {
    for (size_t c = 0; c < width; ++c) {
      rows[static_cast<size_t>(Prefix() + patch)][c] = resized.at(patch, static_cast<int64_t>(c));
    }
  }
  return rows;
}

Rows Reference::Embed() const {
  const int64_t width = config_.embed_dim;
  Rows tokens;
  if (config_.tokens.has_class_token) tokens.push_back(ToRow(model_.class_token, 0, width));
  if (config_.tokens.has_distillation_token) {
    tokens.push_back(ToRow(model_.distillation_token, 0, width));
  }
  for (int r = 0; r < config_.tokens.num_register_tokens; ++r) {
    tokens.push_back(ToRow(model_.register_tokens, r * width, width));
  }
  for (int patch = 0; patch < grid_.num_patches(); ++patch) tokens.push_back(Patch(patch));
  const Rows positions = PositionRows();
  for (size_t i = 0; i < tokens.size(); ++i) {
    Add(tokens[i], positions[i]);
    tokens[i] = Norm(model_.pre_norm, tokens[i], config_.layer_norm_eps);
  }
  return tokens;
}

std::vector<Rows> Reference::Heads(const Rows& rows, int width) const {
  std::vector<Rows> heads;
  for (int head = 0; head < config_.num_heads; ++head) {
    Rows part;
    for (const Row& row : rows) {
      part.emplace_back(row.begin() + head * width, row.begin() + (head + 1) * width);
    }
    heads.push_back(part);
  }
  return heads;
}

void Reference::Turn(Row& v, int token) const {
  if (config_.rope == RopeKind::kNone || token < Prefix()) return;
  const int row = (token - Prefix()) / grid_.cols;
  const int col = (token - Prefix()) % grid_.cols;
  const int half = config_.head_dim / 2;
  const int quarter = config_.head_dim / 4;
  const Row old = v;
  for (int m = 0; m < half; ++m) {
    const bool is_row = m < quarter;
    const int k = is_row ? m : m - quarter;
    double angle = 0;
    if (config_.rope == RopeKind::kHalf) {
      const double period = model_.rope_periods.present()
                                ? double{model_.rope_periods.data()[k]}
                                : std::pow(config_.rope_theta, 4.0 * k / config_.head_dim);
      const double at =
          is_row ? 2 * (row + 0.5) / grid_.rows - 1 : 2 * (col + 0.5) / grid_.cols - 1;
      angle = 2 * std::numbers::pi * at / period;
    } else {
      const double at = is_row ? 16.0 * row / grid_.rows : 16.0 * col / grid_.cols;
      angle = at * std::pow(config_.rope_theta, -static_cast<double>(k) / quarter);
    }
    const bool halves = config_.rope == RopeKind::kHalf;
    const auto first = static_cast<size_t>(halves ? m : 2 * m);
    const auto second = static_cast<size_t>(halves ? m + half : 2 * m + 1);
    v[first] = old[first] * std::cos(angle) - old[second] * std::sin(angle);
    v[second] = old[second] * std::cos(angle) + old[first] * std::sin(angle);
  }
}

double Reference::RelativeBias(const LayerWeights& layer, int head, int query, int key) const {
  if (!config_.relative_position) return 0;
  const int64_t rows = layer.relative_position.shape()[0];
  int64_t index = 0;
  if (query < Prefix() && key < Prefix()) {
    index = rows - 1;
  } else if (query < Prefix()) {
    index = rows - 3;
  } else if (key < Prefix()) {
    index = rows - 2;
  } else {
    const int q = query - Prefix();
    const int k = key - Prefix();
    const int down = q / grid_.cols - k / grid_.cols + grid_.rows - 1;
    const int right = q % grid_.cols - k % grid_.cols + grid_.cols - 1;
    index = down * (2 * grid_.cols - 1) + right;
  }
  return layer.relative_position.data()[index * config_.num_heads + head];
}

void Reference::Attention(const LayerWeights& layer, ReferenceLayer& result) const {
  const size_t num_tokens = result.tokens.size();
  for (int head = 0; head < config_.num_heads; ++head) {
    const auto h = static_cast<size_t>(head);
    Rows scores;
    Rows weights;
    Rows output;
    for (size_t i = 0; i < num_tokens; ++i) {
      Row raw;
      Row scaled;
      for (size_t j = 0; j < num_tokens; ++j) {
        raw.push_back(Dot(result.query[h][i], result.key[h][j]));
        scaled.push_back(raw.back() * scale_ +
                         RelativeBias(layer, head, static_cast<int>(i), static_cast<int>(j)));
      }
      scores.push_back(raw);
      weights.push_back(Softmax(scaled));
      Row mixed(static_cast<size_t>(config_.value_dim), 0.0);
      for (size_t j = 0; j < num_tokens; ++j) {
        for (size_t c = 0; c < mixed.size(); ++c) {
          mixed[c] += weights.back()[j] * result.value[h][j][c];
        }
      }
      output.push_back(mixed);
    }
    result.scores.push_back(scores);
    result.weights.push_back(weights);
    result.output.push_back(output);
  }
}

Row Reference::Mlp(const LayerWeights& layer, const Row& x) const {
  Row hidden = Linear(layer.fc1, x);
  const bool gated = config_.mlp == MlpKind::kGated;
  const Row gate = gated ? Linear(layer.gate, x) : Row();
  for (size_t i = 0; i < hidden.size(); ++i) {
    hidden[i] = gated ? Activate(config_.activation, gate[i]) * hidden[i]
                      : Activate(config_.activation, hidden[i]);
  }
  return Linear(layer.fc2, Norm(layer.mlp_norm, hidden, config_.layer_norm_eps));
}

ReferenceLayer Reference::Block(const LayerWeights& layer, const Rows& tokens) const {
  const double eps = config_.layer_norm_eps;
  ReferenceLayer result;
  result.tokens = tokens;
  Rows query;
  Rows key;
  Rows value;
  for (const Row& token : tokens) {
    const Row normed = Norm(layer.norm1, token, eps);
    query.push_back(Linear(layer.query, normed));
    key.push_back(Linear(layer.key, normed));
    value.push_back(Linear(layer.value, normed));
  }
  result.query = Heads(query, config_.head_dim);
  result.key = Heads(key, config_.head_dim);
  result.value = Heads(value, config_.value_dim);
  for (size_t h = 0; h < result.query.size(); ++h) {
    for (size_t i = 0; i < tokens.size(); ++i) {
      result.query[h][i] = Norm(layer.query_norm, result.query[h][i], eps);
      result.key[h][i] = Norm(layer.key_norm, result.key[h][i], eps);
      Turn(result.query[h][i], static_cast<int>(i));
      Turn(result.key[h][i], static_cast<int>(i));
    }
  }
  Attention(layer, result);
  for (size_t i = 0; i < tokens.size(); ++i) {
    Row mixed;
    for (const Rows& head : result.output) {
      mixed.insert(mixed.end(), head[i].begin(), head[i].end());
    }
    mixed = Norm(layer.attention_norm, mixed, eps);
    if (layer.output.present()) mixed = Linear(layer.output, mixed);
    if (config_.residual) {
      Row x = tokens[i];
      Add(x, mixed, layer.layer_scale1);
      mixed = x;
    }
    if (config_.mlp != MlpKind::kNone) {
      const Row more = Mlp(layer, Norm(layer.norm2, mixed, eps));
      if (config_.residual) {
        Add(mixed, more, layer.layer_scale2);
      } else {
        mixed = more;
      }
    }
    result.hidden.push_back(mixed);
  }
  return result;
}

Row Reference::PoolHead(const Rows& tokens, Rows& attention) const {
  const PoolWeights& pool = model_.pool;
  const Row query = Linear(pool.query, ToRow(pool.probe, 0, config_.embed_dim));
  const int width = config_.embed_dim / config_.num_heads;
  Row mixed;
  for (int head = 0; head < config_.num_heads; ++head) {
    const auto part = [&](const Row& row) {
      return Row(row.begin() + head * width, row.begin() + (head + 1) * width);
    };
    Row scores;
    for (const Row& token : tokens) {
      scores.push_back(Dot(part(query), part(Linear(pool.key, token))) / std::sqrt(width));
    }
    attention.push_back(Softmax(scores));
    Row sum(static_cast<size_t>(width), 0.0);
    for (size_t i = 0; i < tokens.size(); ++i) {
      const Row value = part(Linear(pool.value, tokens[i]));
      for (size_t c = 0; c < sum.size(); ++c) sum[c] += attention.back()[i] * value[c];
    }
    mixed.insert(mixed.end(), sum.begin(), sum.end());
  }
  Row out = Linear(pool.output, mixed);
  Row hidden = Linear(pool.fc1, Norm(pool.norm, out, config_.layer_norm_eps));
  for (double& v : hidden) v = Activate(config_.activation, v);
  Add(out, Linear(pool.fc2, hidden));
  return out;
}

void Reference::Outputs(const Rows& last, ReferenceResult& result) const {
  const double eps = config_.layer_norm_eps;
  Rows normed;
  for (const Row& row : last) normed.push_back(Norm(model_.norm, row, eps));
  const Rows& base = config_.norm_before_pool ? normed : last;
  result.outputs[OutputKind::kLastHiddenState] = config_.last_hidden_before_norm ? last : normed;
  if (config_.tokens.has_class_token) {
    result.outputs[OutputKind::kClassTokenOutput] = {normed[0]};
  }
  Row mean(last[0].size(), 0.0);
  for (int i = Prefix(); i < static_cast<int>(base.size()); ++i) {
    for (size_t c = 0; c < mean.size(); ++c) {
      mean[c] += base[static_cast<size_t>(i)][c] / grid_.num_patches();
    }
  }
  Row pooled = base[0];
  if (config_.pooling == Pooling::kMeanPatches) pooled = mean;
  if (config_.pooling == Pooling::kClassAndMean) {
    pooled.insert(pooled.end(), mean.begin(), mean.end());
  }
  if (config_.pooling == Pooling::kAttention) {
    Rows attention;
    pooled = PoolHead(base, attention);
    result.outputs[OutputKind::kPoolAttention] = attention;
  }
  if (config_.norm_after_pool) {
    pooled = Norm(model_.fc_norm.present() ? model_.fc_norm : model_.norm, pooled, eps);
  }
  if (model_.head.present()) {
    Row logits = Linear(model_.head, pooled);
    if (config_.pooling == Pooling::kDistilled) {
      Add(logits, Linear(model_.distillation_head, base[1]));
      for (double& v : logits) v /= 2;
    }
    result.outputs[OutputKind::kLogits] = {logits};
  }
  if (model_.projection.present()) {
    result.outputs[OutputKind::kImageEmbedding] = {Linear(model_.projection, pooled)};
  }
}

ReferenceResult Reference::Run() {
  ReferenceResult result;
  Rows tokens = Embed();
  for (const LayerWeights& layer : model_.layers) {
    result.layers.push_back(Block(layer, tokens));
    tokens = result.layers.back().hidden;
  }
  Outputs(tokens, result);
  return result;
}

}  // namespace

ReferenceResult RunReference(const VitModel& model, const ModelInput& input,
                             std::optional<double> score_scale) {
  return Reference(model, input, score_scale).Run();
}

}  // namespace attnmap::test
