#include "attnmap/render/picture.h"

#include <cmath>

#include "attnmap/core/error.h"
#include "attnmap/render/colormap.h"
#include "render/render_support.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using test::At;
using test::Filled;
using test::MapOf;
using test::Rgb;

const Rgb kPhoto = {200, 100, 50};
const Rgb kDimmedPhoto = {100, 50, 25};
const Rgb kBottom = {68, 1, 84};  // viridis
const Rgb kTop = {253, 231, 37};

// Colours alone, nearest: what is drawn is a colour of the map.
PictureOptions Plain() {
  PictureOptions options;
  options.colormap = "viridis";
  options.alpha = 1;
  options.interpolation = Interpolation::kNearest;
  options.font = test::kFont;
  return options;
}

Panel PanelOf(PatchMap map, std::string label = {}) { return {std::move(map), std::move(label)}; }

RenderedPicture Render(RowsCols size, const Panel& panel, const PictureOptions& options) {
  return RenderPicture(Filled(size, kPhoto), ImageGeometry::Identity(size), {&panel, 1}, options);
}

const PatchGrid kTwo{1, 2, 4};

TEST_CASE("U-05 U-07 the overlay has the source's size and no border") {
  for (const test::FitCase& fit : test::FitCases()) {
    INFO(fit.name);
    const Panel panel = PanelOf(test::Impulse(fit.grid, fit.grid.rows / 2, fit.grid.cols / 2));
    const auto result =
        RenderPicture(Filled(fit.geometry.source, kPhoto), fit.geometry, {&panel, 1}, Plain());
    CHECK(result.image.size() == fit.geometry.source);
    const Rect seen = fit.geometry.SeenRect();
    const bool all_seen = seen.top <= 0.5 && seen.left <= 0.5 &&
                          seen.bottom >= fit.geometry.source.rows - 0.5 &&
                          seen.right >= fit.geometry.source.cols - 0.5;
    if (all_seen) {
      const int last = result.image.cols - 1;
      CHECK(At(result.image, result.image.rows - 1, last) != kDimmedPhoto);
      CHECK(At(result.image, result.image.rows - 1, last) != kPhoto);
    } else {
      CHECK(At(result.image, 0, 0) == kDimmedPhoto);
    }
    CHECK(result.range.low == 0);
    CHECK(result.range.high == 1);
    CHECK_FALSE(result.constant);
  }
}

TEST_CASE("U-21 the overlay's colours are R G B: (1 - alpha) photo + alpha colour") {
  PictureOptions options = Plain();
  options.alpha = 0.6;
  const auto result = Render({4, 8}, PanelOf(MapOf(kTwo, {1, 3})), options);
  for (size_t c = 0; c < 3; ++c) {
    CHECK(At(result.image, 0, 0)[c] == Approx(0.4 * kPhoto[c] + 0.6 * kBottom[c]).margin(0.6));
    CHECK(At(result.image, 0, 7)[c] == Approx(0.4 * kPhoto[c] + 0.6 * kTop[c]).margin(0.6));
  }
}

TEST_CASE("the heatmap shows colours alone, whatever alpha") {
  PictureOptions options = Plain();
  options.layout = Layout::kHeatmap;
  options.alpha = 0.3;
  const auto result = Render({4, 8}, PanelOf(MapOf(kTwo, {1, 3})), options);
  CHECK(At(result.image, 0, 0) == kBottom);
  CHECK(At(result.image, 3, 7) == kTop);
}

TEST_CASE("U-22 a constant map is drawn in the bottom colour and reported") {
  for (const Normalize& normalize : {Normalize{}, Normalize{Normalize::Kind::kMax, 0, 0},
                                     Normalize{Normalize::Kind::kPercentile, 1, 99}}) {
    for (const std::vector<float>& values :
         {std::vector<float>{0.25F, 0.25F}, {0, 0}, {0.25F, std::nextafter(0.25F, 1.0F)}}) {
      PictureOptions options = Plain();
      options.normalize = normalize;
      const auto result = Render({4, 8}, PanelOf(MapOf(kTwo, values)), options);
      CHECK(result.constant);
      CHECK(result.image.rgb == Filled({4, 8}, kBottom).rgb);
      CHECK(result.range.low == result.range.high);
      CHECK(result.range.low == Approx(values[0]));
    }
  }
  // A scale from elsewhere gives even a constant map its place.
  PictureOptions options = Plain();
  options.range = ValueRange{0, 0.25};
  const auto result = Render({4, 8}, PanelOf(MapOf(kTwo, {0.25F, 0.25F})), options);
  CHECK(result.constant);
  CHECK(result.image.rgb == Filled({4, 8}, kTop).rgb);
}

TEST_CASE("U-22 a peak among equal values stands out under percentiles that are one") {
  PictureOptions options = Plain();
  options.normalize = {Normalize::Kind::kPercentile, 10, 50};
  const auto result = Render({4, 16}, PanelOf(MapOf({1, 4, 4}, {0, 0, 0, 1})), options);
  CHECK_FALSE(result.constant);
  CHECK(At(result.image, 0, 0) == kBottom);
  CHECK(At(result.image, 0, 15) == kTop);
}

TEST_CASE("U-11 one patch alone, and a picture smaller than a patch") {
  const auto one = Render({5, 7}, PanelOf(MapOf({1, 1, 16}, {3})), Plain());
  CHECK(one.constant);
  CHECK(one.image.rgb == Filled({5, 7}, kBottom).rgb);
  const Panel panel = PanelOf(MapOf({2, 2, 16}, {0, 1, 0, 1}));
  const auto tiny = RenderPicture(Filled({1, 2}, kPhoto), {{1, 2}, {32, 32}, {32, 32}, 0, 0},
                                  {&panel, 1}, Plain());
  CHECK(At(tiny.image, 0, 0) == kBottom);
  CHECK(At(tiny.image, 0, 1) == kTop);
}

TEST_CASE("U-20 the mass mask is applied: patches beyond the share are the photo dimmed") {
  PictureOptions options = Plain();
  options.mass = 0.6;
  const auto result = Render({4, 16}, PanelOf(MapOf({1, 4, 4}, {1, 2, 3, 4})), options);
  CHECK(At(result.image, 0, 0) == kDimmedPhoto);
  CHECK(At(result.image, 0, 7) == kDimmedPhoto);
  CHECK(At(result.image, 0, 8) != kDimmedPhoto);
  CHECK(At(result.image, 0, 15) == kTop);
}

TEST_CASE("side by side: the photo as it is, then the overlay") {
  PictureOptions options = Plain();
  options.layout = Layout::kSideBySide;
  const auto result = Render({40, 80}, PanelOf(MapOf({1, 2, 40}, {0, 1})), options);
  const int gap = result.image.cols - 160;
  CHECK(result.image.rows == 40);
  CHECK(gap >= 4);
  for (int x = 0; x < 80; ++x) {
    CHECK(At(result.image, 20, x) == kPhoto);
    CHECK(At(result.image, 20, 80 + gap + x) == (x < 40 ? kBottom : kTop));
  }
  CHECK(At(result.image, 20, 80) == Rgb{255, 255, 255});
}

TEST_CASE("the colour bar stands beside the picture, which stays as it is") {
  PictureOptions options = Plain();
  const Panel panel = PanelOf(MapOf({1, 2, 150}, {0.001F, 0.02F}));
  const auto bare = Render({300, 300}, panel, options);
  options.colorbar = true;
  const auto with_bar = Render({300, 300}, panel, options);
  CHECK(with_bar.image.rows == 300);
  CHECK(with_bar.image.cols > 340);
  for (int y = 0; y < 300; y += 7) {
    for (int x = 0; x < 300; x += 7) CHECK(At(with_bar.image, y, x) == At(bare.image, y, x));
  }
  CHECK(bare.range.low == Approx(0.001));
  CHECK(bare.range.high == Approx(0.02));
  // Its numbers stand clear of every edge.
  for (const RowsCols size : {RowsCols{300, 300}, RowsCols{90, 200}, RowsCols{40, 30}}) {
    const Image& image = Render(size, panel, options).image;
    CAPTURE(size.rows, image.rows, image.cols);
    int ink = 0;
    for (int y = 0; y < image.rows; ++y) {
      for (int x = size.cols; x < image.cols; ++x) {
        const bool edge = y < 2 || y >= image.rows - 2 || x >= image.cols - 2;
        const bool paper = At(image, y, x) == test::Rgb{255, 255, 255};
        if (edge) CHECK(paper);
        ink += paper ? 0 : 1;
      }
    }
    CHECK(ink > 100);
  }
}

TEST_CASE("U-24 panels of a sheet share a scale or have their own") {
  const PatchGrid grid{1, 2, 100};
  const std::vector<Panel> panels{PanelOf(MapOf(grid, {0, 1}), "a"),
                                  PanelOf(MapOf(grid, {0, 2}), "b")};
  PictureOptions options = Plain();
  options.layout = Layout::kSheet;
  const auto count = [](const Image& image, Rgb colour) {
    int found = 0;
    for (int y = 0; y < image.rows; ++y) {
      for (int x = 0; x < image.cols; ++x) found += At(image, y, x) == colour ? 1 : 0;
    }
    return found;
  };
  const Image photo = Filled({100, 200}, kPhoto);
  const auto geometry = ImageGeometry::Identity({100, 200});
  const auto own = RenderPicture(photo, geometry, panels, options);
  options.shared_scale = true;
  const auto shared = RenderPicture(photo, geometry, panels, options);
  CHECK(own.range.high == 1);
  CHECK(shared.range.high == 2);
  CHECK(count(own.image, kBottom) == count(own.image, kTop));
  CHECK(count(shared.image, kBottom) == 2 * count(shared.image, kTop));
  CHECK(count(shared.image, GetColormap("viridis")[128]) == count(shared.image, kTop));
  options.shared_scale = false;
  options.range = ValueRange{0, 4};
  const auto outside = RenderPicture(photo, geometry, panels, options);
  CHECK(outside.range.high == 4);
  CHECK(count(outside.image, kTop) == 0);
  CHECK(count(outside.image, GetColormap("viridis")[128]) > 0);
}

TEST_CASE("U-07 an output size is met, and the map stays on its patches") {
  PictureOptions options = Plain();
  options.output_size = RowsCols{50, 90};
  const test::FitCase crop = test::FitCases()[2];
  const Panel panel = PanelOf(test::Impulse(crop.grid, 3, 5));
  const auto result =
      RenderPicture(Filled(crop.geometry.source, kPhoto), crop.geometry, {&panel, 1}, options);
  REQUIRE(result.image.size() == RowsCols{50, 90});
  ImageGeometry scaled = crop.geometry;
  scaled.source = {50, 90};
  for (int y = 0; y < 50; ++y) {
    for (int x = 0; x < 90; ++x) {
      const auto under = scaled.PatchUnder(crop.grid, x, y);
      Rgb expected = kDimmedPhoto;
      if (under) expected = under == RowsCols{3, 5} ? kTop : kBottom;
      CHECK(At(result.image, y, x) == expected);
    }
  }
  options.colorbar = true;
  options.output_size = RowsCols{200, 400};
  CHECK(RenderPicture(Filled(crop.geometry.source, kPhoto), crop.geometry, {&panel, 1}, options)
            .image.size() == RowsCols{200, 400});
}

TEST_CASE("what cannot be drawn is refused in one sentence") {
  const Panel panel = PanelOf(MapOf(kTwo, {0, 1}));
  const std::vector<Panel> two{panel, panel};
  const Image photo = Filled({4, 8}, kPhoto);
  const auto geometry = ImageGeometry::Identity({4, 8});
  CHECK_THROWS_WITH(RenderPicture(photo, geometry, two, Plain()),
                    "this layout shows one map, 2 were chosen: use --layout sheet");
  CHECK_THROWS_AS(RenderPicture(photo, geometry, {}, Plain()), Error);
  CHECK_THROWS_AS(RenderPicture(Image(), geometry, {&panel, 1}, Plain()), Error);
  CHECK_THROWS_AS(Render({4, 8}, PanelOf(MapOf(kTwo, {1})), Plain()), Error);
  PictureOptions options = Plain();
  options.alpha = 1.5;
  CHECK_THROWS_AS(Render({4, 8}, panel, options), Error);
  options = Plain();
  options.colormap = "none";
  CHECK_THROWS_AS(Render({4, 8}, panel, options), UsageError);
  options = Plain();
  options.font = "/nowhere/font.ttf";
  CHECK_NOTHROW(Render({4, 8}, panel, options));  // no text, no font
  options.colorbar = true;
  CHECK_THROWS_AS(Render({4, 8}, panel, options), Error);
}

}  // namespace
}  // namespace attnmap
