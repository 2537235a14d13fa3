// ImageGeometry as PrepareImage makes it, against the pixels themselves: a
// picture whose values say where they are keeps saying so once prepared.

#include <algorithm>
#include <cmath>
#include <optional>

#include "attnmap/image/prepare.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using Kind = ResizeTarget::Kind;

// Red is the column, green the row, blue 255.
Image Ramp(int rows, int cols) {
  Image image(rows, cols);
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < cols; ++x) {
      image.row(y)[x * 3] = static_cast<uint8_t>(x);
      image.row(y)[x * 3 + 1] = static_cast<uint8_t>(y);
      image.row(y)[x * 3 + 2] = 255;
    }
  }
  return image;
}

// Values stay what they are in 8 bits; padding is 0 in every channel.
InputSpec RawSpec(Kind kind, int resize, int crop) {
  InputSpec spec;
  spec.patch_size = 8;
  spec.model_size = {crop, crop};
  spec.preprocess.resize = ResizeTarget{kind, {resize, resize}};
  spec.preprocess.crop = spec.model_size;
  spec.preprocess.filter = Filter::kBilinear;
  spec.preprocess.rescale = 1;
  spec.preprocess.black_border = true;
  return spec;
}

struct Setting {
  const char* name;
  InputSpec spec;
  FitOptions options;
};

std::vector<Setting> Settings() {
  const InputSpec centre = RawSpec(Kind::kShortSide, 75, 64);
  InputSpec floor = centre;
  floor.preprocess.crop_rounding = Preprocess::CropRounding::kFloor;
  FitOptions exact{Fit::kStretch, {}, RowsCols{48, 96}};
  return {{"whole", centre, {Fit::kWhole, {}, {}}},
          {"crop", centre, {Fit::kCrop, {}, {}}},
          {"crop, transformers' middle", floor, {Fit::kCrop, {}, {}}},
          {"crop, border", RawSpec(Kind::kLongSide, 67, 64), {Fit::kCrop, {}, {}}},
          {"crop, squash", RawSpec(Kind::kExact, 73, 64), {Fit::kCrop, {}, {}}},
          {"crop, smaller than the crop", RawSpec(Kind::kExact, 41, 64), {Fit::kCrop, {}, {}}},
          {"crop, enlarged", centre, {Fit::kCrop, 200, {}}},
          {"stretch", centre, exact},
          {"pad", centre, {Fit::kPad, {}, {}}},
          {"pad, enlarged", centre, {Fit::kPad, 208, {}}}};
}

// Calls check(setting, picture, input) for each setting and some pictures.
template <typename Check>
void ForEach(Check check) {
  for (const Setting& setting : Settings()) {
    for (RowsCols size :
         {RowsCols{131, 75}, RowsCols{90, 120}, RowsCols{64, 64}, RowsCols{250, 31}}) {
      const Image image = Ramp(size.rows, size.cols);
      INFO(setting.name << ", " << size.rows << " x " << size.cols);
      check(image, PrepareImage(image, setting.spec, setting.options));
    }
  }
}

}  // namespace

TEST_CASE("U-05 each model pixel shows the source position that the geometry says") {
  ForEach([](const Image& image, const ModelInput& input) {
    const ImageGeometry& g = input.geometry;
    const size_t cols = static_cast<size_t>(g.model.cols);
    const size_t plane = static_cast<size_t>(g.model.rows) * cols;
    int seen = 0;
    for (int r = 0; r < g.model.rows; ++r) {
      for (int c = 0; c < g.model.cols; ++c) {
        const float* pixel = input.pixels.values.data() + static_cast<size_t>(r) * cols + c;
        const double y = g.SourceRow(r + 0.5);
        const double x = g.SourceCol(c + 0.5);
        const bool outside = y < 0 || x < 0 || y > image.rows || x > image.cols;
        if ((pixel[2 * plane] == 0) != outside) FAIL("no padding exactly there: " << r << "," << c);
        if (outside) continue;
        ++seen;
        // The filter bends the ramp within its reach of an edge.
        const double reach_y = std::max(1.0, static_cast<double>(g.source.rows) / g.resized.rows);
        const double reach_x = std::max(1.0, static_cast<double>(g.source.cols) / g.resized.cols);
        const bool inner_x = x > reach_x && x < image.cols - reach_x;
        const bool inner_y = y > reach_y && y < image.rows - reach_y;
        if (inner_x && !(std::abs(pixel[0] - (x - 0.5)) < 1.01))
          FAIL("column at " << r << "," << c);
        if (inner_y && !(std::abs(pixel[plane] - (y - 0.5)) < 1.01)) {
          FAIL("row at " << r << "," << c);
        }
      }
    }
    REQUIRE(seen > 0);
  });
}

TEST_CASE("A patch maps to source pixels and each of them back to the patch") {
  ForEach([](const Image& image, const ModelInput& input) {
    const ImageGeometry& g = input.geometry;
    for (int row = 0; row < input.grid.rows; ++row) {
      for (int col = 0; col < input.grid.cols; ++col) {
        const Rect rect = g.PatchRect(input.grid, row, col);
        const bool shows =
            rect.bottom > 0 && rect.right > 0 && rect.top < image.rows && rect.left < image.cols;
        REQUIRE(g.PatchShowsPicture(input.grid, row, col) == shows);
        const auto first = [](double edge) { return std::max(0, static_cast<int>(edge) - 1); };
        for (int y = first(rect.top); y < image.rows && y < rect.bottom + 1; ++y) {
          for (int x = first(rect.left); x < image.cols && x < rect.right + 1; ++x) {
            const bool inside = y + 0.5 >= rect.top && y + 0.5 < rect.bottom &&
                                x + 0.5 >= rect.left && x + 0.5 < rect.right;
            const auto under = g.PatchUnder(input.grid, x, y);
            if ((under == std::optional(RowsCols{row, col})) != inside) FAIL(x << "," << y);
          }
        }
      }
    }
  });
}

TEST_CASE("A pixel that no patch covers has none, the others exactly one") {
  ForEach([](const Image& image, const ModelInput& input) {
    const ImageGeometry& g = input.geometry;
    const Rect seen = g.SeenRect();
    for (int y = 0; y < image.rows; ++y) {
      for (int x = 0; x < image.cols; ++x) {
        const bool inside = y + 0.5 >= seen.top && y + 0.5 < seen.bottom && x + 0.5 >= seen.left &&
                            x + 0.5 < seen.right;
        if (g.PatchUnder(input.grid, x, y).has_value() != inside) FAIL(x << "," << y);
      }
    }
    REQUIRE(!g.PatchUnder(input.grid, -1, 0));
    REQUIRE(!g.PatchUnder(input.grid, 0, image.rows));
    REQUIRE(!g.PatchUnder(input.grid, image.cols, 0));
  });
}

TEST_CASE("Neighbouring patches share their edges and the whole picture is covered") {
  const Image image = Ramp(131, 75);
  const ModelInput input =
      PrepareImage(image, RawSpec(Kind::kShortSide, 75, 64), {Fit::kWhole, {}, {}});
  const PatchGrid& grid = input.grid;
  for (int row = 0; row + 1 < grid.rows; ++row) {
    CHECK(input.geometry.PatchRect(grid, row, 0).bottom ==
          input.geometry.PatchRect(grid, row + 1, 0).top);
  }
  const Rect first = input.geometry.PatchRect(grid, 0, 0);
  const Rect last = input.geometry.PatchRect(grid, grid.rows - 1, grid.cols - 1);
  CHECK(first.top == 0);
  CHECK(first.left == 0);
  CHECK(last.bottom == 131);
  CHECK(last.right == 75);
}

TEST_CASE("Source and model positions are each other's inverse") {
  ForEach([](const Image& image, const ModelInput& input) {
    const ImageGeometry& g = input.geometry;
    for (double at : {0.0, 0.5, 7.25, 30.0}) {
      REQUIRE(g.ModelRow(g.SourceRow(at)) == Approx(at).margin(1e-9));
      REQUIRE(g.ModelCol(g.SourceCol(at)) == Approx(at).margin(1e-9));
    }
    REQUIRE(g.SourceRow(g.resized.rows - g.top) == Approx(image.rows));
    REQUIRE(g.SourceCol(-g.left) == 0);
  });
}

}  // namespace attnmap
