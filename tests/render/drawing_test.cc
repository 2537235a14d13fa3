#include "render/drawing.h"

#include <zlib.h>

#include <cstdio>

#include "attnmap/core/error.h"
#include "render/render_support.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using test::At;
using test::Filled;
using test::FitCase;

struct Filled2d {
  double left, top, right, bottom;
  Colour colour;
  double opacity;
};

double NumberAfter(const std::string& line, const std::string& name, double otherwise) {
  const size_t at = line.find(" " + name + "=\"");
  return at == std::string::npos ? otherwise : std::stod(line.substr(at + name.size() + 3));
}

// The rectangles of an SVG, but for the paper.
std::vector<Filled2d> RectsOf(const std::string& svg) {
  std::vector<Filled2d> rects;
  for (size_t at = svg.find("<g "); (at = svg.find("<rect", at)) != std::string::npos; ++at) {
    const std::string line = svg.substr(at, svg.find('>', at) - at);
    Filled2d rect{NumberAfter(line, "x", -1),          NumberAfter(line, "y", -1), 0, 0, {},
                  NumberAfter(line, "fill-opacity", 1)};
    rect.right = rect.left + NumberAfter(line, "width", -1);
    rect.bottom = rect.top + NumberAfter(line, "height", -1);
    unsigned r = 0, g = 0, b = 0;
    REQUIRE(std::sscanf(line.c_str() + line.find("fill=\"#"), "fill=\"#%2x%2x%2x", &r, &g, &b) ==
            3);
    rect.colour = {static_cast<uint8_t>(r), static_cast<uint8_t>(g), static_cast<uint8_t>(b)};
    rects.push_back(rect);
  }
  return rects;
}

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

PictureRequest RequestOf(const FitCase& fit, const Image& photo) {
  std::vector<float> values;
  for (int i = 0; i < fit.grid.num_patches(); ++i)
    values.push_back(static_cast<float>(i * 37 % 101));
  PictureRequest request;
  request.sources.push_back({&photo, fit.geometry});
  request.panels.push_back({test::MapOf(fit.grid, values), {}, 0, {}});
  return request;
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

// The inflated streams of a PDF, one after the other.
std::string StreamsOf(const std::string& pdf) {
  std::string all;
  for (size_t at = 0; (at = pdf.find("\nstream\n", at)) != std::string::npos;) {
    at += 8;
    const size_t end = pdf.find("endstream", at);
    std::string out(1 << 22, '\0');
    uLongf size = out.size();
    if (uncompress(reinterpret_cast<Bytef*>(out.data()), &size,
                   reinterpret_cast<const Bytef*>(pdf.data() + at), end - at) == Z_OK) {
      all += out.substr(0, size);
    }
    at = end;
  }
  return all;
}

TEST_CASE("U-25 the PDF's rectangles are the SVG's, upside down") {
  const FitCase fit = test::FitCases()[0];
  const Image photo = Filled(fit.geometry.source, {200, 100, 50});
  const PictureRequest request = RequestOf(fit, photo);
  PictureOptions options;
  options.font = test::kFont;
  options.colorbar = true;
  const auto rects = RectsOf(RenderVector(request, options, VectorFormat::kSvg).bytes);
  const std::string pdf = RenderVector(request, options, VectorFormat::kPdf).bytes;
  REQUIRE(pdf.starts_with("%PDF-"));
  CHECK(pdf.find("/DCTDecode") != std::string::npos);
  const std::string content = StreamsOf(pdf);
  std::vector<Filled2d> found;
  for (size_t at = 0; (at = content.find(" re\n", at)) != std::string::npos; ++at) {
    const size_t begin = content.rfind('\n', at) + 1;
    Filled2d rect{};
    double cols = 0, rows = 0;
    REQUIRE(std::sscanf(content.c_str() + begin, "%lf %lf %lf %lf re", &rect.left, &rect.bottom,
                        &cols, &rows) == 4);
    const double height = RenderPicture(request, options).image.rows;
    rect.right = rect.left + cols;
    rect.bottom = height - rect.bottom;
    rect.top = rect.bottom - rows;
    found.push_back(rect);
  }
  REQUIRE(found.size() == rects.size());
  double apart = 0;
  for (size_t i = 0; i < rects.size(); ++i) {
    for (double difference : {found[i].left - rects[i].left, found[i].top - rects[i].top,
                              found[i].right - rects[i].right, found[i].bottom - rects[i].bottom}) {
      apart = std::max(apart, std::abs(difference));
    }
  }
  CHECK(apart < 0.01);
}

// A sheet of two, the first with this label.
PictureRequest Labelled(const FitCase& fit, const Image& photo, const std::string& label) {
  PictureRequest request = RequestOf(fit, photo);
  request.panels.push_back(request.panels[0]);
  request.panels[0].label = label;
  request.panels[1].label = "b";
  return request;
}

PictureOptions LabelOptions(std::vector<std::string> fallback_fonts) {
  PictureOptions options;
  options.layout = Layout::kSheet;
  options.font = test::kFont;
  options.fallback_fonts = std::move(fallback_fonts);
  return options;
}

TEST_CASE("U-25 a PDF takes the fonts it can hold, and tells of letters that none of them has") {
  const FitCase fit = test::FitCases()[0];
  const Image photo = Filled(fit.geometry.source, {200, 100, 50});
  const PictureRequest request = Labelled(fit, photo, "猫");
  const auto draw = [&](VectorFormat format, std::vector<std::string> fallback_fonts) {
    return RenderVector(request, LabelOptions(std::move(fallback_fonts)), format);
  };
  CHECK(draw(VectorFormat::kSvg, {test::kCatCff}).notes.empty());
  const VectorPicture boxes = draw(VectorFormat::kPdf, {test::kCatCff});
  REQUIRE(boxes.notes.size() == 1);
  CHECK(boxes.notes[0].find("no font here that a PDF can hold has all letters of '猫'") == 0);
  const VectorPicture letters = draw(VectorFormat::kPdf, {test::kCatCff, test::kCatTrueType});
  CHECK(letters.notes.empty());
  // The cat's glyph, number 1 of the second font, is set and can be searched for.
  const std::string streams = StreamsOf(letters.bytes);
  CHECK(streams.find("<0001> Tj") != std::string::npos);
  CHECK(streams.find("<0001> <732B>") != std::string::npos);
  CHECK(StreamsOf(boxes.bytes).find("<0001> Tj") == std::string::npos);
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
