#include "attnmap/core/capture.h"

#include <algorithm>
#include <cstring>

namespace attnmap {
namespace {

int64_t CountRows(const QueryRows& rows, int num_tokens) {
  return rows.all ? num_tokens : static_cast<int64_t>(rows.tokens.size());
}

int64_t RowOf(const QueryRows& rows, int token) {
  if (rows.all) return token;
  return std::lower_bound(rows.tokens.begin(), rows.tokens.end(), token) - rows.tokens.begin();
}

}  // namespace

LayerWants AttentionRecord::Wants(int layer) const {
  const auto& layers = request_.layers;
  const bool wanted = std::find(layers.begin(), layers.end(), layer) != layers.end();
  return wanted ? request_.wants : LayerWants{};
}

void AttentionRecord::Begin(int num_heads, int num_tokens) {
  num_heads_ = num_heads;
  num_tokens_ = num_tokens;
  for (auto* kept : {&attention_, &scores_, &fused_}) kept->clear();
  matrices_.clear();
  outputs_.clear();
  const LayerWants& wants = request_.wants;
  const int64_t heads = wants.attention_heads.empty()
                            ? num_heads
                            : static_cast<int64_t>(wants.attention_heads.size());
  for (int layer : request_.layers) {
    if (!wants.attention.empty()) {
      attention_[layer] = Tensor({heads, CountRows(wants.attention, num_tokens), num_tokens});
    }
    if (!wants.scores.empty()) {
      scores_[layer] = Tensor({heads, CountRows(wants.scores, num_tokens), num_tokens});
    }
    if (!wants.fused.empty()) {
      fused_[layer] = Tensor({CountRows(wants.fused, num_tokens), num_tokens});
    }
  }
}

void AttentionRecord::Store(std::map<int, Tensor>& into, const QueryRows& rows,
                            const AttentionTile& tile) {
  Tensor& tensor = into.at(tile.layer);
  const int64_t num_rows = tensor.shape[tensor.shape.size() - 2];
  int64_t head = 0;
  if (tile.head >= 0) {
    const auto& heads = request_.wants.attention_heads;
    head = heads.empty() ? tile.head
                         : std::find(heads.begin(), heads.end(), tile.head) - heads.begin();
  }
  for (int64_t i = 0; i < tile.rows.rows; ++i) {
    const int64_t row = head * num_rows + RowOf(rows, tile.queries[static_cast<size_t>(i)]);
    std::memcpy(tensor.values.data() + row * num_tokens_, tile.rows.row(i),
                static_cast<size_t>(num_tokens_) * sizeof(float));
  }
}

void AttentionRecord::OnAttention(const AttentionTile& tile) {
  Store(attention_, request_.wants.attention, tile);
}

void AttentionRecord::OnScores(const AttentionTile& tile) {
  Store(scores_, request_.wants.scores, tile);
}

void AttentionRecord::OnFused(const AttentionTile& tile) {
  Store(fused_, request_.wants.fused, tile);
}

void AttentionRecord::OnMatrix(int layer, LayerMatrix kind, Tensor tensor) {
  matrices_[{layer, kind}] = std::move(tensor);
}

void AttentionRecord::OnOutput(OutputKind kind, Tensor tensor) {
  outputs_[kind] = std::move(tensor);
}

const Tensor* AttentionRecord::output(OutputKind kind) const {
  const auto it = outputs_.find(kind);
  return it == outputs_.end() ? nullptr : &it->second;
}

}  // namespace attnmap
