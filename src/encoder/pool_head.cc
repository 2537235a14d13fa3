#include "encoder/pool_head.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attnmap/ops/linear.h"
#include "attnmap/ops/softmax.h"
#include "encoder/activation_of.h"
#include "encoder/vectors.h"

namespace attnmap::encoder {
namespace {

// The one query meets keys only through q.k = (W_k^T q).z + b_k.q, so each
// head's W_k^T q is formed once instead of a key for each token.
struct KeyFold {
  Matrix weight;            // (heads, D)
  std::vector<float> bias;  // (heads)
};

KeyFold FoldQuery(const PoolWeights& pool, const std::vector<float>& query, int64_t heads) {
  const MatrixView key = pool.key.weight.matrix();
  const int64_t head_dim = key.rows / heads;
  KeyFold fold{Matrix(heads, key.cols), std::vector<float>(static_cast<size_t>(heads))};
  for (int64_t head = 0; head < heads; ++head) {
    float* to = fold.weight.view().row(head);
    for (int64_t row = head * head_dim; row < (head + 1) * head_dim; ++row) {
      const float q = query[static_cast<size_t>(row)];
      for (int64_t c = 0; c < key.cols; ++c) to[c] += q * key.at(row, c);
      if (pool.key.bias.present()) {
        fold.bias[static_cast<size_t>(head)] += q * pool.key.bias.data()[row];
      }
    }
  }
  return fold;
}

// (heads, tokens), from (tokens, heads) scores, the softmax taken on the way.
Tensor WeightsOf(const Matrix& scores, float scale) {
  const int64_t heads = scores.cols();
  const int64_t tokens = scores.rows();
  Tensor weights({heads, tokens});
  std::vector<float> row(static_cast<size_t>(ops::PanelPadded(tokens)));
  for (int64_t head = 0; head < heads; ++head) {
    for (int64_t token = 0; token < tokens; ++token) {
      row[static_cast<size_t>(token)] = scores.at(token, head);
    }
    const auto room = static_cast<int64_t>(row.size());
    ops::SoftmaxRows({row.data(), 1, tokens, room}, scale, {});
    std::copy_n(row.begin(), tokens, weights.values.begin() + head * tokens);
  }
  return weights;
}

// A.V of each head, heads concatenated. Weights sum to 1, so the mean of the
// values is the value of the mean: one product a head instead of one a token.
std::vector<float> Context(const PoolWeights& pool, const Tensor& attention, MatrixView tokens) {
  const int64_t heads = attention.shape[0];
  const MatrixView value = pool.value.weight.matrix();
  const int64_t head_dim = value.rows / heads;
  std::vector<float> context(static_cast<size_t>(value.rows));
  for (int64_t head = 0; head < heads; ++head) {
    std::vector<float> mean(static_cast<size_t>(tokens.cols));
    for (int64_t token = 0; token < tokens.rows; ++token) {
      const float weight = attention.values[static_cast<size_t>(head * tokens.rows + token)];
      const float* row = tokens.row(token);
      for (size_t c = 0; c < mean.size(); ++c) mean[c] += weight * row[c];
    }
    const int64_t begin = head * head_dim;
    const float* bias = pool.value.bias.present() ? pool.value.bias.data() + begin : nullptr;
    ops::Linear(AsRow(mean), MatrixView{value.row(begin), head_dim, value.cols, value.stride}, bias,
                {}, {context.data() + begin, 1, head_dim, head_dim});
  }
  return context;
}

}  // namespace

PoolResult RunPoolHead(const VitModel& model, MatrixView tokens, bool want_pooled) {
  const PoolWeights& pool = model.pool;
  const int64_t heads = model.config.num_heads;
  const std::vector<float> probe(pool.probe.values().begin(), pool.probe.values().end());
  const std::vector<float> query = Apply(pool.query, probe);
  const KeyFold fold = FoldQuery(pool, query, heads);
  Matrix scores(tokens.rows, heads);
  ops::Linear(tokens, fold.weight.view(), fold.bias.data(), {}, scores.view());
  const int64_t head_dim = static_cast<int64_t>(query.size()) / heads;
  PoolResult result{WeightsOf(scores, 1.0F / std::sqrt(static_cast<float>(head_dim))), {}};
  if (!want_pooled) return result;
  result.pooled = Apply(pool.output, Context(pool, result.attention, tokens));
  if (!pool.fc1.present()) return result;
  ops::Epilogue activate;
  activate.activation = ActivationOf(model.config.activation);
  ops::Epilogue residual;
  residual.residual = AsRow(std::as_const(result.pooled));
  const std::vector<float> normed = Apply(pool.norm, result.pooled, model.config.layer_norm_eps);
  result.pooled = Apply(pool.fc2, Apply(pool.fc1, normed, activate), residual);
  return result;
}

}  // namespace attnmap::encoder
