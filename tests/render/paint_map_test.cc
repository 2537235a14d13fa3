#include "render/paint_map.h"

#include <cmath>
#include <limits>

#include "render/map_values.h"
#include "render/render_support.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using test::At;
using test::Filled;
using test::MapOf;
using test::Rgb;

const Rgb kGround = {30, 50, 71};
const Rgb kDimmedGround = {15, 25, 35};

// Positions as grey values: value v is drawn as (v, v, v).
Image Paint(const ImageGeometry& geometry, const PatchMap& map, Interpolation interpolation,
            double alpha = 1, std::span<const uint8_t> kept = {}) {
  const Image photo = Filled(geometry.source, kGround);
  Image out = Filled(geometry.source, {1, 2, 3});
  const MapStyle style{test::Grey(), alpha, interpolation, {0, 255}};
  PaintMap(photo, geometry, Drawable(map, geometry), kept, style,
           RegionOf(out, {0, 0, out.rows, out.cols}));
  return out;
}

TEST_CASE("nearest gives each patch its rectangle, exactly") {
  const PatchGrid grid{2, 3, 2};
  const Image out = Paint(ImageGeometry::Identity({4, 6}), MapOf(grid, {10, 20, 30, 40, 50, 60}),
                          Interpolation::kNearest);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 6; ++x) {
      const auto expected = static_cast<uint8_t>(10 * (y / 2 * 3 + x / 2 + 1));
      CHECK(At(out, y, x) == Rgb{expected, expected, expected});
    }
  }
}

TEST_CASE("linear worked by hand: values stand at patch centres, ends are held") {
  const Image out =
      Paint(ImageGeometry::Identity({2, 4}), MapOf({1, 2, 2}, {0, 100}), Interpolation::kLinear);
  const int expected[] = {0, 25, 75, 100};
  for (int x = 0; x < 4; ++x) CHECK(At(out, 1, x)[0] == expected[x]);
}

TEST_CASE("cubic worked by hand: Keys' weights, a = -1/2") {
  // Patches of 4 pixels, an impulse of 128 in the middle of five: centres at
  // 1/8, 3/8, ... from one value to the next.
  const Image out = Paint(ImageGeometry::Identity({4, 20}), MapOf({1, 5, 4}, {0, 0, 128, 0, 0}),
                          Interpolation::kCubic);
  const auto weight = [](double t) { return 1 - 2.5 * t * t + 1.5 * t * t * t; };
  for (int x = 8; x < 12; ++x) {
    const double t = std::abs((x + 0.5) / 4 - 2.5);
    CHECK(At(out, 0, x)[0] == std::lround(128 * weight(t)));
  }
  // The curve dips below zero beside the impulse; the map has no such value.
  CHECK(At(out, 0, 5)[0] == 0);
  CHECK(At(out, 0, 0)[0] == 0);
}

TEST_CASE("cubic follows a parabola and passes through the values") {
  std::vector<float> values;
  for (int i = 0; i < 8; ++i) values.push_back(static_cast<float>(3 * i * i + 20));
  const Image out =
      Paint(ImageGeometry::Identity({5, 40}), MapOf({1, 8, 5}, values), Interpolation::kCubic);
  for (int x = 10; x < 30; ++x) {
    const double at = (x + 0.5) / 5 - 0.5;
    CHECK(At(out, 2, x)[0] == std::lround(3 * at * at + 20));
  }
}

TEST_CASE("cubic stays within the map's own range at a step") {
  const Image out =
      Paint(ImageGeometry::Identity({7, 56}),
            MapOf({1, 8, 7}, {60, 60, 60, 60, 200, 200, 200, 200}), Interpolation::kCubic);
  for (int x = 0; x < 56; ++x) {
    CHECK(At(out, 3, x)[0] >= 60);
    CHECK(At(out, 3, x)[0] <= 200);
  }
  CHECK(At(out, 3, 3)[0] == 60);
  CHECK(At(out, 3, 52)[0] == 200);
}

TEST_CASE("the blend is (1 - alpha) photo + alpha colour, rounded") {
  const PatchGrid grid{1, 1, 1};
  const ImageGeometry pixel = ImageGeometry::Identity({1, 1});
  for (double alpha : {0.0, 0.1, 0.25, 0.5, 0.6, 0.9, 1.0}) {
    for (int photo = 0; photo < 256; photo += 5) {
      for (int colour = 0; colour < 256; colour += 17) {
        const auto p = static_cast<uint8_t>(photo);
        const Image source = Filled({1, 1}, {p, p, p});
        Image out(1, 1);
        const MapStyle style{test::Grey(), alpha, Interpolation::kNearest, {0, 255}};
        PaintMap(source, pixel, MapOf(grid, {static_cast<float>(colour)}), {}, style,
                 RegionOf(out, {0, 0, 1, 1}));
        const double exact = (1 - alpha) * photo + alpha * colour;
        CHECK(std::abs(out.rgb[0] - exact) <= 0.515);
        if (alpha == 0 || alpha == 1) CHECK(out.rgb[0] == exact);
      }
    }
  }
}

TEST_CASE(
    "U-01 U-05 U-07 in every fit a patch is drawn where it looked, the rest is the photo, dimmed") {
  for (const test::FitCase& fit : test::FitCases()) {
    INFO(fit.name);
    for (int row = 0; row < fit.grid.rows; ++row) {
      for (int col = row % 2; col < fit.grid.cols; col += 2) {
        const Image out =
            Paint(fit.geometry, test::Impulse(fit.grid, row, col, 200), Interpolation::kNearest);
        int wrong = 0;
        for (int y = 0; y < out.rows; ++y) {
          for (int x = 0; x < out.cols; ++x) {
            const auto under = fit.geometry.PatchUnder(fit.grid, x, y);
            Rgb expected = kDimmedGround;
            if (under) expected = under == RowsCols{row, col} ? Rgb{200, 200, 200} : Rgb{0, 0, 0};
            wrong += At(out, y, x) != expected ? 1 : 0;
          }
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("smooth interpolation puts an impulse on the patch's rectangle in the source") {
  for (const test::FitCase& fit : test::FitCases()) {
    if (fit.geometry.source.rows < 10) continue;
    INFO(fit.name);
    for (Interpolation interpolation : {Interpolation::kLinear, Interpolation::kCubic}) {
      const int row = fit.grid.rows / 2;
      const int col = fit.grid.cols / 2;
      const Rect rect = fit.geometry.PatchRect(fit.grid, row, col);
      const Image out = Paint(fit.geometry, test::Impulse(fit.grid, row, col, 255), interpolation);
      double sum = 0, sum_row = 0, sum_col = 0;
      for (int y = 0; y < out.rows; ++y) {
        for (int x = 0; x < out.cols; ++x) {
          if (!fit.geometry.PatchUnder(fit.grid, x, y)) continue;
          sum += At(out, y, x)[0];
          sum_row += At(out, y, x)[0] * (y + 0.5);
          sum_col += At(out, y, x)[0] * (x + 0.5);
        }
      }
      CHECK(sum_row / sum ==
            Approx((rect.top + rect.bottom) / 2).margin(0.02 * rect.rows() + 0.05));
      CHECK(sum_col / sum ==
            Approx((rect.left + rect.right) / 2).margin(0.02 * rect.cols() + 0.05));
    }
  }
}

TEST_CASE("padding has no say: the picture is coloured to its edges, from its own patches") {
  const test::FitCase pad = test::FitCases()[5];
  REQUIRE(pad.name == "pad, wide");
  PatchMap map = MapOf(pad.grid, std::vector<float>(64, 120));
  for (int i = 0; i < 64; ++i) {
    const RowsCols at = pad.grid.PatchAt(i);
    if (!pad.geometry.PatchShowsPicture(pad.grid, at.rows, at.cols)) {
      map.values[static_cast<size_t>(i)] = 9999;
    }
  }
  for (Interpolation interpolation :
       {Interpolation::kNearest, Interpolation::kLinear, Interpolation::kCubic}) {
    const Image out = Paint(pad.geometry, map, interpolation);
    CHECK(out.rgb == Filled(out.size(), {120, 120, 120}).rgb);
  }
}

TEST_CASE("patches that are not shown, or not a number, are the photo dimmed and touch no other") {
  const PatchGrid grid{3, 3, 4};
  const ImageGeometry geometry = ImageGeometry::Identity({12, 12});
  for (bool nan : {false, true}) {
    PatchMap map = MapOf(grid, std::vector<float>(9, 80));
    map.values[4] = nan ? std::numeric_limits<float>::quiet_NaN() : 1e30F;
    if (!nan) {
      map.shown.assign(9, 1);
      map.shown[4] = 0;
    }
    const Image out = Paint(geometry, map, Interpolation::kCubic);
    for (int y = 0; y < 12; ++y) {
      for (int x = 0; x < 12; ++x) {
        const bool hidden = y / 4 == 1 && x / 4 == 1;
        CHECK(At(out, y, x) == (hidden ? kDimmedGround : Rgb{80, 80, 80}));
      }
    }
  }
}

TEST_CASE("patches that are not kept are the photo dimmed") {
  const Image out = Paint(ImageGeometry::Identity({2, 4}), MapOf({1, 2, 2}, {10, 200}),
                          Interpolation::kLinear, 1, std::vector<uint8_t>{0, 1});
  CHECK(At(out, 0, 0) == kDimmedGround);
  CHECK(At(out, 0, 1) == kDimmedGround);
  CHECK(At(out, 0, 2)[0] == 153);  // 10 + 3/4 of the way
  CHECK(At(out, 0, 3)[0] == 200);
}

TEST_CASE(
    "values beyond the range take the end's colour, an empty range splits above and not above") {
  const Image photo(1, 3);
  const PatchMap map = MapOf({1, 3, 1}, {-1e30F, 5, 1e30F});
  Image out(1, 3);
  MapStyle style{test::Grey(), 1, Interpolation::kNearest, {4, 6}};
  PaintMap(photo, ImageGeometry::Identity({1, 3}), map, {}, style, RegionOf(out, {0, 0, 1, 3}));
  CHECK(At(out, 0, 0)[0] == 0);
  CHECK(At(out, 0, 1)[0] == 128);
  CHECK(At(out, 0, 2)[0] == 255);
  style.range = {5, 5};
  PaintMap(photo, ImageGeometry::Identity({1, 3}), map, {}, style, RegionOf(out, {0, 0, 1, 3}));
  CHECK(At(out, 0, 1)[0] == 0);
  CHECK(At(out, 0, 2)[0] == 255);
}

}  // namespace
}  // namespace attnmap
