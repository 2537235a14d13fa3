#include "attnmap/analysis/explain.h"

#include <cmath>
#include <limits>
#include <random>

#include "attnmap/core/error.h"
#include "support/catch.h"

namespace attnmap {
namespace {

TEST_CASE("the textbook example, step by step") {
  const std::vector<float> query{1, 0};
  const std::vector<float> keys{1, 0, 0, 1, 1, 1};
  ExplainInput input{query, {keys.data(), 3, 2, 2}, {keys.data(), 3, 2, 2}, {}, 1 / std::sqrt(2.0)};
  const RowExplanation row = ExplainRow(input);
  REQUIRE(row.strongest.size() == 3);
  CHECK(row.strongest[0].token == 0);  // a tie with 2: the earlier first
  CHECK(row.strongest[1].token == 2);
  CHECK(row.strongest[2].token == 1);
  CHECK(row.strongest[0].score == 1);
  CHECK(row.strongest[0].scaled == Approx(0.7071).margin(1e-4));
  CHECK(row.strongest[0].exponential == 1);
  CHECK(row.strongest[0].weight == Approx(0.4011).margin(1e-4));
  CHECK(row.strongest[2].exponential == Approx(std::exp(-0.70711)).margin(1e-4));
  CHECK(row.strongest[2].weight == Approx(0.1978).margin(1e-4));
  CHECK(row.max_scaled == Approx(0.7071).margin(1e-4));
  CHECK(row.sum == Approx(2 + std::exp(-0.70711)).margin(1e-4));
  REQUIRE(row.blended.size() == 2);
  CHECK(row.blended[0] == Approx(0.8022).margin(1e-4));
  CHECK(row.blended[1] == Approx(0.5989).margin(1e-4));
  CHECK(row.top_weight == row.strongest[0].weight);
  CHECK(row.max_entropy == Approx(std::log(3.0)));
  // Without the scaling the weights are further apart.
  CHECK(row.unscaled_top_weight == Approx(1 / (2 + std::exp(-1.0))));
  CHECK(row.unscaled_entropy < row.entropy);
  CHECK(row.entropy < row.max_entropy);
}

TEST_CASE("softmax of [2, 1, 0] and of [20, 10, 0]") {
  const std::vector<float> query{1};
  const std::vector<float> keys{2, 1, 0};
  ExplainInput input{query, {keys.data(), 3, 1, 1}, {keys.data(), 3, 1, 1}, {}, 1};
  const RowExplanation row = ExplainRow(input);
  CHECK(row.strongest[0].weight == Approx(0.6652).margin(1e-4));
  CHECK(row.strongest[1].weight == Approx(0.2447).margin(1e-4));
  CHECK(row.strongest[2].weight == Approx(0.0900).margin(1e-4));
  input.scale = 10;
  const RowExplanation sharp = ExplainRow(input);
  CHECK(sharp.strongest[0].weight == Approx(0.99995).margin(1e-5));
  CHECK(sharp.strongest[1].weight == Approx(4.54e-5).epsilon(1e-3));
  CHECK(sharp.strongest[2].weight == Approx(2.06e-9).epsilon(1e-3));
}

TEST_CASE("weights sum to 1 over all keys, and equal a float32 softmax to 1e-5") {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  constexpr int kTokens = 197;
  constexpr int kDim = 64;
  std::vector<float> query(kDim), keys(kTokens * kDim), bias(kTokens);
  for (float& v : query) v = 2 * normal(random);
  for (float& v : keys) v = 2 * normal(random);
  for (float& v : bias) v = normal(random);
  ExplainInput input{
      query,  {keys.data(), kTokens, kDim, kDim}, {keys.data(), kTokens, kDim, kDim}, bias, 1.0 / 8,
      kTokens};
  const RowExplanation row = ExplainRow(input);
  std::vector<float> weights(kTokens);
  float max = -std::numeric_limits<float>::infinity();
  for (size_t t = 0; t < kTokens; ++t) {
    for (size_t i = 0; i < kDim; ++i) weights[t] += query[i] * keys[t * kDim + i];
    weights[t] = weights[t] / 8 + bias[t];
    max = std::max(max, weights[t]);
  }
  float sum = 0;
  for (float& w : weights) sum += w = std::exp(w - max);
  double total = 0;
  double previous = 1;
  for (const ExplainedKey& key : row.strongest) {
    CHECK(key.weight == Approx(weights[static_cast<size_t>(key.token)] / sum).margin(1e-5));
    CHECK(key.weight <= previous);
    previous = key.weight;
    total += key.weight;
  }
  CHECK(total == Approx(1).margin(1e-12));
}

TEST_CASE("scores far beyond exp's range neither overflow nor give NaN") {
  const std::vector<float> query{1000};
  const std::vector<float> keys{1000, -1000};
  const RowExplanation row =
      ExplainRow({query, {keys.data(), 2, 1, 1}, {keys.data(), 2, 1, 1}, {}, 1});
  CHECK(row.strongest[0].weight == 1);
  CHECK(row.strongest[1].weight == 0);
  CHECK(row.entropy == 0);
}

TEST_CASE("explain refuses shapes that do not fit and numbers that are none") {
  const std::vector<float> query{1, 2};
  std::vector<float> keys{1, 0, 0, 1};
  CHECK_THROWS_AS(ExplainRow({query, {keys.data(), 4, 1, 1}, {keys.data(), 4, 1, 1}, {}, 1}),
                  Error);
  CHECK_THROWS_AS(ExplainRow({query, {keys.data(), 2, 2, 2}, {keys.data(), 1, 2, 2}, {}, 1}),
                  Error);
  CHECK_THROWS_AS(ExplainRow({query, {keys.data(), 0, 2, 2}, {keys.data(), 0, 2, 2}, {}, 1}),
                  Error);
  keys[1] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(ExplainRow({query, {keys.data(), 2, 2, 2}, {keys.data(), 2, 2, 2}, {}, 1}),
                    "attention of one query: the score of token 0 is not a finite number");
}

}  // namespace
}  // namespace attnmap
