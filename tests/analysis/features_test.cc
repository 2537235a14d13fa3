// Methods that read features rather than weights alone.

#include <algorithm>
#include <cmath>
#include <random>

#include "analysis/principal_components.h"
#include "analysis/symmetric_eigen.h"
#include "analysis/value_norm.h"
#include "attnmap/analysis/maps.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using Catch::Matchers::Contains;
using Kind = ResolvedQuery::Kind;

Tensor Random(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor tensor(shape);
  for (float& value : tensor.values) value = static_cast<float>(random() % 2001) / 1000 - 1;
  return tensor;
}

MapRequest Request(Method method, ResolvedQuery query) {
  MapRequest request;
  request.method = method;
  request.layers = {1};
  request.query = std::move(query);
  request.tokens.has_class_token = true;
  request.grid = {2, 3, 8};
  request.num_heads = 2;
  return request;
}

TEST_CASE("the Gram form is the norm of the blended vectors") {
  const int tokens = 35;
  const Tensor values = Random({3, tokens, 4}, 1);
  const Tensor projection = Random({7, 12}, 2);
  ThreadPool pool(2);
  for (const bool projected : {true, false}) {
    const MatrixView output =
        projected ? MatrixView{projection.values.data(), 7, 12, 12} : MatrixView{};
    const Tensor gram = ValueGram(values, output, pool);
    REQUIRE(gram.shape == Shape{tokens, 3, 3});
    const std::vector<float> weights{0.2F, 0.5F, 0.05F};
    for (int token = 0; token < tokens; ++token) {
      const Matrix vectors = TransformedValues(values, output, token);
      REQUIRE(vectors.cols() == (projected ? 7 : 12));
      double square = 0;
      for (int64_t c = 0; c < vectors.cols(); ++c) {
        double sum = 0;
        for (int h = 0; h < 3; ++h)
          sum += static_cast<double>(weights[static_cast<size_t>(h)]) * vectors.at(h, c);
        square += sum * sum;
      }
      CHECK(FusedNorm(weights, gram.values.data() + token * 9) ==
            Approx(std::sqrt(square)).epsilon(1e-5));
    }
  }
}

TEST_CASE("a head's vector is its value times its columns of the output projection") {
  Tensor values({2, 1, 1}, {3, 4});
  const float weight[] = {1, 2, -1, 0};  // (width 2, heads 2)
  const Matrix vectors = TransformedValues(values, {weight, 2, 2, 2}, 0);
  CHECK(vectors.values() == std::vector<float>{3, -3, 8, 0});
  CHECK_THROWS_WITH(TransformedValues(values, {weight, 1, 3, 3}, 0), Contains("do not fit"));
}

TEST_CASE("value-norm maps: heads added before the norm, or a head's own, or the largest") {
  MapRequest request = Request(Method::kValueNorm, {Kind::kToken, 0, "class"});
  const Tensor values = Random({2, 7, 3}, 3);
  const Tensor weights = Random({2, 1, 7}, 4);
  const auto compute = [&](HeadChoice heads) {
    request.heads = std::move(heads);
    const auto sink = MakeMapSink(request);
    CHECK(sink->Wants(1).value);
    CHECK(sink->Wants(1).attention.tokens == std::vector<int>{0});
    CHECK_FALSE(sink->Wants(0).any());
    sink->Begin(2, 7);
    const std::vector<int> queries{0};
    for (int head = 0; head < 2; ++head) {
      sink->OnAttention({1, head, queries, {weights.values.data() + head * 7, 1, 7, 7}});
    }
    sink->OnMatrix(1, LayerMatrix::kValue, values);
    return sink->Maps().at(0).values;
  };
  const auto mean = compute({});
  const auto max = compute({HeadChoice::Kind::kFused, HeadFusion::kMax, {}});
  const auto min = compute({HeadChoice::Kind::kFused, HeadFusion::kMin, {}});
  const auto second = compute({HeadChoice::Kind::kList, HeadFusion::kMean, {1}});
  for (size_t j = 0; j < 6; ++j) {
    double norms[2];
    for (size_t h = 0; h < 2; ++h) {
      double square = 0;
      for (size_t c = 0; c < 3; ++c) square += std::pow(values.values[(h * 7 + j + 1) * 3 + c], 2);
      norms[h] = weights.values[h * 7 + j + 1] * std::sqrt(square);
    }
    // Without an output projection heads stand in columns of their own.
    CHECK(mean[j] == Approx(std::hypot(norms[0], norms[1])).epsilon(1e-5));
    CHECK(max[j] == Approx(std::max(norms[0], norms[1])).margin(1e-6));
    CHECK(min[j] == Approx(std::min(norms[0], norms[1])).margin(1e-6));
    CHECK(second[j] == Approx(norms[1]).margin(1e-6));
  }
  request.query = {Kind::kPool, 0, "pool"};
  CHECK_THROWS_WITH(MakeMapSink(request), Contains("pool"));
}

TEST_CASE("similarity is the cosine to the chosen patch, of outputs or of all heads' keys") {
  MapRequest request = Request(Method::kSimilarity, {Kind::kToken, 3, "patch 0,2"});
  const Tensor hidden = Random({7, 5}, 5);
  const auto sink = MakeMapSink(request);
  CHECK(sink->Wants(1).hidden);
  CHECK_FALSE(sink->Wants(1).key);
  sink->OnMatrix(1, LayerMatrix::kHidden, hidden);
  const PatchMap map = sink->Maps().at(0);
  CHECK(map.head.empty());
  CHECK(map.values[2] == Approx(1).margin(1e-6));
  for (size_t j = 0; j < 6; ++j) {
    double dot = 0, a = 0, b = 0;
    for (size_t c = 0; c < 5; ++c) {
      const double x = hidden.values[3 * 5 + c];
      const double y = hidden.values[(j + 1) * 5 + c];
      dot += x * y;
      a += x * x;
      b += y * y;
    }
    CHECK(map.values[j] == Approx(dot / std::sqrt(a * b)).margin(1e-6));
  }
  request.options.features = Features::kKeys;
  request.query = {Kind::kAll, 0, "all"};
  const auto keys = MakeMapSink(request);
  CHECK(keys->Wants(1).key);
  // Two heads of one number each: the angle between (3, 4) and (4, 3).
  keys->OnMatrix(1, LayerMatrix::kKey,
                 Tensor({2, 7, 1}, {3, 4, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0}));
  const auto maps = keys->Maps();
  REQUIRE(maps.size() == 7);
  CHECK(maps[0].values[0] == Approx(24.0 / 25));
  CHECK(maps[0].values[1] == 0);  // no direction
  request.query = {Kind::kMean, 0, "mean"};
  CHECK_THROWS_WITH(MakeMapSink(request), Contains("one token"));
}

TEST_CASE("eigenvectors of a small matrix worked by hand") {
  const EigenSystem system = SymmetricEigen({2, 1, 1, 2}, 2);
  CHECK(system.values[0] == Approx(3));
  CHECK(system.values[1] == Approx(1));
  CHECK(std::abs(system.vectors[0][0]) == Approx(std::sqrt(0.5)));
  CHECK(system.vectors[1][0] * system.vectors[1][1] == Approx(-0.5));
}

TEST_CASE("principal components: eigenvectors of the covariance, orthogonal, the largest first") {
  std::mt19937 random(6);
  const int rows = GENERATE(40, 300);
  const int cols = GENERATE(2, 9, 120);
  Samples samples{rows, cols, {}};
  for (int i = 0; i < rows * cols; ++i) {
    samples.values.push_back(static_cast<double>(random() % 1000) / (1 + i % cols) + i % cols);
  }
  const PrincipalComponents found = FindComponents(samples, 3);
  REQUIRE(found.directions.size() == static_cast<size_t>(std::min(cols, 3)));
  std::vector<double> mean(static_cast<size_t>(cols));
  for (size_t i = 0; i < samples.values.size(); ++i) {
    mean[i % static_cast<size_t>(cols)] += samples.values[i] / rows;
  }
  double whole = 0;
  for (size_t i = 0; i < samples.values.size(); ++i) {
    whole += std::pow(samples.values[i] - mean[i % static_cast<size_t>(cols)], 2);
  }
  for (size_t k = 0; k < found.directions.size(); ++k) {
    const auto& direction = found.directions[k];
    const auto& scores = found.scores[k];
    double variance = 0;
    for (double score : scores) variance += score * score;
    CHECK(found.shares[k] == Approx(variance / whole).epsilon(1e-9));
    if (k > 0) CHECK(found.shares[k] <= found.shares[k - 1]);
    // C v = lambda v.
    for (size_t c = 0; c < direction.size(); ++c) {
      double product = 0;
      for (size_t i = 0; i < scores.size(); ++i) {
        product += scores[i] * (samples.values[i * direction.size() + c] - mean[c]);
      }
      CHECK(product == Approx(variance * direction[c]).margin(1e-9 * whole));
    }
    const auto largest =
        std::max_element(direction.begin(), direction.end(),
                         [](double a, double b) { return std::abs(a) < std::abs(b); });
    CHECK(*largest > 0);
  }
}

TEST_CASE("principal components of samples that do not differ, or lie on a line") {
  const PrincipalComponents none = FindComponents({4, 3, std::vector<double>(12, 2.5)}, 3);
  for (double share : none.shares) CHECK(share == 0);
  const PrincipalComponents line = FindComponents({3, 2, {0, 0, 3, 4, 6, 8}}, 3);
  CHECK(line.shares[0] == Approx(1));
  CHECK(line.directions[0][0] == Approx(0.6));
  CHECK(line.directions[0][1] == Approx(0.8));
  CHECK(line.scores[0][2] == Approx(5));
}

TEST_CASE("pca: three components as colours, the foreground alone where it is asked for") {
  MapRequest request = Request(Method::kPca, {Kind::kToken, 0, "class"});
  const auto sink = MakeMapSink(request);
  CHECK(sink->Outputs().last_hidden_state);
  Tensor tokens({7, 3});
  tokens.values = {90, 90, 90, 0, 0, 0, 10, 1, 0, 20, 0, 1, 30, 1, 1, 40, 0, 0, 50, 2, 0};
  sink->OnOutput(OutputKind::kLastHiddenState, tokens);
  const PatchMap map = sink->Maps().at(0);
  REQUIRE(map.colours.size() == 18);
  CHECK(map.head.empty());
  for (size_t j = 0; j < 6; ++j) {
    CHECK(map.colours[j] == map.values[j]);
    CHECK(map.values[j] == Approx(static_cast<double>(j) / 5).margin(0.02));
  }
  for (size_t channel = 0; channel < 3; ++channel) {
    const auto first = map.colours.begin() + static_cast<std::ptrdiff_t>(6 * channel);
    CHECK(*std::min_element(first, first + 6) == 0);
    CHECK(*std::max_element(first, first + 6) == 1);
  }
  CHECK_THAT(sink->Notes().at(0), Contains("100 % of the variance"));

  request.options.foreground = {0.3, false};
  const auto part = MakeMapSink(request);
  part->OnOutput(OutputKind::kLastHiddenState, tokens);
  const PatchMap front = part->Maps().at(0);
  CHECK(front.shown == std::vector<uint8_t>{0, 0, 1, 1, 1, 1});
  CHECK(std::isnan(front.values[0]));
  CHECK(std::isnan(front.colours[6 + 1]));
  CHECK(front.values[2] == 0);
  request.options.foreground = {0.3, true};
  const auto few = MakeMapSink(request);
  few->OnOutput(OutputKind::kLastHiddenState, tokens);
  CHECK_THROWS_WITH(few->Maps(), Contains("leaves 2 of 6 patches"));
}

}  // namespace
}  // namespace attnmap
