#include "render/drawing.h"

#include "render/drawing_support.h"

namespace attnmap {
namespace {

using test::At;
using test::Filled;
using test::Filled2d;
using test::FitCase;
using test::Labelled;
using test::LabelOptions;
using test::RectsOf;
using test::RequestOf;

// What the rectangles leave of a photo of one colour, at a point.
test::Rgb Painted(const std::vector<Filled2d>& rects, double x, double y, test::Rgb photo) {
  std::array<double, 3> colour = {static_cast<double>(photo[0]), static_cast<double>(photo[1]),
                                  static_cast<double>(photo[2])};
  for (const Filled2d& rect : rects) {
    if (x < rect.left || x >= rect.right || y < rect.top || y >= rect.bottom) continue;
    for (size_t c = 0; c < 3; ++c) {
      colour[c] = (1 - rect.opacity) * colour[c] + rect.opacity * rect.colour[c];
    }
  }
  test::Rgb out;
  for (size_t c = 0; c < 3; ++c) out[c] = static_cast<uint8_t>(std::lround(colour[c]));
  return out;
}

TEST_CASE("U-25 the SVG's rectangles paint what the picture in pixels shows, in every fit") {
  const test::Rgb photo_colour = {200, 100, 50};
  for (const FitCase& fit : test::FitCases()) {
    for (const bool masked : {false, true}) {
      INFO(fit.name << (masked ? ", masked" : ""));
      const Image photo = Filled(fit.geometry.source, photo_colour);
      const PictureRequest request = RequestOf(fit, photo);
      PictureOptions options;
      options.interpolation = Interpolation::kNearest;
      if (masked) options.mass = 0.5;
      const Image pixels = RenderPicture(request, options).image;
      const auto rects = RectsOf(RenderVector(request, options, VectorFormat::kSvg).bytes);
      int different = 0;
      for (int y = 0; y < pixels.rows; ++y) {
        for (int x = 0; x < pixels.cols; ++x) {
          const test::Rgb vector = Painted(rects, x + 0.5, y + 0.5, photo_colour);
          for (size_t c = 0; c < 3; ++c) {
            different += std::abs(vector[c] - At(pixels, y, x)[c]) > 2 ? 1 : 0;
          }
        }
      }
      CHECK(different == 0);
    }
  }
}

TEST_CASE("U-25 the SVG holds the photo once, and text as text") {
  const FitCase fit = test::FitCases()[0];
  const Image photo = Filled(fit.geometry.source, {200, 100, 50});
  PictureRequest request = RequestOf(fit, photo);
  request.panels.push_back(request.panels[0]);
  request.panels[0].label = "a < b & \"c\"";
  request.panels[1].label = "猫";
  PictureOptions options;
  options.layout = Layout::kSheet;
  options.font = test::kFont;
  options.colorbar = true;
  options.shared_scale = true;
  const std::string svg = RenderVector(request, options, VectorFormat::kSvg).bytes;
  CHECK(svg.find("a &lt; b &amp; &quot;c&quot;</text>") != std::string::npos);
  CHECK(svg.find("猫</text>") != std::string::npos);
  CHECK(svg.find(">100</text>") != std::string::npos);
  const auto count = [&](const std::string& word) {
    int found = 0;
    for (size_t at = 0; (at = svg.find(word, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  CHECK(count("data:image/jpeg;base64,") == 1);
  CHECK(count("<use ") == 2);
}

TEST_CASE("U-25 an SVG is XML whatever a label holds") {
  const FitCase fit = test::FitCases()[0];
  const Image photo = Filled(fit.geometry.source, {200, 100, 50});
  const auto svg = [&](const std::string& label) {
    return RenderVector(Labelled(fit, photo, label), LabelOptions({}), VectorFormat::kSvg).bytes;
  };
  CHECK(svg("gr\xF6\xDF"
            "e")
            .find(">gr\uFFFD\uFFFDe</text>") != std::string::npos);  // Latin-1
  CHECK(svg("a\x01\x1F<\x7F").find(">a\uFFFD\uFFFD&lt;\x7F</text>") != std::string::npos);
  CHECK(svg("\xEF\xBF\xBE\xEF\xBF\xBF").find(">\uFFFD\uFFFD</text>") != std::string::npos);
  CHECK(svg("\xED\xA0\x80").find("\xED\xA0") == std::string::npos);  // half a surrogate pair
  CHECK(svg("größe 猫 😀").find(">größe 猫 😀</text>") != std::string::npos);
}

}  // namespace
}  // namespace attnmap
