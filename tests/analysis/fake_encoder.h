#ifndef ATTNMAP_TESTS_ANALYSIS_FAKE_ENCODER_H_
#define ATTNMAP_TESTS_ANALYSIS_FAKE_ENCODER_H_

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "attnmap/core/capture.h"
#include "attnmap/core/thread_pool.h"

namespace attnmap::test {

// Hands attention that is already known to a sink, as the encoder would: only
// what is asked for, in tiles of some rows, from several threads.
struct FakeEncoder {
  std::vector<Tensor> attention;  // a layer each: (heads, tokens, tokens)
  Tensor pool_attention;          // (heads, tokens)
  int tile_rows = 16;
  int num_threads = 1;
  unsigned shuffle = 0;  // 0: in order

  // What the last run gave, for "asks for no more than it needs".
  std::map<int, int64_t> rows_given;

  int num_heads() const { return static_cast<int>(attention.at(0).shape.at(0)); }
  int num_tokens() const { return static_cast<int>(attention.at(0).shape.at(1)); }

  void Run(AttentionSink& sink) {
    rows_given.clear();
    std::vector<LayerWants> wants;
    for (size_t l = 0; l < attention.size(); ++l) wants.push_back(sink.Wants(static_cast<int>(l)));
    const OutputWants outputs = sink.Outputs();
    sink.Begin(num_heads(), num_tokens());
    ThreadPool pool(num_threads);
    for (size_t l = 0; l < attention.size(); ++l) {
      GiveHeads(sink, static_cast<int>(l), wants[l], pool);
      GiveFused(sink, static_cast<int>(l), wants[l], pool);
    }
    if (outputs.pool_attention) sink.OnOutput(OutputKind::kPoolAttention, pool_attention);
  }

 private:
  MatrixView Head(int layer, int head) const {
    const int64_t n = num_tokens();
    return {attention[static_cast<size_t>(layer)].values.data() + head * n * n, n, n, n};
  }

  std::vector<int> Rows(const QueryRows& rows) const {
    if (!rows.all) return rows.tokens;
    std::vector<int> all;
    for (int i = 0; i < num_tokens(); ++i) all.push_back(i);
    return all;
  }

  // fill(row token, out) makes one row.
  template <typename Fill, typename Give>
  void Tiles(int layer, const QueryRows& wanted, ThreadPool& pool, Fill fill, Give give) {
    const std::vector<int> rows = Rows(wanted);
    rows_given[layer] += static_cast<int64_t>(rows.size());
    std::vector<size_t> starts;
    for (size_t i = 0; i < rows.size(); i += static_cast<size_t>(tile_rows)) starts.push_back(i);
    if (shuffle != 0) std::shuffle(starts.begin(), starts.end(), std::mt19937(shuffle));
    pool.Run(static_cast<int64_t>(starts.size()), [&](int64_t item, int) {
      const size_t begin = starts[static_cast<size_t>(item)];
      const size_t count = std::min(rows.size() - begin, static_cast<size_t>(tile_rows));
      Matrix tile(static_cast<int64_t>(count), num_tokens());
      for (size_t i = 0; i < count; ++i) {
        fill(rows[begin + i], tile.view().row(static_cast<int64_t>(i)));
      }
      give(std::span<const int>(rows).subspan(begin, count), tile);
    });
  }

  void GiveHeads(AttentionSink& sink, int layer, const LayerWants& wants, ThreadPool& pool) {
    if (wants.attention.empty()) return;
    std::vector<int> heads = wants.attention_heads;
    for (int h = 0; heads.empty() && h < num_heads(); ++h) heads.push_back(h);
    for (int head : heads) {
      Tiles(
          layer, wants.attention, pool,
          [&](int token, float* out) {
            std::copy_n(Head(layer, head).row(token), num_tokens(), out);
          },
          [&](std::span<const int> queries, const Matrix& tile) {
            sink.OnAttention({layer, head, queries, tile.view()});
          });
    }
  }

  void GiveFused(AttentionSink& sink, int layer, const LayerWants& wants, ThreadPool& pool) {
    if (wants.fused.empty()) return;
    Tiles(
        layer, wants.fused, pool,
        [&](int token, float* out) {
          for (int j = 0; j < num_tokens(); ++j) {
            float value = Head(layer, 0).at(token, j);
            for (int h = 1; h < num_heads(); ++h) {
              const float other = Head(layer, h).at(token, j);
              if (wants.fusion == HeadFusion::kMean) value += other;
              if (wants.fusion == HeadFusion::kMax) value = std::max(value, other);
              if (wants.fusion == HeadFusion::kMin) value = std::min(value, other);
            }
            if (wants.fusion == HeadFusion::kMean) value /= static_cast<float>(num_heads());
            out[j] = value;
          }
        },
        [&](std::span<const int> queries, const Matrix& tile) {
          sink.OnFused({layer, -1, queries, tile.view()});
        });
  }
};

// Rows of softmax-like weights: positive, each row sums to 1.
inline Tensor RandomAttention(int heads, int tokens, unsigned seed) {
  std::mt19937 random(seed);
  Tensor tensor({heads, tokens, tokens});
  for (int row = 0; row < heads * tokens; ++row) {
    float* values = tensor.values.data() + static_cast<int64_t>(row) * tokens;
    double sum = 0;
    for (int j = 0; j < tokens; ++j) {
      values[j] = static_cast<float>(random() % 1000 + 1);
      sum += values[j];
    }
    for (int j = 0; j < tokens; ++j) values[j] = static_cast<float>(values[j] / sum);
  }
  return tensor;
}

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_ANALYSIS_FAKE_ENCODER_H_
