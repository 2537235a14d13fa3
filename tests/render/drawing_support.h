#ifndef ATTNMAP_TESTS_RENDER_DRAWING_SUPPORT_H_
#define ATTNMAP_TESTS_RENDER_DRAWING_SUPPORT_H_

#include <cstdio>
#include <string>
#include <vector>

#include "attnmap/render/picture.h"
#include "render/canvas.h"
#include "render/render_support.h"
#include "support/catch.h"

namespace attnmap::test {

inline const std::string kPdfModule = ATTNMAP_BINARY_DIR "/attnmap-pdf.so";

struct Filled2d {
  double left, top, right, bottom;
  Colour colour;
  double opacity;
};

inline double NumberAfter(const std::string& line, const std::string& name, double otherwise) {
  const size_t at = line.find(" " + name + "=\"");
  return at == std::string::npos ? otherwise : std::stod(line.substr(at + name.size() + 3));
}

// The rectangles of an SVG, but for the paper.
inline std::vector<Filled2d> RectsOf(const std::string& svg) {
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

inline PictureRequest RequestOf(const FitCase& fit, const Image& photo) {
  std::vector<float> values;
  for (int i = 0; i < fit.grid.num_patches(); ++i)
    values.push_back(static_cast<float>(i * 37 % 101));
  PictureRequest request;
  request.sources.push_back({&photo, fit.geometry});
  request.panels.push_back({MapOf(fit.grid, values), {}, 0, {}});
  return request;
}

// A sheet of two, the first with this label.
inline PictureRequest Labelled(const FitCase& fit, const Image& photo, const std::string& label) {
  PictureRequest request = RequestOf(fit, photo);
  request.panels.push_back(request.panels[0]);
  request.panels[0].label = label;
  request.panels[1].label = "b";
  return request;
}

inline PictureOptions LabelOptions(std::vector<std::string> fallback_fonts) {
  PictureOptions options;
  options.layout = Layout::kSheet;
  options.font = kFont;
  options.fallback_fonts = std::move(fallback_fonts);
  options.pdf_module = kPdfModule;
  return options;
}

inline bool Overlap(const Box& a, const Box& b) {
  return a.top < b.bottom() && b.top < a.bottom() && a.left < b.right() && b.left < a.right();
}

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_RENDER_DRAWING_SUPPORT_H_
