#include "analysis/fused_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "analysis/discard.h"
#include "analysis/roll_layer.h"
#include "attnmap/core/thread_pool.h"
#include "support/catch.h"

namespace attnmap {
namespace {

constexpr int kHeads = 3;
constexpr int kTokens = 61;
constexpr int kDim = 5;
constexpr float kScale = 0.4F;

Tensor Random(unsigned seed) {
  std::mt19937 random(seed);
  Tensor tensor({kHeads, kTokens, kDim});
  for (float& value : tensor.values) value = static_cast<float>(random() % 2001) / 1000 - 1;
  return tensor;
}

// softmax(scale q.k) of one head and row, in double.
std::vector<double> ReferenceRow(const Tensor& query, const Tensor& key, int head, int row) {
  std::vector<double> weights;
  double sum = 0;
  for (int j = 0; j < kTokens; ++j) {
    double score = 0;
    for (int c = 0; c < kDim; ++c) {
      score += static_cast<double>(
                   query.values[static_cast<size_t>((head * kTokens + row) * kDim + c)]) *
               key.values[static_cast<size_t>((head * kTokens + j) * kDim + c)];
    }
    weights.push_back(std::exp(static_cast<double>(kScale) * score));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

// All bands, one under the other.
Matrix Whole(FusedRows& rows, ThreadPool& pool) {
  Matrix whole(rows.num_tokens(), rows.num_tokens());
  for (int64_t begin = 0; begin < rows.num_tokens(); begin += rows.rows_per_band()) {
    const MatrixView band = rows.Band(begin, pool);
    for (int64_t i = 0; i < band.rows; ++i) {
      std::copy_n(band.row(i), band.cols, whole.view().row(begin + i));
    }
  }
  return whole;
}

TEST_CASE("weights computed again are softmax of the scores, fused or of one head") {
  const Tensor query = Random(1);
  const Tensor key = Random(2);
  ThreadPool pool(2);
  for (const int head : {-1, 2}) {
    for (const HeadFusion fusion : {HeadFusion::kMean, HeadFusion::kMax, HeadFusion::kMin}) {
      RecomputedRows rows({&query, &key, kScale, head, fusion}, 1, pool);
      CHECK(rows.rows_per_band() == 24);
      const Matrix whole = Whole(rows, pool);
      RecomputedRows at_once({&query, &key, kScale, head, fusion}, 1 << 20, pool);
      CHECK(at_once.rows_per_band() >= kTokens);
      CHECK(Whole(at_once, pool).values() == whole.values());
      for (int i = 0; i < kTokens; i += 7) {
        std::vector<double> expected = ReferenceRow(query, key, std::max(head, 0), i);
        for (int h = 1; h < kHeads && head < 0; ++h) {
          const std::vector<double> other = ReferenceRow(query, key, h, i);
          for (size_t j = 0; j < expected.size(); ++j) {
            if (fusion == HeadFusion::kMean) expected[j] += other[j];
            if (fusion == HeadFusion::kMax) expected[j] = std::max(expected[j], other[j]);
            if (fusion == HeadFusion::kMin) expected[j] = std::min(expected[j], other[j]);
          }
        }
        const double share = head < 0 && fusion == HeadFusion::kMean ? kHeads : 1;
        for (int j = 0; j < kTokens; ++j) {
          CHECK(whole.at(i, j) == Approx(expected[static_cast<size_t>(j)] / share).margin(1e-7));
        }
      }
    }
  }
}

TEST_CASE("the smallest entries are found exactly, ties by their place") {
  std::mt19937 random(3);
  Matrix matrix(40, 40);
  const int distinct = GENERATE(2, 17, 1000000);
  for (float& value : matrix.values()) {
    value = static_cast<float>(static_cast<int>(random()) & 0xFFFFF) / 1048576.0F;
    value = std::floor(value * static_cast<float>(distinct)) / static_cast<float>(distinct);
  }
  std::vector<float> sorted = matrix.values();
  std::sort(sorted.begin(), sorted.end());
  ThreadPool pool(3);
  for (const int64_t count : {1, 5, 799, 800, 1599, 1600}) {
    KeptRows rows(matrix.view());
    const Smallest found = FindSmallest(rows, count, pool);
    const float expected = sorted[static_cast<size_t>(count - 1)];
    CHECK(found.threshold == expected);
    const auto below = std::lower_bound(sorted.begin(), sorted.end(), expected) - sorted.begin();
    CHECK(found.ties == count - below);
  }
  KeptRows rows(matrix.view());
  CHECK(FindSmallest(rows, 0, pool).ties == 0);
}

TEST_CASE("a rollout is the same to the bit for any bands and threads, kept or computed again") {
  const Tensor query = Random(4);
  const Tensor key = Random(5);
  ThreadPool one(1);
  ThreadPool three(3);
  const QueriesAndKeys from{&query, &key, kScale, -1, HeadFusion::kMean};
  RecomputedRows at_once(from, 1 << 20, one);
  const Matrix whole = Whole(at_once, one);
  for (const double ratio : {0.0, 0.3, 0.9}) {
    for (const RolloutCompat compat : {RolloutCompat::kNone, RolloutCompat::kVitExplain}) {
      const RolloutRule rule{compat, ratio, 0};
      std::vector<double> kept(size_t{11} * kTokens);
      for (size_t i = 0; i < 11; ++i) kept[i * kTokens + 5 * i] = 1;
      std::vector<double> again = kept;
      KeptRows rows(whole.view());
      RollLayer(rows, rule, one, kept);
      RecomputedRows banded(from, 1, three);
      RollLayer(banded, rule, three, again);
      CHECK(kept == again);
      if (compat != RolloutCompat::kNone) continue;
      for (size_t i = 0; i < 11; ++i) {
        const auto row = kept.begin() + static_cast<std::ptrdiff_t>(i * kTokens);
        CHECK(std::accumulate(row, row + kTokens, 0.0) == Approx(1).margin(1e-12));
      }
    }
  }
}

}  // namespace
}  // namespace attnmap
