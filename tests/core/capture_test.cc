#include "attnmap/core/capture.h"

#include <vector>

#include "support/catch.h"

namespace attnmap {
namespace {

using Floats = std::vector<float>;

// Rows of (head, query): 100 * head + 10 * query + token, over three tokens.
Floats Rows(int head, const std::vector<int>& queries) {
  Floats rows;
  for (int query : queries) {
    for (int token = 0; token < 3; ++token) {
      rows.push_back(static_cast<float>(100 * head + 10 * query + token));
    }
  }
  return rows;
}

AttentionTile Tile(int layer, int head, const std::vector<int>& queries, const Floats& rows) {
  return {layer, head, queries, {rows.data(), static_cast<int64_t>(queries.size()), 3, 3}};
}

}  // namespace

TEST_CASE("Wants say whether anything is asked for") {
  LayerWants wants;
  CHECK_FALSE(wants.any());
  wants.hidden = true;
  CHECK(wants.any());
  wants = {};
  wants.fused = QueryRows::Only({0});
  CHECK(wants.any());
  wants.fused = QueryRows::None();
  CHECK_FALSE(wants.any());
  CHECK_FALSE(OutputWants{}.any());
  CHECK(OutputWants{.logits = true}.any());
  CHECK(QueryRows::None().empty());
  CHECK_FALSE(QueryRows::All().empty());
  CHECK(QueryRows::Only({}).empty());
}

TEST_CASE("U-12 a record asks for its layers alone") {
  CaptureRequest request;
  request.layers = {2, 5};
  request.wants.attention = QueryRows::All();
  request.outputs.logits = true;
  const AttentionRecord record(request);
  CHECK(record.Wants(2).any());
  CHECK(record.Wants(5).attention.all);
  CHECK_FALSE(record.Wants(0).any());
  CHECK_FALSE(record.Wants(3).any());
  CHECK(record.Outputs().logits);
}

TEST_CASE("A record keeps all rows of all heads, in whatever tiles they come") {
  CaptureRequest request;
  request.layers = {1};
  request.wants.attention = QueryRows::All();
  AttentionRecord record(request);
  record.Begin(2, 3);
  CHECK(record.num_heads() == 2);
  CHECK(record.num_tokens() == 3);
  for (int head : {1, 0}) {
    record.OnAttention(Tile(1, head, {2}, Rows(head, {2})));
    record.OnAttention(Tile(1, head, {0, 1}, Rows(head, {0, 1})));
  }
  const Tensor& attention = record.attention(1);
  CHECK(attention.shape == Shape{2, 3, 3});
  CHECK(attention.values == Floats{0, 1, 2, 10, 11, 12, 20, 21, 22,  //
                                   100, 101, 102, 110, 111, 112, 120, 121, 122});
}

TEST_CASE("U-13 a record keeps the heads and queries asked for and no more") {
  CaptureRequest request;
  request.layers = {0, 4};
  request.wants.attention = QueryRows::Only({0, 2});
  request.wants.scores = QueryRows::Only({1});
  request.wants.attention_heads = {3, 1};
  AttentionRecord record(request);
  record.Begin(4, 3);
  for (int layer : {0, 4}) {
    for (int head : {1, 3}) {
      record.OnAttention(Tile(layer, head, {0, 2}, Rows(head, {0, 2})));
      record.OnScores(Tile(layer, head, {1}, Rows(head, {1})));
    }
  }
  CHECK(record.attention(4).shape == Shape{2, 2, 3});
  CHECK(record.attention(4).values ==
        Floats{300, 301, 302, 320, 321, 322, 100, 101, 102, 120, 121, 122});
  CHECK(record.scores(0).shape == Shape{2, 1, 3});
  CHECK(record.scores(0).values == Floats{310, 311, 312, 110, 111, 112});
}

TEST_CASE("A record keeps fused rows, whose head is none") {
  CaptureRequest request;
  request.layers = {0};
  request.wants.fused = QueryRows::All();
  AttentionRecord record(request);
  record.Begin(4, 3);
  record.OnFused(Tile(0, -1, {1, 2}, Rows(0, {1, 2})));
  record.OnFused(Tile(0, -1, {0}, Rows(0, {0})));
  CHECK(record.fused(0).shape == Shape{3, 3});
  CHECK(record.fused(0).values == Floats{0, 1, 2, 10, 11, 12, 20, 21, 22});
}

TEST_CASE("Rows of a tile may lie further apart than they are long") {
  CaptureRequest request;
  request.layers = {0};
  request.wants.attention = QueryRows::All();
  AttentionRecord record(request);
  record.Begin(1, 3);
  const Floats padded = {0, 1, 2, -1, 10, 11, 12, -1, 20, 21, 22, -1};
  const std::vector<int> queries = {0, 1, 2};
  record.OnAttention({0, 0, queries, {padded.data(), 3, 3, 4}});
  CHECK(record.attention(0).values == Floats{0, 1, 2, 10, 11, 12, 20, 21, 22});
}

TEST_CASE("A record keeps whole matrices and outputs, and says when there is none") {
  CaptureRequest request;
  request.layers = {0};
  request.wants.query = true;
  request.outputs.logits = request.outputs.image_embedding = true;
  AttentionRecord record(request);
  record.Begin(1, 3);
  record.OnMatrix(0, LayerMatrix::kQuery, Tensor({1, 1, 2}, {7, 8}));
  record.OnOutput(OutputKind::kLogits, Tensor({2}, {1, 2}));
  CHECK(record.matrix(0, LayerMatrix::kQuery).values == Floats{7, 8});
  REQUIRE(record.output(OutputKind::kLogits) != nullptr);
  CHECK(record.output(OutputKind::kLogits)->values == Floats{1, 2});
  CHECK(record.output(OutputKind::kImageEmbedding) == nullptr);
  CHECK_THROWS(record.attention(0));
  CHECK_THROWS(record.matrix(0, LayerMatrix::kKey));
}

TEST_CASE("U-13 a record begun anew holds nothing of the picture before") {
  CaptureRequest request;
  request.layers = {0};
  request.wants.attention = QueryRows::Only({0});
  request.outputs.logits = true;
  AttentionRecord record(request);
  record.Begin(1, 3);
  record.OnAttention(Tile(0, 0, {0}, Rows(1, {0})));
  record.OnOutput(OutputKind::kLogits, Tensor({1}, {1}));
  record.OnMatrix(0, LayerMatrix::kHidden, Tensor({1, 1}, {1}));
  record.Begin(1, 3);
  CHECK(record.attention(0).values == Floats{0, 0, 0});
  CHECK(record.output(OutputKind::kLogits) == nullptr);
  CHECK_THROWS(record.matrix(0, LayerMatrix::kHidden));
}

}  // namespace attnmap
