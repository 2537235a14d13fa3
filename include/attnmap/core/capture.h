#ifndef ATTNMAP_CORE_CAPTURE_H_
#define ATTNMAP_CORE_CAPTURE_H_

#include <map>
#include <span>
#include <vector>

#include "attnmap/core/tensor.h"

namespace attnmap {

// A set of query tokens: none, some (ascending, no doubles) or all.
struct QueryRows {
  bool all = false;
  std::vector<int> tokens;

  static QueryRows None() { return {}; }
  static QueryRows All() { return {true, {}}; }
  static QueryRows Only(std::vector<int> tokens) { return {false, std::move(tokens)}; }
  bool empty() const { return !all && tokens.empty(); }
};

enum class HeadFusion { kMean, kMax, kMin };

// What a sink wants from one layer. Nothing costs anything unless asked for.
struct LayerWants {
  QueryRows attention;               // weights after softmax, per head
  std::vector<int> attention_heads;  // of `attention` and `scores`; empty: all heads
  QueryRows scores;                  // q.k before scaling and bias, per head
  QueryRows fused;                   // weights fused over all heads within the tile loop
  HeadFusion fusion = HeadFusion::kMean;
  bool query = false;  // after bias, q/k norm and RoPE
  bool key = false;
  bool value = false;
  bool tokens = false;  // what enters the layer, before its norm
  bool output = false;  // A.V per head, before the output projection
  bool hidden = false;  // what leaves the block

  bool any() const {
    return !attention.empty() || !scores.empty() || !fused.empty() || query || key || value ||
           tokens || output || hidden;
  }
};

// What a sink wants from behind the blocks.
struct OutputWants {
  bool last_hidden_state = false;
  bool class_token_output = false;
  bool image_embedding = false;
  bool logits = false;
  bool pool_attention = false;
  bool any() const {
    return last_hidden_state || class_token_output || image_embedding || logits || pool_attention;
  }
};

enum class OutputKind {
  kLastHiddenState,   // (tokens, width)
  kClassTokenOutput,  // (width)
  kImageEmbedding,    // (dim)
  kLogits,            // (classes)
  kPoolAttention,     // (heads, tokens)
};

// The matrices of a layer that come whole rather than in tiles.
enum class LayerMatrix {
  kQuery,   // (heads, tokens, head_dim)
  kKey,     // (heads, tokens, head_dim)
  kValue,   // (heads, tokens, value_dim)
  kTokens,  // (tokens, width)
  kOutput,  // (heads, tokens, value_dim)
  kHidden,  // (tokens, width)
};

// Rows of attention weights or scores of one head (or fused over heads: -1).
struct AttentionTile {
  int layer = 0;
  int head = 0;                  // -1: fused
  std::span<const int> queries;  // the query token of each row
  MatrixView rows;               // (queries, tokens), valid for the call only
};

// Receives what it asked for while the encoder runs. The encoder asks Wants
// and Outputs before it starts. Tiles of different rows may arrive from several threads at once,
// in any order; each row of a head arrives exactly once.
class AttentionSink {
 public:
  virtual ~AttentionSink() = default;
  virtual LayerWants Wants(int layer) const = 0;
  virtual OutputWants Outputs() const { return {}; }
  // Called once, before anything else, when sizes are known.
  virtual void Begin(int /*num_heads*/, int /*num_tokens*/) {}
  virtual void OnAttention(const AttentionTile&) {}
  virtual void OnScores(const AttentionTile&) {}
  virtual void OnFused(const AttentionTile&) {}
  // Shapes as LayerMatrix says; from one thread at a time.
  virtual void OnMatrix(int /*layer*/, LayerMatrix, Tensor) {}
  virtual void OnOutput(OutputKind, Tensor) {}
};

// The plain request: the same wants for each of some layers.
struct CaptureRequest {
  std::vector<int> layers;
  LayerWants wants;
  OutputWants outputs;
};

// A sink that keeps all it asked for, of the last picture.
class AttentionRecord : public AttentionSink {
 public:
  explicit AttentionRecord(CaptureRequest request) : request_(std::move(request)) {}

  LayerWants Wants(int layer) const override;
  OutputWants Outputs() const override { return request_.outputs; }
  void Begin(int num_heads, int num_tokens) override;
  void OnAttention(const AttentionTile& tile) override;
  void OnScores(const AttentionTile& tile) override;
  void OnFused(const AttentionTile& tile) override;
  void OnMatrix(int layer, LayerMatrix kind, Tensor tensor) override;
  void OnOutput(OutputKind kind, Tensor tensor) override;

  const CaptureRequest& request() const { return request_; }
  int num_tokens() const { return num_tokens_; }
  int num_heads() const { return num_heads_; }
  // (heads asked for, queries asked for, tokens). REQUIRES: it was asked for.
  const Tensor& attention(int layer) const { return attention_.at(layer); }
  const Tensor& scores(int layer) const { return scores_.at(layer); }
  // (queries asked for, tokens).
  const Tensor& fused(int layer) const { return fused_.at(layer); }
  const Tensor& matrix(int layer, LayerMatrix kind) const { return matrices_.at({layer, kind}); }
  // Null where the model has no such output.
  const Tensor* output(OutputKind kind) const;

 private:
  void Store(std::map<int, Tensor>& into, const QueryRows& rows, const AttentionTile& tile);

  CaptureRequest request_;
  int num_heads_ = 0;
  int num_tokens_ = 0;
  std::map<int, Tensor> attention_;
  std::map<int, Tensor> scores_;
  std::map<int, Tensor> fused_;
  std::map<std::pair<int, LayerMatrix>, Tensor> matrices_;
  std::map<OutputKind, Tensor> outputs_;
};

}  // namespace attnmap

#endif  // ATTNMAP_CORE_CAPTURE_H_
