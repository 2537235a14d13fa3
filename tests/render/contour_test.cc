#include "render/contour.h"

#include "attnmap/core/error.h"
#include "attnmap/render/picture.h"
#include "render/colour_vision.h"
#include "render/render_support.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using test::At;
using test::Filled;
using test::MapOf;
using test::Rgb;

bool IsLine(const Rgb& colour) { return colour == kContourLight || colour == kContourDark; }

PictureOptions Outlined() {
  PictureOptions options;
  options.contour = true;
  options.mass = 0.5;
  options.interpolation = Interpolation::kNearest;
  options.font = test::kFont;
  return options;
}

TEST_CASE("U-20 the outline lies at the mask's edge, in every fit, and nowhere else") {
  for (const test::FitCase& fit : test::FitCases()) {
    INFO(fit.name);
    const int row = fit.grid.rows / 2, col = fit.grid.cols / 2;
    const Panel panel{test::Impulse(fit.grid, row, col), {}, 0, {}};
    const Image photo = Filled(fit.geometry.source, {90, 120, 60});
    PictureOptions options = Outlined();
    const Image with = RenderPicture(photo, fit.geometry, {&panel, 1}, options).image;
    options.contour = false;
    const Image without = RenderPicture(photo, fit.geometry, {&panel, 1}, options).image;
    const double reach = ContourWidthFor(fit.geometry.source).all();
    const Rect rect = fit.geometry.PatchRect(fit.grid, row, col);
    const auto near = [&](double at, double begin, double end) {
      return at > begin - reach && at < end + reach;
    };
    int lines = 0;
    for (int y = 0; y < with.rows; ++y) {
      for (int x = 0; x < with.cols; ++x) {
        if (At(with, y, x) == At(without, y, x)) continue;
        ++lines;
        CHECK(IsLine(At(with, y, x)));
        const bool at_row =
            std::min(std::abs(y + 0.5 - rect.top), std::abs(y + 0.5 - rect.bottom)) <= reach;
        const bool at_col =
            std::min(std::abs(x + 0.5 - rect.left), std::abs(x + 0.5 - rect.right)) <= reach;
        CHECK((at_row || at_col));
        CHECK(near(y + 0.5, rect.top, rect.bottom));
        CHECK(near(x + 0.5, rect.left, rect.right));
      }
    }
    CHECK(lines > 0);
  }
}

TEST_CASE("U-20 the outline can be read on white, black and grey photos, under any colour") {
  const PatchGrid grid{3, 3, 40};
  const auto geometry = ImageGeometry::Identity({120, 120});
  const Panel panel{test::Impulse(grid, 1, 1), {}, 0, {}};
  for (const Rgb ground : {Rgb{255, 255, 255}, {0, 0, 0}, {128, 128, 128}, {252, 255, 164}}) {
    for (double alpha : {0.0, 0.6, 1.0}) {
      PictureOptions options = Outlined();
      options.mass.reset();
      options.alpha = alpha;
      const Image image =
          RenderPicture(Filled({120, 120}, ground), geometry, {&panel, 1}, options).image;
      // Across the left edge of the patch in the middle: dark, light, dark.
      std::vector<Rgb> line;
      for (int x = 30; x < 50; ++x) {
        if (IsLine(At(image, 60, x))) line.push_back(At(image, 60, x));
      }
      const std::vector<Rgb> expected = {kContourDark, kContourLight, kContourDark};
      if (ground != Rgb{255, 255, 255} || alpha > 0) CHECK(line == expected);
      // Enough contrast (WCAG asks for 3 : 1) within the line, so on any ground,
      // and with the ground by one of its parts.
      CHECK(test::Contrast(kContourDark, kContourLight) > 15);
      const Rgb beside = At(image, 60, 25);
      CHECK(std::max(test::Contrast(kContourDark, beside), test::Contrast(kContourLight, beside)) >
            3);
    }
  }
}

TEST_CASE("an outline around the whole picture lies within it") {
  const PatchGrid grid{1, 1, 40};
  const Panel panel{MapOf(grid, {1}), {}, 0, {}};
  const ImageGeometry geometry{{40, 60}, {40, 40}, {40, 40}, 0, 0};
  const Image image =
      RenderPicture(Filled({40, 60}, {90, 90, 90}), geometry, {&panel, 1}, Outlined()).image;
  for (int x = 1; x < 59; ++x) {
    CHECK(At(image, 0, x) == kContourDark);
    CHECK(At(image, 1, x) == kContourLight);
    CHECK(At(image, 39, x) == kContourDark);
    CHECK(At(image, 38, x) == kContourLight);
  }
  CHECK_FALSE(IsLine(At(image, 20, 30)));
}

TEST_CASE("edges of a mask: outer ones, holes, none between kept patches") {
  const PatchGrid grid{3, 3, 10};
  const PatchSpans spans = PixelsOfPatches(ImageGeometry::Identity({30, 30}), grid);
  const auto length = [&](const std::vector<uint8_t>& kept) {
    double sum = 0;
    for (const EdgeSegment& edge : MaskEdge(spans, grid, kept)) sum += edge.end - edge.begin;
    return sum;
  };
  CHECK(length({0, 0, 0, 0, 0, 0, 0, 0, 0}) == 0);
  CHECK(length({0, 0, 0, 0, 1, 0, 0, 0, 0}) == 40);
  CHECK(length({1, 1, 1, 1, 1, 1, 1, 1, 1}) == 120);
  CHECK(length({1, 1, 1, 1, 0, 1, 1, 1, 1}) == 160);  // a hole is outlined too
}

}  // namespace
}  // namespace attnmap
