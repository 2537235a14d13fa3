#include "attnmap/image/resample.h"

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "attnmap/core/error.h"
#include "image/reference_files.h"
#include "image/resample_weights.h"
#include "support/catch.h"
#include "support/shared.h"

namespace attnmap {
namespace {

namespace fs = std::filesystem;

constexpr Filter kSmooth[] = {Filter::kBox, Filter::kBilinear, Filter::kHamming, Filter::kBicubic,
                              Filter::kLanczos};
constexpr Filter kAll[] = {Filter::kNearest, Filter::kBox,     Filter::kBilinear,
                           Filter::kHamming, Filter::kBicubic, Filter::kLanczos};

bool IsAll(const Image& image, const std::vector<uint8_t>& colour) {
  for (size_t i = 0; i < image.rgb.size(); ++i) {
    if (image.rgb[i] != colour[i % 3]) return false;
  }
  return true;
}

// The picture of the specification's golden values.
Image Pattern() {
  Image image(9, 13);
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.cols; ++x) {
      image.row(y)[x * 3] = static_cast<uint8_t>((37 * x + 59 * y + 13 * x * y) % 256);
    }
  }
  return image;
}

std::vector<int> RedOfRow(const Image& image, int y) {
  std::vector<int> values;
  for (int x = 0; x < image.cols; ++x) values.push_back(image.row(y)[x * 3]);
  return values;
}

Image Transposed(const Image& image) {
  Image out(image.cols, image.rows);
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.cols; ++x) {
      std::copy_n(image.row(y) + x * 3, 3, out.row(x) + y * 3);
    }
  }
  return out;
}

Image CutOut(const Image& image, const PixelWindow& window) {
  Image out(window.size.rows, window.size.cols);
  for (int y = 0; y < out.rows; ++y) {
    std::copy_n(image.row(window.top + y) + window.left * 3, out.cols * 3, out.row(y));
  }
  return out;
}

int CheckCases(const fs::path& folder) {
  int checked = 0;
  const nlohmann::json cases = test::ReadJson(folder / "case.json").at("cases");
  for (const auto& entry : cases) {
    const auto filter = FilterFromName(entry.at("filter").get<std::string>());
    REQUIRE(filter.has_value());
    const Image in = test::ReadRgbPng(folder / entry.at("input").get<std::string>());
    const fs::path expected = folder / entry.at("expected").get<std::string>();
    const Image out =
        Resize(in, {entry.at("rows").get<int>(), entry.at("cols").get<int>()}, *filter);
    INFO(expected.string());
    CHECK(test::Difference(out, test::ReadRgbPng(expected)) == "");
    ++checked;
  }
  return checked;
}

// What one pass does, written down without a thought for speed.
std::vector<int> SlowPass(const std::vector<int>& in, int out, Filter filter) {
  const int length = static_cast<int>(in.size());
  const auto weights = FixedWeights({length, out, 0, out}, filter);
  std::vector<int> result;
  for (size_t i = 0; i < static_cast<size_t>(out); ++i) {
    int64_t sum = 1 << (kWeightBits - 1);
    for (int j = 0; j < weights.count(i); ++j) {
      sum += int64_t{weights.at(i)[j]} * in[static_cast<size_t>(weights.first[i] + j)];
    }
    result.push_back(static_cast<int>(std::clamp<int64_t>(sum >> kWeightBits, 0, 255)));
  }
  return result;
}

Image SlowHorizontal(const Image& image, int cols, Filter filter) {
  Image out(image.rows, cols);
  for (int y = 0; y < image.rows; ++y) {
    for (int c = 0; c < 3; ++c) {
      std::vector<int> line;
      for (int x = 0; x < image.cols; ++x) line.push_back(image.row(y)[x * 3 + c]);
      const std::vector<int> resampled = SlowPass(line, cols, filter);
      for (int x = 0; x < cols; ++x) {
        out.row(y)[x * 3 + c] = static_cast<uint8_t>(resampled[static_cast<size_t>(x)]);
      }
    }
  }
  return out;
}

Image SlowVertical(const Image& image, int rows, Filter filter) {
  return Transposed(SlowHorizontal(Transposed(image), rows, filter));
}

}  // namespace

TEST_CASE("Resize equals Pillow 13 to the last bit on the stored pictures") {
  const fs::path data = fs::path(ATTNMAP_TEST_DATA) / "resize";
  CHECK(CheckCases(data / "pillow") == 60);
  CHECK(CheckCases(data / "tall-and-large") == 36);
}

TEST_CASE("Resize equals Pillow on every golden resize case") {
  const auto golden = test::SharedFolder("golden");
  if (!golden) return;
  int folders = 0;
  for (const auto& entry : fs::directory_iterator(*golden)) {
    if (entry.path().filename().string().rfind("resize-", 0) != 0) continue;
    ++folders;
    CHECK(CheckCases(entry.path()) > 0);
  }
  CHECK(folders > 0);
}

TEST_CASE("Resize gives the numbers of the specification") {
  const Image image = Pattern();
  const Image cubic = Resize(image, {4, 5}, Filter::kBicubic);
  CHECK(RedOfRow(cubic, 0) == std::vector<int>{90, 121, 127, 130, 127});
  CHECK(RedOfRow(cubic, 1) == std::vector<int>{173, 144, 121, 118, 133});
  CHECK(RedOfRow(cubic, 2) == std::vector<int>{137, 139, 110, 136, 137});
  CHECK(RedOfRow(cubic, 3) == std::vector<int>{138, 102, 95, 126, 134});
  const Image linear = Resize(image, {4, 5}, Filter::kBilinear);
  CHECK(RedOfRow(linear, 0) == std::vector<int>{96, 119, 129, 130, 126});
  CHECK(RedOfRow(linear, 1) == std::vector<int>{165, 142, 122, 119, 134});
  CHECK(RedOfRow(linear, 2) == std::vector<int>{138, 137, 113, 134, 137});
  CHECK(RedOfRow(linear, 3) == std::vector<int>{134, 106, 98, 125, 132});
  const Image large_cubic = Resize(image, {11, 17}, Filter::kBicubic);
  CHECK(RedOfRow(large_cubic, 0) == std::vector<int>{0, 19, 49, 77, 105, 140, 171, 204, 227, 38, 1,
                                                     44, 72, 108, 139, 168, 192});
  CHECK(RedOfRow(large_cubic, 10) == std::vector<int>{224, 134, 157, 241, 138, 23, 75, 142, 33, 162,
                                                      117, 94, 211, 96, 182, 206, 108});
  const Image large_linear = Resize(image, {11, 17}, Filter::kBilinear);
  CHECK(RedOfRow(large_linear, 0) == std::vector<int>{0, 24, 52, 81, 109, 137, 165, 194, 222, 55,
                                                      23, 51, 79, 107, 136, 164, 188});
  CHECK(RedOfRow(large_linear, 10) == std::vector<int>{216, 142, 159, 222, 134, 46, 78, 126, 38,
                                                       146, 118, 105, 198, 110, 173, 190, 116});
}

TEST_CASE("Resize to the picture's own size copies it") {
  const Image image = test::RandomImage(17, 23, 1);
  for (Filter filter : kAll) {
    CHECK(test::Difference(Resize(image, image.size(), filter), image) == "");
  }
}

TEST_CASE("Resize of a single pixel repeats it") {
  Image pixel(1, 1);
  pixel.rgb = {3, 130, 255};
  for (Filter filter : kAll) {
    for (RowsCols size : {RowsCols{1, 7}, RowsCols{7, 1}, RowsCols{19, 40}}) {
      const Image out = Resize(pixel, size, filter);
      REQUIRE(out.size() == size);
      CHECK(IsAll(out, pixel.rgb));
    }
  }
}

TEST_CASE("Resize to one pixel averages the whole picture with the box filter") {
  Image image(100, 250);
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = i % 3 == 0 ? 254 : 100;
  for (int x = 0; x < 125; ++x) {
    for (int y = 0; y < 100; ++y) image.row(y)[x * 3] = 0;
  }
  const Image out = Resize(image, {1, 1}, Filter::kBox);
  CHECK(out.rgb == std::vector<uint8_t>{127, 100, 100});
}

TEST_CASE("Resize of one colour stays that colour") {
  Image image(37, 1000);
  for (size_t i = 0; i < image.rgb.size(); ++i) {
    image.rgb[i] = static_cast<uint8_t>(std::vector<int>{0, 255, 77}[i % 3]);
  }
  for (Filter filter : kAll) {
    for (RowsCols size : {RowsCols{1, 1}, RowsCols{2, 3}, RowsCols{36, 999}, RowsCols{74, 2001}}) {
      const Image out = Resize(image, size, filter);
      CHECK(IsAll(out, {0, 255, 77}));
    }
  }
}

TEST_CASE("The fast passes give what the plain formula gives") {
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    const auto side = [&](unsigned most) { return static_cast<int>(1 + random() % most); };
    const Image image = test::RandomImage(side(70), side(70), random());
    const RowsCols size{side(90), side(90)};
    const Filter filter = kSmooth[random() % 5];
    const bool vertical_first = image.rows != size.rows && image.cols != size.cols &&
                                size.rows < image.rows &&
                                image.rows - size.rows > 2 * (image.cols - size.cols);
    const auto across = [&](const Image& in) {
      return in.cols == size.cols ? in : SlowHorizontal(in, size.cols, filter);
    };
    const auto down = [&](const Image& in) {
      return in.rows == size.rows ? in : SlowVertical(in, size.rows, filter);
    };
    const Image expected = vertical_first ? across(down(image)) : down(across(image));
    INFO(image.rows << " x " << image.cols << " to " << size.rows << " x " << size.cols << " "
                    << FilterName(filter));
    REQUIRE(test::Difference(Resize(image, size, filter), expected) == "");
  }
}

TEST_CASE("Long rows and columns, which are done in pieces, come out whole") {
  for (Filter filter : kSmooth) {
    const Image wide = test::RandomImage(3, 9001, 3);
    CHECK(test::Difference(Resize(wide, {3, 3000}, filter), SlowHorizontal(wide, 3000, filter)) ==
          "");
    CHECK(test::Difference(Resize(wide, {3, 2}, filter), SlowHorizontal(wide, 2, filter)) == "");
    const Image tall = test::RandomImage(9001, 3, 4);
    CHECK(test::Difference(Resize(tall, {5, 3}, filter), SlowVertical(tall, 5, filter)) == "");
  }
}

TEST_CASE("Which pass comes first depends on how much each axis shrinks") {
  // 13 rows fewer against 6 columns fewer: vertical first; against 7: not.
  const Filter filter = Filter::kBicubic;
  const Image image = test::RandomImage(40, 40, 5);
  const Image down = SlowVertical(image, 27, filter);
  CHECK(test::Difference(Resize(image, {27, 34}, filter), SlowHorizontal(down, 34, filter)) == "");
  const Image across = SlowHorizontal(image, 33, filter);
  CHECK(test::Difference(Resize(image, {27, 33}, filter), SlowVertical(across, 27, filter)) == "");
  CHECK(test::Difference(SlowHorizontal(down, 34, filter),
                         SlowVertical(SlowHorizontal(image, 34, filter), 27, filter)) != "");
}

TEST_CASE("ResizeWindow gives the pixels of the whole resize") {
  std::mt19937 random(11);
  for (int i = 0; i < 60; ++i) {
    const auto side = [&](unsigned most) { return static_cast<int>(1 + random() % most); };
    const Image image = test::RandomImage(side(60), side(60), random());
    const RowsCols size{side(80), side(80)};
    PixelWindow window;
    window.size = {side(static_cast<unsigned>(size.rows)), side(static_cast<unsigned>(size.cols))};
    window.top = side(static_cast<unsigned>(size.rows - window.size.rows + 1)) - 1;
    window.left = side(static_cast<unsigned>(size.cols - window.size.cols + 1)) - 1;
    for (Filter filter : kAll) {
      const Image whole = Resize(image, size, filter);
      REQUIRE(test::Difference(ResizeWindow(image, size, filter, window), CutOut(whole, window)) ==
              "");
    }
  }
}

TEST_CASE("U-01 Resize keeps rows and columns apart") {
  Image image(2, 3);
  image.row(0)[0] = 255;  // top left
  const Image out = Resize(image, {4, 9}, Filter::kNearest);
  CHECK(out.size() == RowsCols{4, 9});
  CHECK(RedOfRow(out, 1) == std::vector<int>{255, 255, 255, 0, 0, 0, 0, 0, 0});
  CHECK(RedOfRow(out, 2) == std::vector<int>(9, 0));
}

TEST_CASE("Resize refuses sizes without pixels") {
  const Image image = test::RandomImage(4, 4, 9);
  CHECK_THROWS_AS(Resize(image, {0, 4}, Filter::kBox), Error);
  CHECK_THROWS_AS(Resize(image, {4, -1}, Filter::kBox), Error);
  CHECK_THROWS_AS(Resize(Image(), {4, 4}, Filter::kBox), Error);
  CHECK_THROWS_AS(ResizeWindow(image, {8, 8}, Filter::kBox, {0, 5, {8, 4}}), Error);
  CHECK_THROWS_AS(ResizeWindow(image, {8, 8}, Filter::kBox, {-1, 0, {4, 4}}), Error);
  CHECK_THROWS_AS(ResizeWindow(image, {8, 8}, Filter::kBox, {0, 0, {0, 4}}), Error);
}

}  // namespace attnmap
