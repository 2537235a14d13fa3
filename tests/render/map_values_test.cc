#include "render/map_values.h"

#include <limits>

#include "attnmap/core/error.h"
#include "render/number_text.h"
#include "render/render_support.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using Kind = Normalize::Kind;
using test::MapOf;

TEST_CASE("ranges of each normalisation") {
  PatchMap map = MapOf({1, 5, 8}, {4, 1, 3, 2, 99});
  map.shown = {1, 1, 1, 1, 0};
  const auto range = [&](Normalize normalize) { return ComputeRange({&map, 1}, normalize); };
  CHECK(range({}).low == 1);
  CHECK(range({}).high == 4);
  CHECK(range({Kind::kMax, 0, 0}).low == 0);
  CHECK(range({Kind::kMax, 0, 0}).high == 4);
  CHECK(range({Kind::kRange, -1, 7}).low == -1);
  CHECK(range({Kind::kRange, -1, 7}).high == 7);
  // numpy.percentile([1, 2, 3, 4], [10, 50, 95]) = 1.3, 2.5, 3.85
  CHECK(range({Kind::kPercentile, 10, 95}).low == Approx(1.3));
  CHECK(range({Kind::kPercentile, 10, 95}).high == Approx(3.85));
  CHECK(range({Kind::kPercentile, 50, 100}).low == Approx(2.5));
  CHECK(range({Kind::kPercentile, 50, 100}).high == 4);
}

TEST_CASE("U-24 one range over several maps") {
  const std::vector<PatchMap> maps{MapOf({1, 2, 8}, {1, 2}), MapOf({1, 2, 8}, {5, 3})};
  CHECK(ComputeRange(maps, {}).low == 1);
  CHECK(ComputeRange(maps, {}).high == 5);
  CHECK(ComputeRange({}, {}).high == 0);
}

TEST_CASE("U-22 a constant map is told apart from a faint one") {
  CHECK(IsConstant({0.25, 0.25}));
  CHECK(IsConstant({0, 0}));
  CHECK(IsConstant({1.0 / 196, 1.0 / 196 + 5e-10}));  // the last bits of float32
  CHECK_FALSE(IsConstant({1.0 / 196, 1.0 / 196 + 1e-7}));
  CHECK_FALSE(IsConstant({0, 1e-30}));
}

TEST_CASE("patches in padding and those that are no number cannot be drawn") {
  const test::FitCase pad = test::FitCases()[5];
  PatchMap map = MapOf(pad.grid, std::vector<float>(64, 1));
  map.values[8 * 4] = std::numeric_limits<float>::infinity();
  const PatchMap drawable = Drawable(map, pad.geometry);
  // Rows 15 to 48 of 64 show the picture: patch rows 1 to 6.
  for (int i = 0; i < 64; ++i) {
    CHECK(drawable.IsShown(i) == (i / 8 >= 1 && i / 8 <= 6 && i != 8 * 4));
  }
  CHECK_THROWS_AS(Drawable(MapOf({2, 2, 8}, {1, 2, 3}), pad.geometry), Error);
  CHECK_THROWS_AS(Drawable(MapOf({0, 0, 8}, {}), pad.geometry), Error);
}

TEST_CASE("hidden patches are filled from their neighbours, however far") {
  PatchMap map = MapOf({2, 4, 8}, {9, 1, 2, 9, 9, 3, 5, 9});
  map.shown = {0, 1, 1, 0, 0, 1, 0, 0};
  const auto filled = FilledValues(map);
  CHECK(filled == std::vector<float>{1, 1, 2, 2, 3, 3, 2.5F, 2.25F});
  map.shown.assign(8, 0);
  CHECK(FilledValues(map) == std::vector<float>(8, 0));
}

TEST_CASE("numbers at the ends of a scale: three digits, or as many as tell them apart") {
  CHECK(TextOf({0, 1}).low == "0");
  CHECK(TextOf({0.000412345, 0.0266789}).low == "0.000412");
  CHECK(TextOf({0.000412345, 0.0266789}).high == "0.0267");
  CHECK(TextOf({0.50001, 0.50002}).low == "0.50001");
  CHECK(TextOf({0.50001, 0.50002}).high == "0.50002");
  CHECK(TextOf({0.25, 0.25}).high == "0.25");
  CHECK(TextOf({-3e-7, 12345678}).low == "-3e-07");
}

}  // namespace
}  // namespace attnmap
