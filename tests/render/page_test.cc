#include "render/page.h"

#include <cmath>

#include "attnmap/core/error.h"
#include "render/drawing_support.h"
#include "render/render_support.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using test::At;
using test::kFont;
using test::Rgb;

constexpr Rgb kPaper = {255, 255, 255};

PageContent Sheet(int layers, int heads) {
  PageContent content;
  content.rows = layers;
  content.cols = heads;
  content.num_pictures = layers * heads;
  content.framed = true;
  for (int l = 0; l < layers; ++l) {
    for (int h = 0; h < heads; ++h) {
      content.labels.push_back("layer " + std::to_string(l) + " head " + std::to_string(h));
      content.notes.push_back("0.000412 – 0.0267");
    }
  }
  content.colorbar = true;
  content.bar_low = "0.000412";
  content.bar_high = "0.0267";
  return content;
}

bool Inside(const Box& box, RowsCols canvas) {
  return box.top >= 0 && box.left >= 0 && box.bottom() <= canvas.rows && box.right() <= canvas.cols;
}

void CheckPlaces(const Page& page) {
  for (size_t i = 0; i < page.pictures.size(); ++i) {
    CHECK(Inside(page.pictures[i], page.canvas));
    if (page.bar) CHECK_FALSE(test::Overlap(page.pictures[i], *page.bar));
    for (size_t j = 0; j < i; ++j) CHECK_FALSE(test::Overlap(page.pictures[i], page.pictures[j]));
  }
  if (page.bar) CHECK(Inside(*page.bar, page.canvas));
}

// The text alone on paper: nothing may touch the canvas's edge, a picture's
// place or the neighbour's column.
void CheckText(const Page& page, const PageContent& content, Font& font) {
  Image image = test::Filled(page.canvas, kPaper);
  DrawPageText(image, page, content, test::Grey(), font);
  int at_edge = 0, in_picture = 0;
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.cols; ++x) {
      if (At(image, y, x) == kPaper) continue;
      at_edge += y == 0 || x == 0 || y == image.rows - 1 || x == image.cols - 1 ? 1 : 0;
      for (const Box& box : page.pictures) in_picture += test::Overlap(box, {y, x, 1, 1}) ? 1 : 0;
    }
  }
  CHECK(at_edge == 0);
  CHECK(in_picture == 0);
}

TEST_CASE("a sheet has room for every picture, label, note and the bar") {
  struct Case {
    int layers, heads;
    RowsCols source;
  };
  const Case cases[] = {{1, 1, {300, 451}},   {12, 12, {400, 600}}, {12, 12, {600, 400}},
                        {24, 16, {512, 512}}, {1, 6, {90, 1200}},   {2, 3, {1200, 90}},
                        {3, 2, {5, 3}}};
  Font font(kFont, 12);
  for (const Case& c : cases) {
    INFO(c.layers << " layers, " << c.heads << " heads, " << c.source.rows << " x "
                  << c.source.cols);
    PageContent content = Sheet(c.layers, c.heads);
    const RowsCols picture = SheetPictureSize({c.layers, c.heads}, c.source);
    const Page page = LayOutPage(content, picture, &font);
    REQUIRE(page.pictures.size() == static_cast<size_t>(c.layers * c.heads));
    if (page.pictures.size() <= 150) CheckPlaces(page);
    CheckText(page, content, font);
    // U-07: the aspect is kept, to the nearest pixel.
    const double scale = static_cast<double>(std::max(picture.rows, picture.cols)) /
                         std::max(c.source.rows, c.source.cols);
    CHECK(std::abs(picture.rows - std::max(c.source.rows * scale, 1.0)) <= 0.5);
    CHECK(std::abs(picture.cols - std::max(c.source.cols * scale, 1.0)) <= 0.5);
    // Legible: letters of at least ten pixels, and the labels whole.
    CHECK(page.font_pixels >= 10);
    font.SetSize(page.font_pixels);
    CHECK(font.Width("layer 11 head 11") <= std::max(page.text_widths[0], 14 * page.font_pixels));
    for (const std::string& label : content.labels) {
      CHECK(font.Shortened(label, page.text_widths[0]) == label);
    }
  }
}

TEST_CASE("layers go down and heads across") {
  Font font(kFont, 12);
  const Page page = LayOutPage(Sheet(2, 3), {100, 150}, &font);
  CHECK(page.pictures[0].top == page.pictures[2].top);
  CHECK(page.pictures[0].left < page.pictures[1].left);
  CHECK(page.pictures[3].left == page.pictures[0].left);
  CHECK(page.pictures[3].top > page.pictures[0].bottom());
}

TEST_CASE("a label that is far too long is shortened, not drawn over its neighbour") {
  Font font(kFont, 12);
  PageContent content = Sheet(1, 2);
  content.labels[0] = std::string(300, 'W');
  const Page page = LayOutPage(content, {100, 100}, &font);
  font.SetSize(page.font_pixels);
  const std::string label = font.Shortened(content.labels[0], page.text_widths[0]);
  CHECK(page.text_lefts[0] + font.Width(label) <= page.text_lefts[1]);
  CheckText(page, content, font);
}

TEST_CASE("one picture without a bar is the canvas; with one it stands at the left, whole") {
  PageContent content;
  CHECK(LayOutPage(content, {300, 451}, nullptr).canvas == RowsCols{300, 451});
  content.colorbar = true;
  content.bar_low = "0.000412";
  content.bar_high = "0.0267";
  Font font(kFont, 12);
  for (RowsCols size : {RowsCols{300, 451}, {3000, 4000}, {16, 16}, {1, 1}, {40, 2000}}) {
    INFO(size.rows << " x " << size.cols);
    const Page page = LayOutPage(content, size, &font);
    CHECK(page.pictures[0].size() == size);
    CHECK(page.pictures[0].left == 0);
    if (size.rows >= 300) CHECK(page.canvas.rows == size.rows);
    CheckPlaces(page);
    Image image = test::Filled(page.canvas, kPaper);
    DrawPageText(image, page, content, test::Grey(), font);
    // All colours of the bar, the top colour at the top.
    CHECK(At(image, page.bar->top, page.bar->left) == Rgb{255, 255, 255});
    CHECK(At(image, page.bar->bottom() - 1, page.bar->left) == Rgb{0, 0, 0});
    int ink_at_right_edge = 0;
    for (int y = 0; y < image.rows; ++y) {
      ink_at_right_edge += At(image, y, image.cols - 1) != kPaper ? 1 : 0;
    }
    CHECK(ink_at_right_edge == 0);
    // The numbers are whole: as much ink as on a larger sheet of paper.
    const auto ink = [&](int rows, int down) {
      Image paper = test::Filled({rows, page.canvas.cols}, kPaper);
      Page moved = page;
      moved.bar->top += down;
      DrawPageText(paper, moved, content, test::Grey(), font);
      int64_t sum = 0;
      for (uint8_t v : paper.rgb) sum += 255 - v;
      return sum;
    };
    CHECK(ink(page.canvas.rows, 0) == ink(page.canvas.rows + 400, 200));
  }
}

TEST_CASE("an output size is met exactly, pictures as large as fit, centred") {
  Font font(kFont, 12);
  const PageContent content = Sheet(2, 3);
  for (RowsCols canvas : {RowsCols{800, 1200}, {1200, 800}, {400, 400}}) {
    const Page page = FitPage(content, {300, 450}, canvas, &font);
    CHECK(page.canvas == canvas);
    CheckPlaces(page);
    CheckText(page, content, font);
    const RowsCols picture = page.pictures[0].size();
    CHECK(picture.cols == Approx(picture.rows * 1.5).margin(1));
    const RowsCols larger{picture.rows + 2, picture.cols + 3};
    const RowsCols needed = LayOutPage(content, larger, &font).canvas;
    CHECK((needed.rows > canvas.rows || needed.cols > canvas.cols));
  }
  CHECK_THROWS_AS(FitPage(content, {300, 450}, {60, 60}, &font), Error);
}

TEST_CASE("the shape of a sheet of maps that are not layers by heads") {
  CHECK(SheetShape(1, {300, 450}, 1.6) == RowsCols{1, 1});
  CHECK(SheetShape(3, {300, 450}, 1.6) == RowsCols{1, 3});
  CHECK(SheetShape(6, {300, 450}, 1.6) == RowsCols{2, 3});
  CHECK(SheetShape(12, {512, 512}, 1.6) == RowsCols{3, 4});
  CHECK(SheetShape(12, {512, 512}, 0.5) == RowsCols{4, 3});
  for (int n = 1; n < 60; ++n) {
    const RowsCols shape = SheetShape(n, {200, 300}, 1.6);
    CHECK(shape.rows * shape.cols >= n);
    CHECK((shape.rows - 1) * shape.cols < n);
  }
}

TEST_CASE("a sheet too large for any file is refused") {
  Font font(kFont, 12);
  CHECK_THROWS_AS(LayOutPage(Sheet(40, 40), {4000, 6000}, &font), Error);
}

}  // namespace
}  // namespace attnmap
