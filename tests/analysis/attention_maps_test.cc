#include <cmath>

#include "analysis/fake_encoder.h"
#include "analysis/golden.h"
#include "attnmap/analysis/maps.h"
#include "attnmap/core/error.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using test::Compute;
using test::FakeEncoder;
using test::Fused;
using test::GoldenEncoder;
using test::GoldenRequest;
using test::kClass;
using Kind = ResolvedQuery::Kind;

HeadChoice Heads(std::vector<int> heads) {
  return {HeadChoice::Kind::kList, HeadFusion::kMean, std::move(heads)};
}

const ResolvedQuery kMean{Kind::kMean, 0, "mean"};

TEST_CASE("the class row of the chosen heads becomes a map each, raw, in the order given") {
  const FakeEncoder encoder = GoldenEncoder();
  const auto maps = Compute(GoldenRequest({0, 2}, Heads({3, 1}), kClass), encoder);
  REQUIRE(maps.size() == 4);
  const int layers[] = {0, 0, 2, 2};
  const int heads[] = {3, 1, 3, 1};
  for (size_t m = 0; m < 4; ++m) {
    CHECK(maps[m].layer == layers[m]);
    CHECK(maps[m].head == std::to_string(heads[m]));
    CHECK(maps[m].query == "class");
    REQUIRE(maps[m].values.size() == 64);
    const auto& all = encoder.attention[static_cast<size_t>(layers[m])].values;
    for (size_t j = 0; j < 64; ++j) {
      CHECK(maps[m].values[j] == all[static_cast<size_t>(heads[m]) * 65 * 65 + 1 + j]);
    }
  }
}

TEST_CASE("U-18 heads are fused by mean, max or min, or shown one by one") {
  const FakeEncoder encoder = GoldenEncoder();
  const auto at = [&](int head, int j) {
    return encoder.attention[2].values[static_cast<size_t>((head * 65 + 7) * 65 + 1 + j)];
  };
  const ResolvedQuery patch{Kind::kToken, 7, "patch 0,6"};
  const auto mean = Compute(GoldenRequest({2}, Fused(HeadFusion::kMean), patch), encoder);
  const auto max = Compute(GoldenRequest({2}, Fused(HeadFusion::kMax), patch), encoder);
  const auto min = Compute(GoldenRequest({2}, Fused(HeadFusion::kMin), patch), encoder);
  CHECK(mean.at(0).head == "mean");
  CHECK(max.at(0).head == "max");
  CHECK(min.at(0).head == "min");
  for (int j = 0; j < 64; ++j) {
    const double sum = static_cast<double>(at(0, j)) + at(1, j) + at(2, j) + at(3, j);
    CHECK(mean[0].values[static_cast<size_t>(j)] == Approx(sum / 4).margin(1e-8));
    CHECK(max[0].values[static_cast<size_t>(j)] ==
          std::max(std::max(at(0, j), at(1, j)), std::max(at(2, j), at(3, j))));
    CHECK(min[0].values[static_cast<size_t>(j)] ==
          std::min(std::min(at(0, j), at(1, j)), std::min(at(2, j), at(3, j))));
  }
  HeadChoice all{HeadChoice::Kind::kAll, HeadFusion::kMean, {}};
  CHECK(Compute(GoldenRequest({1}, all, kClass), encoder).size() == 4);
}

TEST_CASE("U-13 a sink asks for the rows it needs and no others") {
  const auto sink = MakeMapSink(GoldenRequest({2}, Fused(HeadFusion::kMean), kClass));
  CHECK_FALSE(sink->Wants(0).any());
  CHECK_FALSE(sink->Wants(1).any());
  CHECK(sink->Wants(2).attention.empty());
  CHECK(sink->Wants(2).fused.tokens == std::vector<int>{0});
  CHECK_FALSE(sink->Outputs().any());

  const auto heads = MakeMapSink(GoldenRequest({1}, Heads({3, 1}), kMean));
  CHECK(heads->Wants(1).attention_heads == std::vector<int>{1, 3});
  CHECK(heads->Wants(1).attention.tokens.size() == 64);
  CHECK(heads->Wants(1).attention.tokens.front() == 1);
}

TEST_CASE("the mean query is the mean over the patch rows, after head fusion") {
  FakeEncoder encoder = GoldenEncoder();
  const auto maps = Compute(GoldenRequest({1}, Fused(HeadFusion::kMax), kMean), encoder);
  REQUIRE(maps.size() == 1);
  for (int j = 0; j < 64; ++j) {
    double sum = 0;
    for (int i = 1; i < 65; ++i) {
      float fused = 0;
      for (int h = 0; h < 4; ++h) {
        fused = std::max(
            fused, encoder.attention[1].values[static_cast<size_t>((h * 65 + i) * 65 + 1 + j)]);
      }
      sum += fused;
    }
    CHECK(maps[0].values[static_cast<size_t>(j)] == Approx(sum / 64).margin(1e-9));
  }
}

TEST_CASE("the mean query gives the same bits for any tiling, order and number of threads") {
  FakeEncoder encoder;
  encoder.attention.push_back(test::RandomAttention(2, 226, 5));
  MapRequest request = GoldenRequest({0}, Heads({0, 1}), kMean);
  request.grid = {15, 15, 8};
  request.num_heads = 2;
  const auto expected = Compute(request, encoder);
  for (int rows : {1, 7, 64, 225}) {
    for (unsigned shuffle : {0U, 1U, 2U}) {
      for (int threads : {1, 3}) {
        encoder.tile_rows = rows;
        encoder.shuffle = shuffle;
        encoder.num_threads = threads;
        const auto maps = Compute(request, encoder);
        CHECK(maps[0].values == expected[0].values);
        CHECK(maps[1].values == expected[1].values);
      }
    }
  }
}

TEST_CASE("U-08 U-09 maps leave out class, distillation and register tokens") {
  FakeEncoder encoder;
  encoder.attention.push_back(test::RandomAttention(1, 6 + 6, 9));
  MapRequest request = GoldenRequest({0}, Heads({0}), kClass);
  request.tokens = {true, true, 4};
  request.grid = {2, 3, 14};
  request.num_heads = 1;
  const auto maps = Compute(request, encoder);
  for (size_t j = 0; j < 6; ++j) CHECK(maps[0].values[j] == encoder.attention[0].values[6 + j]);
}

TEST_CASE("U-10 the pool query takes the probe's row, fused or by head") {
  FakeEncoder encoder;
  encoder.attention.push_back(test::RandomAttention(2, 4, 3));
  encoder.pool_attention = Tensor({2, 4}, {0.1F, 0.2F, 0.3F, 0.4F, 0.7F, 0.1F, 0.1F, 0.1F});
  MapRequest request = GoldenRequest({0}, Fused(HeadFusion::kMax), {Kind::kPool, 0, "pool"});
  request.tokens = {};
  request.grid = {2, 2, 16};
  request.num_heads = 2;
  CHECK(Compute(request, encoder)[0].values == std::vector<float>{0.7F, 0.2F, 0.3F, 0.4F});
  request.heads = Heads({1, 0});
  const auto maps = Compute(request, encoder);
  CHECK(maps.at(0).values == std::vector<float>{0.7F, 0.1F, 0.1F, 0.1F});
  CHECK(maps.at(1).values == std::vector<float>{0.1F, 0.2F, 0.3F, 0.4F});
  CHECK(maps[0].query == "pool");
  const auto sink = MakeMapSink(request);
  CHECK_FALSE(sink->Wants(0).any());
  CHECK(sink->Outputs().pool_attention);
  // A model that gives nothing, or something else, is told apart from a map.
  CHECK_THROWS_AS(sink->Maps(), Error);
}

TEST_CASE("the query all gives a map for each token, the others' columns left out") {
  const FakeEncoder encoder = GoldenEncoder();
  const auto maps = Compute(GoldenRequest({0, 1}, Heads({2}), {Kind::kAll, 0, "all"}), encoder);
  REQUIRE(maps.size() == 2 * 65);
  CHECK(maps[0].query == "class");
  CHECK(maps[1].query == "patch 0,0");
  CHECK(maps[65 + 64].query == "patch 7,7");
  CHECK(maps[65 + 64].layer == 1);
  for (size_t j = 0; j < 64; ++j) {
    CHECK(maps[65 + 10].values[j] == encoder.attention[1].values[(2 * 65 + 10) * 65 + 1 + j]);
  }
}

TEST_CASE("what would not fit the memory limit is refused before the run") {
  MapRequest request = GoldenRequest({0}, Heads({0}), {Kind::kAll, 0, "all"});
  request.memory_limit = 1 << 20;
  CHECK_NOTHROW(MakeMapSink(request));
  request.grid = {64, 64, 8};
  CHECK_THROWS_WITH(MakeMapSink(request),
                    "--query all with 1 maps of 4097 x 4097 attention weights needs 128 MiB, more "
                    "than the limit of 1 MiB: choose a smaller --size");
}

TEST_CASE("an encoder of other sizes than the request's is refused") {
  const auto sink = MakeMapSink(GoldenRequest({0}, Fused(HeadFusion::kMean), kClass));
  CHECK_THROWS_AS(sink->Begin(4, 66), Error);
  CHECK_THROWS_AS(sink->Begin(3, 65), Error);
  CHECK_NOTHROW(sink->Begin(4, 65));
  CHECK_THROWS_AS(MakeMapSink(GoldenRequest({}, Fused(HeadFusion::kMean), kClass)), Error);
}

}  // namespace
}  // namespace attnmap
