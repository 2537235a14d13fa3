#include <cmath>

#include "attnmap/render/picture.h"
#include "render/compose.h"
#include "render/drawing_support.h"
#include "render/render_support.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using test::Filled;
using test::MapOf;

PictureOptions SheetOptions(Layout layout = Layout::kSheet) {
  PictureOptions options;
  options.layout = layout;
  options.font = test::kFont;
  options.colorbar = layout != Layout::kHeads;
  return options;
}

// No picture, text, bar or legend on another or over the edge; aspects kept to the pixel.
void CheckGeometry(Composition& composition) {
  const Page& page = composition.page;
  std::vector<Box> boxes = page.pictures;
  if (page.bar) boxes.push_back(*page.bar);
  for (const Box& swatch : page.swatches) boxes.push_back(swatch);
  for (const PlacedText& text : TextsOf(page, composition.content, *composition.font)) {
    composition.font->SetSize(text.pixels);
    if (text.text.empty()) continue;
    const int top = text.baseline - composition.font->digit_height();
    boxes.push_back(
        {top, text.left, composition.font->digit_height(), composition.font->Width(text.text)});
  }
  int wrong = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    wrong += boxes[i].top < 0 || boxes[i].left < 0 || boxes[i].bottom() > page.canvas.rows ||
             boxes[i].right() > page.canvas.cols;
    for (size_t j = 0; j < i; ++j) wrong += test::Overlap(boxes[i], boxes[j]) ? 1 : 0;
  }
  CHECK(wrong == 0);
  for (size_t i = 0; i < composition.tiles.size(); ++i) {
    const RowsCols photo = composition.SourceOf(composition.tiles[i]).picture->size();
    const Box& box = page.pictures[i];
    const double scale =
        static_cast<double>(std::max(box.rows, box.cols)) / std::max(photo.rows, photo.cols);
    CHECK(std::abs(box.rows - photo.rows * scale) <= 1);
    CHECK(std::abs(box.cols - photo.cols * scale) <= 1);
  }
}

TEST_CASE(
    "U-24 twelve layers by twelve heads: heads of rows and columns, whole, nothing collides") {
  const PatchGrid grid{14, 21, 16};
  const Image photo = Filled({300, 451}, {90, 90, 90});
  PictureRequest request;
  request.sources.push_back({&photo, {{300, 451}, {224, 336}, {224, 336}, 0, 0}});
  for (int layer = 0; layer < 12; ++layer) {
    for (int head = 0; head < 12; ++head) {
      PatchMap map = test::Impulse(grid, layer, head, 0.0001F * static_cast<float>(layer + 1));
      map.layer = layer;
      map.head = std::to_string(head);
      request.panels.push_back(
          {map, "layer " + std::to_string(layer) + " head " + map.head, 0, {}});
    }
  }
  for (const bool shared : {false, true}) {
    PictureOptions options = SheetOptions();
    options.shared_scale = shared;
    Composition composition = Compose(request, options);
    CheckGeometry(composition);
    CHECK(composition.content.labels.empty());
    CHECK(composition.content.row_heads.size() == 12);
    CHECK(composition.content.col_heads[11] == "head 11");
    CHECK(composition.content.notes.size() == (shared ? 0 : 144));
    CHECK(composition.page.font_pixels >= 10);
    for (const PlacedText& head : composition.page.heads) {
      CHECK(head.text.find("…") == std::string::npos);
    }
    const double aspect =
        static_cast<double>(composition.page.canvas.cols) / composition.page.canvas.rows;
    CHECK(aspect > 1);
    CHECK(aspect < 2);
  }
}

TEST_CASE("U-07 a contact sheet of photos of any shape distorts none") {
  const std::vector<RowsCols> sizes = {{300, 451}, {512, 512}, {640, 100}, {40, 900}, {3, 2}};
  std::vector<Image> photos;
  for (RowsCols size : sizes) photos.push_back(Filled(size, {90, 90, 90}));
  for (Layout layout : {Layout::kSheet, Layout::kHeatmap, Layout::kHeads, Layout::kSideBySide}) {
    for (const bool fixed : {false, true}) {
      PictureRequest request;
      for (size_t i = 0; i < photos.size(); ++i) {
        const ImageGeometry geometry{sizes[i], {64, 64}, {64, 64}, 0, 0};
        request.sources.push_back({&photos[i], geometry});
        request.panels.push_back({test::Impulse({4, 4, 16}, 1, 2),
                                  "photo with a name " + std::to_string(i) + ".png",
                                  i,
                                  {static_cast<int>(i), 0}});
      }
      if (layout == Layout::kSideBySide) request.shape = RowsCols{5, 1};
      PictureOptions options = SheetOptions(layout);
      if (fixed) options.output_size = RowsCols{900, 1200};
      Composition composition = Compose(request, options);
      CheckGeometry(composition);
      if (fixed) CHECK(composition.page.canvas == RowsCols{900, 1200});
      CHECK(composition.tiles.size() == (layout == Layout::kSideBySide ? 10U : 5U));
    }
  }
}

TEST_CASE("maps with colours of their own have no scale to tell") {
  const Image photo = Filled({80, 120}, {90, 90, 90});
  PictureRequest request;
  request.sources.push_back({&photo, {{80, 120}, {32, 48}, {32, 48}, 0, 0}});
  for (int i = 0; i < 2; ++i) {
    PatchMap map = test::Impulse({2, 3, 16}, 1, i);
    map.colours.assign(18, 0.25F);
    request.panels.push_back({map, "model " + std::to_string(i), 0, {}});
  }
  PictureOptions options = SheetOptions();
  options.colorbar = false;
  const Composition composition = Compose(request, options);
  CHECK(composition.content.notes.empty());
  CHECK(composition.content.labels.size() == 2);
}

TEST_CASE("pictures by models: places, heads, and the same pixels for both models") {
  const Image photo = Filled({80, 120}, {90, 90, 90});
  PictureRequest request;
  // Two models that see the photo in other sizes and grids: one patch each
  // covers the same quarter of the photo.
  request.sources.push_back({&photo, {{80, 120}, {32, 48}, {32, 48}, 0, 0}});
  request.sources.push_back({&photo, {{80, 120}, {56, 84}, {56, 84}, 0, 0}});
  request.panels.push_back({test::Impulse({2, 2, 24}, 1, 1), {}, 0, {0, 0}});
  request.panels[0].map.grid = {2, 2, 24};
  request.panels[0].map = test::Impulse({2, 3, 16}, 1, 2);
  request.panels.push_back({test::Impulse({4, 6, 14}, 3, 5), {}, 1, {0, 1}});
  request.panels[1].map.values[static_cast<size_t>(6 * 2 + 5)] = 1;
  request.panels[1].map.values[static_cast<size_t>(6 * 2 + 4)] = 1;
  request.panels[1].map.values[static_cast<size_t>(6 * 3 + 4)] = 1;
  request.shape = RowsCols{1, 2};
  request.col_heads = {"A", "B"};
  PictureOptions options = SheetOptions();
  options.interpolation = Interpolation::kNearest;
  const Composition composition = Compose(request, options);
  const Box &a = composition.page.pictures[0], &b = composition.page.pictures[1];
  CHECK(a.top == b.top);
  CHECK(a.size() == b.size());
  const Image image = RenderPicture(request, options).image;
  int different = 0;
  for (int y = 0; y < a.rows; ++y) {
    for (int x = 0; x < a.cols; ++x) {
      different += test::At(image, a.top + y, a.left + x) != test::At(image, b.top + y, b.left + x);
    }
  }
  CHECK(different == 0);
}

TEST_CASE("U-21 percentiles are numpy's, linear between order statistics") {
  // numpy.percentile([1, 2, 4, 8, 16], [10, 90]) = 1.4, 12.8
  const PatchMap map = MapOf({1, 5, 4}, {8, 1, 16, 2, 4});
  const ValueRange range = ComputeRange({&map, 1}, {Normalize::Kind::kPercentile, 10, 90});
  CHECK(range.low == Approx(1.4));
  CHECK(range.high == Approx(12.8));
}

TEST_CASE("U-07 letters that no font has are told") {
  const Image photo = Filled({80, 120}, {90, 90, 90});
  PictureRequest request;
  request.sources.push_back({&photo, ImageGeometry::Identity({80, 120})});
  request.panels.push_back({MapOf({1, 2, 60}, {0, 1}), "猫.png", 0, {}});
  request.panels.push_back({MapOf({1, 2, 60}, {0, 1}), "cat.png", 0, {}});
  const auto notes = RenderPicture(request, SheetOptions()).notes;
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].find("'猫.png'") != std::string::npos);
}

}  // namespace
}  // namespace attnmap
