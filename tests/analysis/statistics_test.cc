#include "attnmap/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "analysis/exact_sum.h"
#include "analysis/fake_encoder.h"
#include "analysis/golden.h"
#include "analysis/row_statistics.h"
#include "attnmap/core/error.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using test::FakeEncoder;

const HeadChoice kAllHeads{HeadChoice::Kind::kAll, HeadFusion::kMean, {}};

StatisticsRequest RequestFor(const FakeEncoder& encoder, TokenLayout tokens, PatchGrid grid) {
  StatisticsRequest request;
  for (size_t layer = 0; layer < encoder.attention.size(); ++layer) {
    request.layers.push_back(static_cast<int>(layer));
  }
  request.heads = kAllHeads;
  if (tokens.has_class_token) request.query_token = tokens.class_token();
  request.tokens = tokens;
  request.grid = grid;
  request.num_heads = encoder.num_heads();
  return request;
}

// Runs the sink; each layer's output is `hidden`, or all ones where that is empty.
std::vector<HeadStatistics> Compute(const StatisticsRequest& request, FakeEncoder encoder,
                                    const Tensor& hidden = {}) {
  const auto sink = MakeStatisticsSink(request);
  encoder.Run(*sink);
  Tensor ones({encoder.num_tokens(), 2});
  std::fill(ones.values.begin(), ones.values.end(), 1.0F);
  for (int layer : request.layers) {
    sink->OnMatrix(layer, LayerMatrix::kHidden, hidden.shape.empty() ? ones : hidden);
  }
  return sink->Records();
}

FakeEncoder OneHead(int num_tokens, std::vector<float> weights) {
  FakeEncoder encoder;
  encoder.attention.push_back(Tensor({1, num_tokens, num_tokens}, std::move(weights)));
  return encoder;
}

FakeEncoder Golden() {
  FakeEncoder encoder;
  for (int l = 0; l < 3; ++l) {
    encoder.attention.push_back(test::ReadGolden("attention." + std::to_string(l), {4, 65, 65}));
  }
  return encoder;
}

TEST_CASE("entropy and distance of every head are the reference's") {
  const FakeEncoder encoder = Golden();
  const auto records = Compute(RequestFor(encoder, {true, false, 0}, {8, 8, 8}), encoder);
  const Tensor entropy = test::ReadGolden("entropy", {3, 4});
  const Tensor distance = test::ReadGolden("distance", {3, 4});
  REQUIRE(records.size() == 12);
  for (size_t i = 0; i < 12; ++i) {
    CHECK(records[i].layer == static_cast<int>(i) / 4);
    CHECK(records[i].head == static_cast<int>(i) % 4);
    CHECK(records[i].entropy == Approx(entropy.values[i]).margin(1e-5));
    CHECK(records[i].distance == Approx(distance.values[i]).margin(1e-5));
  }
}

TEST_CASE("equal weights: entropy ln N, half the patches hold half, the distance of all pairs") {
  const TokenLayout tokens{true, false, 3};
  const PatchGrid grid{4, 6, 14};
  const int n = tokens.num_tokens(grid);
  const FakeEncoder encoder =
      OneHead(n, std::vector<float>(static_cast<size_t>(n) * n, 1.0F / static_cast<float>(n)));
  const HeadStatistics record = Compute(RequestFor(encoder, tokens, grid), encoder).at(0);
  CHECK(record.entropy == Approx(std::log(28.0)).epsilon(1e-7));
  CHECK(record.entropy == Approx(UniformEntropy(tokens, grid)).epsilon(1e-7));
  CHECK(record.distance == Approx(UniformDistance(tokens, grid)).epsilon(1e-7));
  double pairs = 0;
  for (int i = 0; i < 24; ++i) {
    for (int j = 0; j < 24; ++j) pairs += 14 * std::hypot(i / 6 - j / 6, i % 6 - j % 6);
  }
  CHECK(UniformDistance(tokens, grid) == Approx(pairs / 24 / 28).epsilon(1e-12));
  CHECK(record.class_mass.value() == Approx(1.0 / 28).epsilon(1e-7));
  CHECK(record.register_mass.value() == Approx(3.0 / 28).epsilon(1e-7));
  CHECK(record.patches_50 == 0.5);
  CHECK(record.patches_90 == Approx(22.0 / 24));  // 21.6 of 24
  CHECK(record.outlier_share == 0);
  CHECK(record.outlier_mass.value() == 0);
}

TEST_CASE("one-hot weights: entropy 0, one patch holds all") {
  // No prefix token; each token looks at the patch right of it, round a ring of 5.
  std::vector<float> weights(25, 0);
  for (size_t i = 0; i < 5; ++i) weights[i * 5 + (i + 1) % 5] = 1;
  const FakeEncoder encoder = OneHead(5, weights);
  const HeadStatistics record = Compute(RequestFor(encoder, {}, {1, 5, 16}), encoder).at(0);
  CHECK(record.entropy == 0);
  CHECK(record.distance == Approx((4 * 1 + 4) * 16 / 5.0));
  CHECK(record.patches_50 == 0.2);
  CHECK(record.patches_90 == 0.2);
  CHECK_FALSE(record.class_mass);
  CHECK_FALSE(record.register_mass);
  CHECK_FALSE(record.outlier_mass);
}

TEST_CASE("a class token, a register and two by two patches of 10 pixels, by hand") {
  // Columns: class, register, then patches 0 1 / 2 3.
  const FakeEncoder encoder = OneHead(6, {0.1F, 0.1F, 0.2F, 0.2F, 0.3F, 0.1F,    // class
                                          1.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F,    // register
                                          0.2F, 0.1F, 0.4F, 0.1F, 0.1F, 0.1F,    // patch 0
                                          0.1F, 0.1F, 0.2F, 0.2F, 0.2F, 0.2F,    // patch 1
                                          0.3F, 0.3F, 0.0F, 0.4F, 0.0F, 0.0F,    // patch 2
                                          0.5F, 0.5F, 0.0F, 0.0F, 0.0F, 0.0F});  // patch 3
  Tensor hidden({6, 1}, {500, 900, 1, 1.1F, 0.9F, 50});
  const HeadStatistics record =
      Compute(RequestFor(encoder, {true, false, 1}, {2, 2, 10}), encoder, hidden).at(0);
  const double diagonal = 10 * std::sqrt(2.0);
  // Patch 0 gives 0.1 each to its right, below and across; patch 1 gives 0.2
  // each; patch 2 gives 0.4 across to patch 1; patch 3 nothing to patches.
  CHECK(record.distance ==
        Approx((0.1 * (20 + diagonal) + 0.2 * (20 + diagonal) + 0.4 * diagonal + 0) / 4)
            .epsilon(1e-6));
  CHECK(record.class_mass.value() == Approx((0.2 + 0.1 + 0.3 + 0.5) / 4).epsilon(1e-6));
  CHECK(record.register_mass.value() == Approx((0.1 + 0.1 + 0.3 + 0.5) / 4).epsilon(1e-6));
  // Of patch 0's 0.7: 0.4 is half, 0.6 not yet 90 %. Of patch 1's four equal
  // ones: two, four. Patch 2: one. Patch 3 has no mass to hold.
  CHECK(record.patches_50 == (1 + 2 + 1 + 0) / 16.0);
  CHECK(record.patches_90 == (4 + 4 + 1 + 0) / 16.0);
  double entropy = 0;
  for (float w : encoder.attention[0].values) entropy -= w > 0 ? w * std::log(double{w}) : 0;
  CHECK(record.entropy == Approx(entropy / 6).epsilon(1e-9));
  // Patch 3 has the norm of none of the others; the class token gives it 0.1.
  CHECK(record.outlier_share == 0.25);
  CHECK(record.outlier_mass.value() == Approx(0.1));
}

TEST_CASE("the mass on outliers is that of the token asked for, or none") {
  FakeEncoder encoder;
  encoder.attention.push_back(test::RandomAttention(2, 7, 11));
  StatisticsRequest request = RequestFor(encoder, {true, false, 0}, {2, 3, 16});
  request.query_token = 4;
  Tensor hidden({7, 1}, {9, 1, 70, 1.5F, 2, 80, 1.2F});
  const auto records = Compute(request, encoder, hidden);
  for (int head = 0; head < 2; ++head) {
    const float* row = encoder.attention[0].values.data() + (head * 7 + 4) * 7;
    CHECK(records[static_cast<size_t>(head)].outlier_mass.value() == double{row[2]} + row[5]);
    CHECK(records[static_cast<size_t>(head)].outlier_share == Approx(2.0 / 6));
  }
  request.query_token.reset();
  CHECK_FALSE(Compute(request, encoder, hidden)[0].outlier_mass);
}

TEST_CASE("statistics are the same to the bit for any tiling, order and number of threads") {
  FakeEncoder encoder;
  encoder.attention.push_back(test::RandomAttention(2, 226, 5));
  const StatisticsRequest request = RequestFor(encoder, {true, false, 0}, {15, 15, 8});
  const auto expected = Compute(request, encoder);
  for (int rows : {1, 7, 64, 226}) {
    for (unsigned shuffle : {0U, 1U, 2U}) {
      for (int threads : {1, 3}) {
        encoder.tile_rows = rows;
        encoder.shuffle = shuffle;
        encoder.num_threads = threads;
        const auto records = Compute(request, encoder);
        for (size_t i = 0; i < 2; ++i) {
          CHECK(records[i].entropy == expected[i].entropy);
          CHECK(records[i].distance == expected[i].distance);
          CHECK(records[i].class_mass == expected[i].class_mass);
          CHECK(records[i].patches_50 == expected[i].patches_50);
          CHECK(records[i].patches_90 == expected[i].patches_90);
        }
      }
    }
  }
}

TEST_CASE("the fewest weights that hold a share, as sorting all of them finds") {
  std::mt19937 random(3);
  Concentration concentration;
  for (int n : {1, 2, 9, 196, 1000}) {
    for (double spread : {0.0, 1.0, 12.0}) {
      std::vector<float> weights;
      for (int i = 0; i < n; ++i) {
        weights.push_back(static_cast<float>(std::exp(-spread * (random() % 1000) / 100.0)));
      }
      concentration.Look(weights);
      std::vector<float> sorted = weights;
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      const double total = std::accumulate(sorted.begin(), sorted.end(), 0.0);
      for (double share : {0.5, 0.9}) {
        int64_t count = 0;
        for (double held = 0; held < share * total * (1 - 1e-12); ++count) {
          held += sorted[static_cast<size_t>(count)];
        }
        CAPTURE(n, spread, share);
        CHECK(concentration.CountHolding(share) == count);
      }
    }
  }
  const std::vector<float> tenths(10, 0.1F);
  concentration.Look(tenths);
  CHECK(concentration.CountHolding(0.9) == 9);  // though 0.1 and 0.9 are no binary fractions
  const std::vector<float> nothing(10, 0);
  concentration.Look(nothing);
  CHECK(concentration.CountHolding(0.9) == 0);
}

TEST_CASE("an exact sum does not depend on the order and is off by less than 2^-50 of the most") {
  std::mt19937 random(1);
  std::vector<double> values;
  for (int i = 0; i < 5000; ++i) values.push_back(std::ldexp(random(), -32) * 9);
  ExactSum sum(9, 5000);
  for (double value : values) sum.Add(value);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 5000;
  CHECK(sum.Mean(5000) == Approx(mean).epsilon(1e-14));
  std::shuffle(values.begin(), values.end(), random);
  ExactSum parts = sum.Empty();
  for (size_t begin = 0; begin < values.size(); begin += 700) {
    ExactSum part = sum.Empty();
    for (size_t i = begin; i < std::min(begin + 700, values.size()); ++i) part.Add(values[i]);
    parts.Add(part);
  }
  CHECK(parts.Mean(5000) == sum.Mean(5000));
  ExactSum zero(0, 1);  // one token: entropy and distance can only be 0
  zero.Add(0);
  CHECK(zero.Mean(1) == 0);
}

TEST_CASE("statistics ask for the layers and heads chosen, and refuse what does not fit") {
  const FakeEncoder encoder = Golden();
  StatisticsRequest request = RequestFor(encoder, {true, false, 0}, {8, 8, 8});
  request.layers = {1};
  request.heads = {HeadChoice::Kind::kList, HeadFusion::kMean, {3, 1}};
  const auto sink = MakeStatisticsSink(request);
  CHECK_FALSE(sink->Wants(0).any());
  CHECK(sink->Wants(1).attention.all);
  CHECK(sink->Wants(1).attention_heads == std::vector<int>{1, 3});
  CHECK(sink->Wants(1).hidden);
  CHECK_THROWS_AS(sink->Begin(4, 66), Error);
  const auto records = Compute(request, encoder);
  REQUIRE(records.size() == 2);
  CHECK(records[0].head == 3);
  CHECK(records[1].head == 1);
  request.heads = {};  // fused
  CHECK_THROWS_AS(MakeStatisticsSink(request), Error);
  request.heads = kAllHeads;
  request.layers.clear();
  CHECK_THROWS_AS(MakeStatisticsSink(request), Error);
}

}  // namespace
}  // namespace attnmap
