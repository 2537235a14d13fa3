#include "attnmap/analysis/rollout.h"

#include <algorithm>
#include <cmath>

#include "analysis/fake_encoder.h"
#include "analysis/golden.h"
#include "attnmap/analysis/maps.h"
#include "attnmap/core/error.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using Catch::Matchers::Contains;
using test::Compute;
using test::FakeEncoder;
using test::Fused;
using test::GoldenEncoder;
using test::GoldenRequest;
using test::kClass;
using Kind = ResolvedQuery::Kind;

MapRequest Request(std::vector<int> layers, HeadChoice heads, ResolvedQuery query) {
  MapRequest request = GoldenRequest(std::move(layers), std::move(heads), std::move(query));
  request.method = Method::kRollout;
  return request;
}

TEST_CASE("U-17 rollout of a worked example: rows are normalised, the last layer comes first") {
  // F1 + I = [2 0; 1 2] by rows over 2 and 3; F2 + I = [1 1; 0 2] over 2 and 2.
  const std::vector<float> f1{1, 0, 1, 1};
  const std::vector<float> f2{0, 1, 0, 1};
  const std::vector<MatrixView> layers{{f1.data(), 2, 2, 2}, {f2.data(), 2, 2, 2}};
  std::vector<double> rows{1, 0, 0, 1};
  RollOut(rows, layers);
  // A2 A1 = [.5 .5; 0 1] [1 0; 1/3 2/3]
  CHECK(rows[0] == Approx(2.0 / 3));
  CHECK(rows[1] == Approx(1.0 / 3));
  CHECK(rows[2] == Approx(1.0 / 3));
  CHECK(rows[3] == Approx(2.0 / 3));
}

TEST_CASE("rollout equals the reference for each head fusion") {
  const std::pair<HeadFusion, std::string> cases[] = {
      {HeadFusion::kMean, "mean"}, {HeadFusion::kMax, "max"}, {HeadFusion::kMin, "min"}};
  for (const auto& [fusion, name] : cases) {
    INFO(name);
    const Tensor expected = test::ReadGolden("rollout." + name + ".0", {8, 8});
    const auto maps = Compute(Request({2}, Fused(fusion), kClass), GoldenEncoder());
    REQUIRE(maps.size() == 1);
    CHECK(maps[0].head == name);
    CHECK(maps[0].layer == 2);
    for (size_t j = 0; j < 64; ++j) {
      CHECK(maps[0].values[j] == Approx(expected.values[j]).margin(1e-7));
    }
  }
}

// The largest difference, as a share of the expected map's maximum.
double WorstShare(const PatchMap& map, const std::string& name) {
  const Tensor expected = test::ReadGolden(name, {8, 8});
  double worst = 0;
  double max = 0;
  for (size_t j = 0; j < 64; ++j) {
    worst = std::max(worst, std::abs(static_cast<double>(map.values[j]) - expected.values[j]));
    max = std::max<double>(max, expected.values[j]);
  }
  return worst / max;
}

TEST_CASE("discarding, the published script's numbers and a later start equal the reference") {
  const std::pair<HeadFusion, std::string> fusions[] = {
      {HeadFusion::kMean, "mean"}, {HeadFusion::kMax, "max"}, {HeadFusion::kMin, "min"}};
  for (const auto& [fusion, name] : fusions) {
    MapRequest request = Request({2}, Fused(fusion), kClass);
    for (const std::string ratio : {"0.0", "0.5", "0.9"}) {
      INFO(name << " " << ratio);
      request.options.discard_ratio = std::stod(ratio);
      request.options.compat = RolloutCompat::kNone;
      const std::string ours = ratio == "0.0" ? "0" : ratio;
      CHECK(WorstShare(Compute(request, GoldenEncoder()).at(0), "rollout." + name + "." + ours) <
            1e-6);
      request.options.compat = RolloutCompat::kVitExplain;
      const auto script = Compute(request, GoldenEncoder());
      CHECK(WorstShare(script.at(0), "vit_explain." + name + "." + ratio) < 2e-6);
      CHECK(*std::max_element(script[0].values.begin(), script[0].values.end()) == 1);
    }
  }
  MapRequest request = Request({2}, Fused(HeadFusion::kMean), kClass);
  request.options.start_layer = 1;
  CHECK(WorstShare(Compute(request, GoldenEncoder()).at(0), "rollout.mean.0.start1") < 1e-6);
}

TEST_CASE("of equal weights those that come first are discarded, the class column is spared") {
  // N = 3, 4 of 9 go: 0 and 0.1 at places 1, 2, then of three 0.2 at 3, 4, 8 the first two.
  const std::vector<float> f{0.7F, 0.0F, 0.1F, 0.2F, 0.2F, 0.6F, 0.5F, 0.3F, 0.2F};
  const std::vector<MatrixView> layer{{f.data(), 3, 3, 3}};
  std::vector<double> rows{1, 0, 0, 0, 1, 0, 0, 0, 1};
  RollOut(rows, layer, {RolloutCompat::kNone, 4.0 / 9 + 1e-9, 0});
  const double expected[] = {1, 0, 0, 0.2 / 1.8, 1 / 1.8, 0.6 / 1.8, 0.25, 0.15, 0.6};
  for (size_t i = 0; i < 9; ++i) CHECK(rows[i] == Approx(expected[i]).margin(1e-7));
  std::vector<double> spared_none{0, 1, 0};
  RollOut(spared_none, layer, {RolloutCompat::kNone, 4.0 / 9 + 1e-9, -1});
  CHECK(spared_none[0] == 0);
}

TEST_CASE("rollout starts no later than the last layer; vit-explain needs a class token") {
  MapRequest request = Request({0, 2}, Fused(HeadFusion::kMean), kClass);
  request.options.start_layer = 1;
  CHECK_THROWS_WITH(MakeMapSink(request),
                    "--start-layer 1 lies behind layer 0, the last one multiplied");
  request.options = {.compat = RolloutCompat::kVitExplain};
  request.tokens = {};
  request.query = {Kind::kMean, 0, "mean"};
  CHECK_THROWS_WITH(MakeMapSink(request), Contains("class token"));
}

TEST_CASE("every query's rollout is a row of the whole matrix, the mean query their mean") {
  const Tensor expected = test::ReadGolden("rollout_matrix.mean.0", {65, 65});
  const auto fused = Fused(HeadFusion::kMean);
  const auto all = Compute(Request({2}, fused, {Kind::kAll, 0, "all"}), GoldenEncoder());
  REQUIRE(all.size() == 65);
  const auto one = Compute(Request({2}, fused, {Kind::kToken, 12, "patch 1,3"}), GoldenEncoder());
  const auto mean = Compute(Request({2}, fused, {Kind::kMean, 0, "mean"}), GoldenEncoder());
  CHECK(all[12].query == "patch 1,3");
  for (size_t j = 0; j < 64; ++j) {
    double sum = 0;
    for (size_t i = 0; i < 65; ++i) {
      const double value = expected.values[i * 65 + 1 + j];
      CHECK(all[i].values[j] == Approx(value).margin(1e-7));
      if (i > 0) sum += value;
    }
    CHECK(one[0].values[j] == all[12].values[j]);
    CHECK(mean[0].values[j] == Approx(sum / 64).margin(1e-7));
  }
}

TEST_CASE("every row of a rollout sums to 1, whatever the fusion") {
  std::vector<Tensor> fused;
  for (unsigned l = 0; l < 5; ++l) {
    fused.push_back(test::RandomAttention(1, 23, l));
    for (float& value : fused.back().values) value *= 1.0F + static_cast<float>(l);  // as max would
  }
  std::vector<MatrixView> layers;
  for (const Tensor& tensor : fused) layers.push_back({tensor.values.data(), 23, 23, 23});
  std::vector<double> rows(23 * 23);
  for (size_t i = 0; i < 23; ++i) rows[i * 24] = 1;
  RollOut(rows, layers);
  for (size_t i = 0; i < 23; ++i) {
    double sum = 0;
    for (size_t j = 0; j < 23; ++j) sum += rows[i * 23 + j];
    CHECK(sum == Approx(1).margin(1e-12));
  }
}

TEST_CASE("the layer chosen is the last one multiplied, a chosen head is followed alone") {
  const FakeEncoder encoder = GoldenEncoder();
  HeadChoice head{HeadChoice::Kind::kList, HeadFusion::kMean, {2}};
  const auto maps = Compute(Request({0, 1}, head, kClass), encoder);
  REQUIRE(maps.size() == 2);
  std::vector<MatrixView> layers;
  for (size_t l = 0; l < 2; ++l) {
    layers.push_back({encoder.attention[l].values.data() + 2 * 65 * 65, 65, 65, 65});
    std::vector<double> row(65);
    row[0] = 1;
    RollOut(row, layers);
    for (size_t j = 0; j < 64; ++j) CHECK(maps[l].values[j] == static_cast<float>(row[1 + j]));
  }
  const auto sink = MakeMapSink(Request({1}, head, kClass));
  CHECK(sink->Wants(0).attention.all);
  CHECK(sink->Wants(1).attention.tokens == std::vector<int>{0});  // only this row is read
  CHECK(sink->Wants(1).attention_heads == std::vector<int>{2});
  CHECK_FALSE(sink->Wants(2).any());
}

TEST_CASE("the pooling probe's row is rolled out from the last layer down") {
  FakeEncoder encoder = GoldenEncoder();
  encoder.pool_attention = Tensor({4, 65});
  for (size_t h = 0; h < 4; ++h) encoder.pool_attention.values[h * 65 + 12] = 1;
  const auto fused = Fused(HeadFusion::kMean);
  const auto pool = Compute(Request({2}, fused, {Kind::kPool, 0, "pool"}), encoder);
  const auto patch = Compute(Request({2}, fused, {Kind::kToken, 12, "patch 1,3"}), encoder);
  CHECK(pool.at(0).values == patch.at(0).values);
}

TEST_CASE("rollout that would not fit the memory limit is refused before the run") {
  MapRequest request = Request({11}, Fused(HeadFusion::kMean), kClass);
  request.grid = {128, 128, 8};
  CHECK_THROWS_WITH(MakeMapSink(request),
                    "rollout through 12 matrices of 16385 x 16385 attention weights needs 12290 "
                    "MiB, more than the limit of 2048 MiB: choose a smaller --size");
}

}  // namespace
}  // namespace attnmap
