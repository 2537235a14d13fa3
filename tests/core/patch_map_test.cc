#include "attnmap/core/patch_map.h"

#include "support/catch.h"

namespace attnmap {
namespace {

using Mask = std::vector<uint8_t>;

PatchMap Map(std::vector<float> values, std::vector<uint8_t> shown = {}) {
  PatchMap map;
  map.grid = {1, static_cast<int>(values.size()), 16};
  map.values = std::move(values);
  map.shown = std::move(shown);
  return map;
}

}  // namespace

TEST_CASE("All patches are shown unless a map says otherwise") {
  CHECK(Map({1, 2}).IsShown(1));
  CHECK_FALSE(Map({1, 2}, {1, 0}).IsShown(1));
  CHECK(Map({1, 2}, {1, 0}).IsShown(0));
}

TEST_CASE("U-20 the mass mask keeps the fewest patches that hold the share") {
  const PatchMap map = Map({1, 5, 0, 2, 2});  // of 10
  CHECK(MassMask(map, 0.4) == Mask{0, 1, 0, 0, 0});
  CHECK(MassMask(map, 0.6) == Mask{0, 1, 0, 0, 1});  // of equals the later one first
  CHECK(MassMask(map, 0.8) == Mask{0, 1, 0, 1, 1});
  CHECK(MassMask(map, 1) == Mask{1, 1, 0, 1, 1});
  CHECK(MassMask(map, 0) == Mask{0, 0, 0, 0, 0});
}

TEST_CASE("The mass of patches that are not shown does not count") {
  CHECK(MassMask(Map({1, 100, 3}, {1, 0, 1}), 0.5) == Mask{0, 0, 1});
}

TEST_CASE("U-22 a map without mass keeps nothing") {
  CHECK(MassMask(Map({0, 0}), 0.5) == Mask{0, 0});
  CHECK(MassMask(Map({}), 0.5).empty());
}

}  // namespace attnmap
