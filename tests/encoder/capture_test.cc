// What a sink gets: no more than it asked for, and always the same numbers.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "attnmap/core/error.h"
#include "encoder/record.h"
#include "encoder/variants.h"
#include "support/catch.h"

namespace attnmap::test {
namespace {

struct Fixture {
  Variant variant;
  VitModel model = MakeRandomModel(variant.config, variant.parts, 7);
  ModelInput input = MakeRandomInput(variant.grid, 8);
  PreparedModel prepared{model};
  int num_tokens = variant.config.tokens.num_tokens(variant.grid);

  explicit Fixture(Variant v = PlainVariant()) : variant(std::move(v)) {}
};

// A model whose tokens fill several tiles and blocks of keys.
Fixture Large() {
  Fixture f;
  f.variant.grid = {26, 25, 4};
  f.input = MakeRandomInput(f.variant.grid, 8);
  f.num_tokens = f.variant.config.tokens.num_tokens(f.variant.grid);
  return f;
}

// Every number of two records.
void CheckSame(const AttentionRecord& a, const AttentionRecord& b, int num_layers) {
  for (int layer = 0; layer < num_layers; ++layer) {
    INFO("layer " << layer);
    CHECK(a.attention(layer).values == b.attention(layer).values);
    CHECK(a.scores(layer).values == b.scores(layer).values);
    CHECK(a.fused(layer).values == b.fused(layer).values);
    CHECK(a.matrix(layer, LayerMatrix::kHidden).values ==
          b.matrix(layer, LayerMatrix::kHidden).values);
  }
  CHECK(a.output(OutputKind::kLogits)->values == b.output(OutputKind::kLogits)->values);
}

TEST_CASE("rows of attention sum to 1 and are not negative") {
  const Fixture f = Large();
  const AttentionRecord record = Encode(f.prepared, f.input, Everything(3));
  const auto n = static_cast<size_t>(f.num_tokens);
  for (int layer = 0; layer < 3; ++layer) {
    const std::vector<float>& weights = record.attention(layer).values;
    for (size_t row = 0; row < weights.size() / n; ++row) {
      double sum = 0;
      for (size_t j = 0; j < n; ++j) {
        REQUIRE(weights[row * n + j] >= 0.0F);
        sum += weights[row * n + j];
      }
      REQUIRE(sum == Approx(1.0).margin(1e-5));
    }
  }
}

TEST_CASE("one, two and three threads give the same bits") {
  const Fixture small;
  const Fixture large = Large();
  for (const Fixture* f : {&small, &large}) {
    const AttentionRecord one = Encode(f->prepared, f->input, Everything(3), 1);
    CheckSame(one, Encode(f->prepared, f->input, Everything(3), 2), 3);
    CheckSame(one, Encode(f->prepared, f->input, Everything(3), 3), 3);
  }
}

TEST_CASE("threads that share products give the same bits, in float32 and bfloat16") {
  const Fixture f(WideVariant());
  const PreparedModel rounded(f.model, true, Precision::kBfloat16);
  for (const PreparedModel* model : {&f.prepared, &rounded}) {
    const AttentionRecord one = Encode(*model, f.input, Everything(3), 1);
    for (const int threads : {2, 3, 8}) {
      CheckSame(one, Encode(*model, f.input, Everything(3), threads), 3);
    }
    const auto n = static_cast<size_t>(f.num_tokens);
    for (const int threads : {1, 4}) {
      CaptureRequest request = RowsOf(2, QueryRows::Only({0, 5}));
      const AttentionRecord chosen = Encode(*model, f.input, request, threads);
      for (size_t head = 0; head < 9; ++head) {
        const float* all = &one.attention(2).values[head * n * n];
        const float* two = &chosen.attention(2).values[head * 2 * n];
        CHECK(std::equal(two, two + n, all));
        CHECK(std::equal(two + n, two + 2 * n, all + 5 * n));
      }
    }
  }
}

TEST_CASE("packed and plain weights give the same bits") {
  const Fixture f;
  const PreparedModel packed(f.model, true);
  CheckSame(Encode(f.prepared, f.input, Everything(3)), Encode(packed, f.input, Everything(3)), 3);
}

TEST_CASE("U-13 nothing is left over from one image to the next") {
  const Fixture f;
  const AttentionRecord first = Encode(f.prepared, f.input, Everything(3));
  const Fixture large = Large();
  Encode(f.prepared, large.input, Everything(3));
  Encode(f.prepared, MakeRandomInput({2, 3, 4}, 5), Everything(3), 2);
  CheckSame(first, Encode(f.prepared, f.input, Everything(3)), 3);
}

TEST_CASE("stopping early gives the rows that a whole run gives") {
  const Fixture small;
  const Fixture large = Large();
  for (const Fixture* f : {&small, &large}) {
    const AttentionRecord whole = Encode(f->prepared, f->input, Everything(3));
    for (int layer = 0; layer < 3; ++layer) {
      const AttentionRecord early = Encode(f->prepared, f->input, RowsOf(layer, QueryRows::All()));
      CHECK(early.attention(layer).values == whole.attention(layer).values);
    }
  }
}

TEST_CASE("chosen rows and heads are those of the whole matrix") {
  const Fixture f = Large();
  const AttentionRecord whole = Encode(f.prepared, f.input, Everything(3));
  const auto n = static_cast<size_t>(f.num_tokens);
  const std::vector<int> tokens = {0, 1, 47, 48, 300, f.num_tokens - 1};
  for (int layer : {0, 2}) {
    for (bool go_on : {false, true}) {
      CaptureRequest request = RowsOf(layer, QueryRows::Only(tokens));
      request.wants.scores = QueryRows::Only({1, 299, 300});
      request.wants.fused = QueryRows::Only({5});
      request.wants.attention_heads = {2, 0};
      request.outputs.logits = go_on;
      const AttentionRecord record = Encode(f.prepared, f.input, request, 2);
      for (size_t h = 0; h < 2; ++h) {
        const size_t head = h == 0 ? 2 : 0;
        for (size_t i = 0; i < tokens.size(); ++i) {
          const auto token = static_cast<size_t>(tokens[i]);
          const float* expected = &whole.attention(layer).values[(head * n + token) * n];
          const float* found = &record.attention(layer).values[(h * tokens.size() + i) * n];
          REQUIRE(std::equal(expected, expected + n, found));
        }
        const float* scores = &whole.scores(layer).values[(head * n + 299) * n];
        REQUIRE(std::equal(scores, scores + n, &record.scores(layer).values[(h * 3 + 1) * n]));
      }
      const float* fused = &whole.fused(layer).values[5 * n];
      REQUIRE(std::equal(fused, fused + n, record.fused(layer).values.begin()));
      if (go_on) {
        CHECK(record.output(OutputKind::kLogits)->values ==
              whole.output(OutputKind::kLogits)->values);
      }
    }
  }
}

TEST_CASE("outputs asked for alone are those of a whole run") {
  for (const Variant& variant : AllVariants()) {
    INFO(variant.name);
    const PreparedModel model(MakeRandomModel(variant.config, variant.parts, 7));
    const ModelInput input = MakeRandomInput(variant.grid, 8);
    const AttentionRecord whole = Encode(model, input, Everything(variant.config.num_layers));
    for (int which = 0; which < 5; ++which) {
      CaptureRequest request;
      bool* wants[] = {&request.outputs.last_hidden_state, &request.outputs.class_token_output,
                       &request.outputs.image_embedding, &request.outputs.logits,
                       &request.outputs.pool_attention};
      *wants[which] = true;
      const auto kind = static_cast<OutputKind>(which);
      const AttentionRecord record = Encode(model, input, request);
      REQUIRE((record.output(kind) == nullptr) == (whole.output(kind) == nullptr));
      if (record.output(kind) != nullptr) {
        CHECK(record.output(kind)->values == whole.output(kind)->values);
      }
    }
  }
}

// Counts what arrives, and where.
class CountingSink : public AttentionSink {
 public:
  explicit CountingSink(CaptureRequest request) : request_(std::move(request)) {}
  LayerWants Wants(int layer) const override {
    const auto& layers = request_.layers;
    return std::find(layers.begin(), layers.end(), layer) != layers.end() ? request_.wants
                                                                          : LayerWants{};
  }
  OutputWants Outputs() const override { return request_.outputs; }
  void OnAttention(const AttentionTile& tile) override { Count("attention", tile); }
  void OnScores(const AttentionTile& tile) override { Count("scores", tile); }
  void OnFused(const AttentionTile& tile) override { Count("fused", tile); }
  void OnMatrix(int, LayerMatrix, Tensor) override { ++others; }
  void OnOutput(OutputKind, Tensor) override { ++others; }

  std::multiset<std::string> rows;
  int others = 0;

 private:
  void Count(const std::string& what, const AttentionTile& tile) {
    const std::lock_guard<std::mutex> lock(mutex_);
    REQUIRE(static_cast<int64_t>(tile.queries.size()) == tile.rows.rows);
    for (int token : tile.queries) {
      rows.insert(what + " " + std::to_string(tile.layer) + " " + std::to_string(tile.head) + " " +
                  std::to_string(token));
    }
  }
  CaptureRequest request_;
  std::mutex mutex_;
};

TEST_CASE("each row of each head arrives once, and nothing that was not asked for") {
  const Fixture f;
  CaptureRequest request = RowsOf(1, QueryRows::Only({0, 3, 4, 9}));
  request.wants.attention_heads = {1};
  request.wants.fused = QueryRows::Only({4});
  CountingSink sink(request);
  ThreadPool pool(2);
  f.prepared.Encode(f.input, sink, pool);
  const std::multiset<std::string> expected = {
      "attention 1 1 0", "attention 1 1 3", "attention 1 1 4", "attention 1 1 9", "fused 1 -1 4"};
  CHECK(sink.rows == expected);
  CHECK(sink.others == 0);

  CountingSink nothing(CaptureRequest{});
  f.prepared.Encode(f.input, nothing, pool);
  CHECK(nothing.rows.empty());
  CHECK(nothing.others == 0);
}

TEST_CASE("several threads may encode with one model at once") {
  const Fixture f;
  const AttentionRecord expected = Encode(f.prepared, f.input, Everything(3));
  std::atomic<int> same{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const ModelInput other = MakeRandomInput({2 + i, 5, 4}, 3);
      for (int round = 0; round < 3; ++round) {
        Encode(f.prepared, other, Everything(3));
        const AttentionRecord record = Encode(f.prepared, f.input, Everything(3));
        if (record.attention(2).values == expected.attention(2).values) ++same;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(same == 12);
}

std::string MessageOf(const PreparedModel& model, const ModelInput& input,
                      const CaptureRequest& request) {
  try {
    Encode(model, input, request);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("what does not fit is refused in words") {
  Fixture f;
  const auto contains = [](const std::string& text, const std::string& part) {
    INFO(text);
    return text.find(part) != std::string::npos;
  };
  CaptureRequest request = RowsOf(0, QueryRows::Only({f.num_tokens}));
  CHECK(contains(MessageOf(f.prepared, f.input, request), "query token 13 was asked for"));
  request = RowsOf(0, QueryRows::All());
  request.wants.attention_heads = {3};
  CHECK(contains(MessageOf(f.prepared, f.input, request), "head 3 was asked for, there are 3"));
  const ModelInput other = MakeRandomInput({3, 4, 5}, 1);
  CHECK(contains(MessageOf(f.prepared, other, request), "expected patches of 4 pixels"));
  ModelInput broken = f.input;
  broken.pixels.shape = {3, 8, 16};
  CHECK(contains(MessageOf(f.prepared, broken, request), "expected pixels 3 x 12 x 16"));

  VitModel fixed = f.model;
  fixed.config.position_grid = {0, 0};
  request.wants.attention_heads = {};
  CHECK(MessageOf(PreparedModel(fixed), f.input, request).empty());
  const ModelInput wide = MakeRandomInput({3, 5, 4}, 1);
  CHECK(contains(MessageOf(PreparedModel(fixed), wide, request),
                 "positions: expected 16 rows for a grid of 3 x 5 patches, found 13"));

  VitModel wrong = f.model;
  wrong.layers[1].fc1.weight = SharedTensor(Tensor({40, 23}));
  CHECK_THROWS_WITH(PreparedModel(wrong),
                    "model: layer 1 fc1.weight: expected 40 x 24, found 40 x 23");
  wrong = f.model;
  wrong.class_token = {};
  CHECK_THROWS_WITH(PreparedModel(wrong), "model: class token: expected 24, found nothing");
}

}  // namespace
}  // namespace attnmap::test
