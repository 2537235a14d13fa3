#include "attnmap/render/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attnmap/core/error.h"
#include "render/axis.h"
#include "render/dots.h"
#include "render/render_support.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using test::At;
using Labels = std::vector<std::string>;

TEST_CASE("an axis ends at a round number, ticks 1, 2 or 5 times a power of ten apart") {
  CHECK(MakeAxis(5.69, 7).labels == Labels{"0", "1", "2", "3", "4", "5", "6"});
  CHECK(MakeAxis(133, 7).labels == Labels{"0", "20", "40", "60", "80", "100", "120", "140"});
  CHECK(MakeAxis(3.0, 7).labels == Labels{"0.0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"});
  CHECK(MakeAxis(0.3, 3).labels == Labels{"0.0", "0.1", "0.2", "0.3"});
  CHECK(MakeAxis(0.1 + 0.2, 3).end == 0.3);  // a rounding above it
  CHECK(MakeAxis(1234567, 4).end == 1500000);
  CHECK(MakeAxis(0, 5).end == 1);
  for (double largest : {1e-9, 0.0173, 0.99, 7.0, 70.1, 4.2e8}) {
    const Axis axis = MakeAxis(largest, 6);
    CAPTURE(largest, axis.end);
    CHECK(axis.end >= largest * (1 - 1e-9));
    CHECK(axis.ticks.size() >= 3);
    CHECK(axis.ticks.size() <= 7);
    CHECK(axis.ticks[axis.ticks.size() - 2] < largest);
  }
}

TEST_CASE("numbers under columns stand 1, 2, 5, 10, ... apart") {
  CHECK(RoundStep(0.2) == 1);
  CHECK(RoundStep(1.1) == 2);
  CHECK(RoundStep(2.5) == 5);
  CHECK(RoundStep(6) == 10);
  CHECK(RoundStep(11) == 20);
}

TEST_CASE("a disc covers its area and fades over one pixel") {
  Image image = test::Filled({40, 40}, {255, 255, 255});
  FillDisc(image, {20, 20}, 10, {0, 0, 0}, 1);
  CHECK(At(image, 20, 20) == test::Rgb{0, 0, 0});
  CHECK(At(image, 20, 8) == test::Rgb{255, 255, 255});
  double ink = 0;
  for (uint8_t value : image.rgb) ink += (255 - value) / 255.0 / 3;
  CHECK(ink == Approx(M_PI * 100).epsilon(0.01));
  // Half-way out of the picture is no error.
  FillDisc(image, {0, 39}, 10, {0, 0, 0}, 0.5);
  CHECK(At(image, 39, 0)[0] >= 127);
  CHECK(At(image, 39, 0)[0] <= 128);
}

TEST_CASE("dots of one height stand beside one another, as far as there is room") {
  const std::vector<double> same(3, 50.0);
  std::vector<double> aside = SpreadDots(same, 4, 20);
  std::sort(aside.begin(), aside.end());
  CHECK(aside[0] == -8);
  CHECK(aside[1] == 0);
  CHECK(aside[2] == 8);
  const std::vector<double> apart{10, 30, 90};
  CHECK(SpreadDots(apart, 4, 20) == std::vector<double>{0, 0, 0});
  for (double x : SpreadDots(std::vector<double>(50, 1.0), 4, 10)) CHECK(std::abs(x) <= 10);
  // Neither side is preferred: two stand left and right of the middle, and so does a
  // chain in which each touches only the next.
  std::vector<double> two = SpreadDots(std::vector<double>(2, 50.0), 4, 20);
  std::sort(two.begin(), two.end());
  CHECK(two == std::vector<double>{-4, 4});
  const std::vector<double> chain =
      SpreadDots(std::vector<double>{10, 12, 16, 18, 22, 24, 28, 30, 90}, 4, 20);
  const auto [low, high] = std::minmax_element(chain.begin(), chain.end());
  CHECK(*low == -*high);
  CHECK(*high > 0);
  CHECK(chain.back() == 0);
}

// The rows in which a column of the picture has a colour near `wanted`.
std::vector<int> RowsWith(const Image& image, int col, test::Rgb wanted) {
  std::vector<int> rows;
  for (int row = 0; row < image.rows; ++row) {
    const test::Rgb found = At(image, row, col);
    bool near = true;
    for (size_t c = 0; c < 3; ++c) near = near && std::abs(found[c] - wanted[c]) < 12;
    if (near) rows.push_back(row);
  }
  return rows;
}

TEST_CASE("a chart: heights are proportional, the mean's bar lies at the mean") {
  constexpr test::Rgb kMean = {0xD9, 0x5F, 0x0E};
  PlotOptions options;
  options.font = test::kFont;
  DotChart chart;
  chart.title = "number (unit)";
  chart.x_title = "layer";
  // Three columns whose means are 2, 6 and 10 = the axis' end.
  chart.dots = {{1, 3}, {6}, {10, 10}};
  const Image image = DrawDotCharts({&chart, 1}, options);
  std::vector<int> bars;
  for (int col = 0; col < image.cols; ++col) {
    const std::vector<int> rows = RowsWith(image, col, kMean);
    if (rows.size() != 3) continue;
    if (bars.empty() || bars.back() != rows[1]) bars.push_back(rows[1]);
  }
  REQUIRE(bars.size() == 3);
  CHECK(std::abs((bars[0] - bars[1]) - (bars[1] - bars[2])) <= 1);
  CHECK(bars[0] - bars[1] > 100);
}

TEST_CASE("charts stand beside one another; more columns make them wider, up to a bound") {
  PlotOptions options;
  options.font = test::kFont;
  const auto width = [&](size_t columns, size_t charts) {
    DotChart chart;
    chart.dots.assign(columns, {1.0, 2.0});
    return DrawDotCharts(std::vector<DotChart>(charts, chart), options).cols;
  };
  CHECK(width(1, 1) < width(12, 1));
  CHECK(width(12, 1) < width(12, 2));
  CHECK(width(24, 2) == width(200, 2));
  CHECK(width(24, 2) < 1600);
}

TEST_CASE("a heading in another script is drawn with the fonts that have it") {
  PlotOptions options;
  options.font = test::kFont;
  DotChart chart;
  chart.dots = {{1.0}};
  const auto with = [&](const std::string& heading, std::vector<std::string> fallback_fonts) {
    options.heading = heading;
    options.fallback_fonts = std::move(fallback_fonts);
    return DrawDotCharts({&chart, 1}, options).rgb;
  };
  CHECK(with("猫", {}) == with("\U0010FFFD", {}));  // a box
  CHECK(with("猫", {test::kCatCff}) != with("猫", {}));
  CHECK(with("cat", {test::kCatCff}) == with("cat", {}));
}

TEST_CASE("a chart without columns, or of numbers that are none, is an error") {
  PlotOptions options;
  options.font = test::kFont;
  DotChart chart;
  CHECK_THROWS_AS(DrawDotCharts({}, options), Error);
  CHECK_THROWS_AS(DrawDotCharts({&chart, 1}, options), Error);
  for (double bad :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    chart.dots = {{1, bad}};
    CHECK_THROWS_AS(DrawDotCharts({&chart, 1}, options), Error);
  }
  chart.dots = {{0, 0}, {}};  // a column without dots is none
  CHECK_NOTHROW(DrawDotCharts({&chart, 1}, options));
}

}  // namespace
}  // namespace attnmap
