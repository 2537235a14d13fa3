#include "attnmap/analysis/maps.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "analysis/golden.h"
#include "support/catch.h"

namespace attnmap {
namespace {

PatchMap Map(int rows, int cols, std::vector<float> values) {
  PatchMap map;
  map.grid = {rows, cols, 16};
  map.values = std::move(values);
  return map;
}

TEST_CASE("a mass mask worked by hand") {
  // Ascending .1 .2 .3 .4, cumulated .1 .3 .6 1: above 1 - .5 are .3 and .4.
  CHECK(MassMask(Map(2, 2, {0.3F, 0.1F, 0.4F, 0.2F}), 0.5) == std::vector<uint8_t>{1, 0, 1, 0});
  CHECK(MassMask(Map(2, 2, {3, 1, 4, 2}), 0.39) == std::vector<uint8_t>{0, 0, 1, 0});
  CHECK(MassMask(Map(2, 2, {3, 1, 4, 2}), 1) == std::vector<uint8_t>{1, 1, 1, 1});
  CHECK(MassMask(Map(2, 2, {3, 1, 4, 2}), 0) == std::vector<uint8_t>{0, 0, 0, 0});
  CHECK(MassMask(Map(2, 2, {0, 0, 0, 0}), 0.5) == std::vector<uint8_t>{0, 0, 0, 0});
}

TEST_CASE("a mass mask counts shown patches only") {
  PatchMap map = Map(1, 4, {9, 1, 2, 3});
  map.shown = {0, 1, 1, 1};
  CHECK(MassMask(map, 0.5) == std::vector<uint8_t>{0, 0, 0, 1});
}

TEST_CASE("U-20 a mass mask holds its share and is the smallest that does") {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<float> values;
    for (int i = 0; i < 49; ++i) values.push_back(static_cast<float>(random() % 10000) / 10000);
    const PatchMap map = Map(7, 7, values);
    double total = 0;
    for (float value : values) total += value;
    for (double share : {0.1, 0.5, 0.6, 0.9, 0.99}) {
      const auto kept = MassMask(map, share);
      double mass = 0;
      double smallest = 1;
      float largest_left_out = 0;
      for (size_t i = 0; i < values.size(); ++i) {
        if (kept[i] == 0) {
          largest_left_out = std::max(largest_left_out, values[i]);
          continue;
        }
        mass += values[i] / total;
        smallest = std::min(smallest, static_cast<double>(values[i]));
      }
      CHECK(mass >= share - 1e-12);
      CHECK(mass - smallest / total <= share + 1e-12);
      CHECK(largest_left_out <= smallest);
    }
  }
}

TEST_CASE("the mass mask equals DINO's on the reference attention") {
  const Tensor attention = test::ReadGolden("attention.2", {4, 65, 65});
  const Tensor expected = test::ReadGolden("mass_mask.0.6", {4, 8, 8});
  TokenLayout tokens;
  tokens.has_class_token = true;
  for (size_t head = 0; head < 4; ++head) {
    const std::span row(attention.values.data() + head * 65 * 65, 65);
    const auto kept = MassMask(MapFromRow(row, tokens, {8, 8, 8}), 0.6);
    for (size_t i = 0; i < 64; ++i) CHECK(kept[i] == expected.values[head * 64 + i]);
  }
}

TEST_CASE("entropy: uniform, one-hot, and the reference's mean over rows") {
  CHECK(Entropy(std::vector<float>(256, 1.0F / 256)) == Approx(std::log(256.0)));
  CHECK(Entropy(std::vector<float>{0, 1, 0}) == 0);
  const Tensor expected = test::ReadGolden("entropy", {3, 4});
  for (size_t layer = 0; layer < 3; ++layer) {
    const Tensor attention = test::ReadGolden("attention." + std::to_string(layer), {4, 65, 65});
    for (size_t head = 0; head < 4; ++head) {
      double sum = 0;
      for (size_t i = 0; i < 65; ++i) {
        sum += Entropy(std::span(attention.values).subspan((head * 65 + i) * 65, 65));
      }
      CHECK(sum / 65 == Approx(expected.values[layer * 4 + head]).margin(1e-5));
    }
  }
}

}  // namespace
}  // namespace attnmap
