#include <algorithm>
#include <cmath>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/image/resample.h"
#include "image/reference_files.h"
#include "support/catch.h"

namespace attnmap {
namespace {

// Rows of the specification's 5 x 5 grid, value ((7 i + 3 j) mod 11) / 10, in
// channel `channel` of a picture of zeros.
Tensor Grid(int channel) {
  Tensor chw({3, 5, 5});
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 5; ++j) {
      chw.values[static_cast<size_t>(channel * 25 + i * 5 + j)] =
          static_cast<float>((7 * i + 3 * j) % 11) / 10.0F;
    }
  }
  return chw;
}

Tensor ToChw(const Image& image, float rescale) {
  Tensor chw({3, image.rows, image.cols});
  const size_t plane = static_cast<size_t>(image.rows) * static_cast<size_t>(image.cols);
  for (size_t i = 0; i < plane; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      chw.values[c * plane + i] = static_cast<float>(image.rgb[i * 3 + c]) * rescale;
    }
  }
  return chw;
}

}  // namespace

TEST_CASE("ResizeFloat gives torch's antialiased bicubic numbers in every channel") {
  // torch.nn.functional.interpolate(mode="bicubic", antialias=True), size (7, 6).
  const std::vector<double> first = {-0.051851, 0.167798, 0.472900, 0.811788, 0.752627, 0.027328};
  const std::vector<double> last = {0.563260, 0.919544, 0.416398, 0.115932, 0.477907, 0.754216};
  for (int channel = 0; channel < 3; ++channel) {
    const Tensor out = ResizeFloat(Grid(channel), {7, 6}, Filter::kBicubic);
    REQUIRE(out.shape == Shape{3, 7, 6});
    const size_t at = static_cast<size_t>(channel) * 42;
    for (size_t x = 0; x < 6; ++x) {
      CHECK(out.values[at + x] == Approx(first[x]).margin(1e-6));
      CHECK(out.values[at + 36 + x] == Approx(last[x]).margin(1e-6));
      CHECK(out.values[(at + 42 + x) % 126] == 0.0F);
    }
  }
}

TEST_CASE("ResizeFloat follows the 8-bit resize where nothing is clipped") {
  // Half-grey noise of small range: no overshoot, so rounding is all that differs.
  Image image = attnmap::test::RandomImage(61, 47, 2);
  for (uint8_t& value : image.rgb) value = static_cast<uint8_t>(100 + value % 50);
  for (Filter filter : {Filter::kBox, Filter::kBilinear, Filter::kHamming, Filter::kBicubic,
                        Filter::kLanczos, Filter::kNearest}) {
    for (RowsCols size : {RowsCols{20, 30}, RowsCols{90, 33}, RowsCols{61, 12}}) {
      const Image eight = Resize(image, size, filter);
      const Tensor real = ResizeFloat(ToChw(image, 1), size, filter);
      const Tensor expected = ToChw(eight, 1);
      double largest = 0;
      for (size_t i = 0; i < expected.values.size(); ++i) {
        largest = std::max<double>(largest, std::abs(real.values[i] - expected.values[i]));
      }
      CHECK(largest <= 1.3);  // half a level a pass, the first spread by the second's weights
    }
  }
}

TEST_CASE("ResizeFloat rounds and clips nothing") {
  Tensor step({3, 1, 8}, std::vector<float>(24, 0));
  for (size_t c = 0; c < 3; ++c)
    std::fill_n(step.values.begin() + static_cast<int>(c) * 8 + 4, 4, 1);
  const Tensor out = ResizeFloat(step, {1, 16}, Filter::kBicubic);
  CHECK(*std::min_element(out.values.begin(), out.values.end()) < -0.01F);
  CHECK(*std::max_element(out.values.begin(), out.values.end()) > 1.01F);
}

TEST_CASE("ResizeFloat to the same size changes nothing") {
  const Tensor chw = ToChw(attnmap::test::RandomImage(9, 14, 3), 0.1F);
  for (Filter filter : {Filter::kBilinear, Filter::kLanczos, Filter::kNearest}) {
    CHECK(ResizeFloat(chw, {9, 14}, filter).values == chw.values);
  }
}

TEST_CASE("ResizeFloatWindow is a window of the rescaled picture's resize") {
  const Image image = attnmap::test::RandomImage(31, 40, 4);
  const double rescale = 1.0 / 255;
  Tensor chw = ToChw(image, 1);
  for (float& value : chw.values) value = static_cast<float>(value * rescale);
  const Tensor whole = ResizeFloat(chw, {20, 25}, Filter::kBilinear);
  const PixelWindow window{3, 7, {11, 16}};
  const Tensor part = ResizeFloatWindow(image, rescale, {20, 25}, Filter::kBilinear, window);
  REQUIRE(part.shape == Shape{3, 11, 16});
  for (size_t c = 0; c < 3; ++c) {
    for (size_t y = 0; y < 11; ++y) {
      for (size_t x = 0; x < 16; ++x) {
        REQUIRE(part.values[(c * 11 + y) * 16 + x] == whole.values[(c * 20 + y + 3) * 25 + x + 7]);
      }
    }
  }
}

TEST_CASE("ResizeFloat refuses what is no picture") {
  CHECK_THROWS_AS(ResizeFloat(Tensor({4, 5, 5}), {2, 2}, Filter::kBox), Error);
  CHECK_THROWS_AS(ResizeFloat(Tensor({3, 5}), {2, 2}, Filter::kBox), Error);
  CHECK_THROWS_AS(ResizeFloat(Tensor({3, 0, 5}), {2, 2}, Filter::kBox), Error);
  CHECK_THROWS_AS(ResizeFloat(Tensor({3, 5, 5}), {0, 2}, Filter::kBox), Error);
}

}  // namespace attnmap
