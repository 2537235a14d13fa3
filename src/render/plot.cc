#include "attnmap/render/plot.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attnmap/core/error.h"
#include "render/axis.h"
#include "render/canvas.h"
#include "render/dots.h"
#include "render/font.h"
#include "render/page.h"

namespace attnmap {
namespace {

constexpr Colour kGrid = {0xE2, 0xE2, 0xE2};
constexpr Colour kDot = {0x2B, 0x6C, 0xB0};
constexpr Colour kMean = {0xD9, 0x5F, 0x0E};

// Everything follows from the size of the letters.
constexpr int kFont = 22;
constexpr int kSmall = 18;
constexpr int kMargin = 30;
constexpr int kPlotRows = 440;
constexpr int kGapBetween = 60;
constexpr int kTick = 8;
constexpr double kOpacity = 0.7;  // of a dot, so that those on one another are seen

// One chart on the canvas.
struct ChartPanel {
  const DotChart* chart;
  Axis y;
  Box plot;  // the area of the data
  double ColumnWidth() const { return static_cast<double>(plot.cols) / NumColumns(); }
  double X(int column) const { return plot.left + (column + 0.5) * ColumnWidth(); }
  double Y(double value) const { return plot.bottom() - value / y.end * plot.rows; }
  int NumColumns() const { return static_cast<int>(chart->dots.size()); }
};

int PlotCols(size_t num_columns) {
  constexpr int kColumn = 52;
  return std::clamp(static_cast<int>(num_columns) * kColumn, 300, 660);
}

void Check(std::span<const DotChart> charts) {
  if (charts.empty()) throw Error("there is no chart to draw");
  for (const DotChart& chart : charts) {
    if (chart.dots.empty()) throw Error("a chart has no column: " + chart.title);
    std::vector<double> values{chart.reference.value_or(0)};
    for (const auto& column : chart.dots) values.insert(values.end(), column.begin(), column.end());
    for (double value : values) {
      if (!(value >= 0 && std::isfinite(value))) {
        throw Error("a chart holds a number that is negative or not finite: " + chart.title);
      }
    }
  }
}

bool HasLegend(const PlotOptions& options) {
  return !(options.dots_are + options.means_are + options.references_are).empty();
}

Axis YAxis(const DotChart& chart) {
  constexpr int kMostSteps = 7;
  double largest = chart.reference.value_or(0);
  for (const auto& column : chart.dots) {
    for (double value : column) largest = std::max(largest, value);
  }
  return MakeAxis(largest, kMostSteps);
}

int WidestLabel(const Axis& axis, Font& font) {
  int widest = 0;
  for (const std::string& label : axis.labels) widest = std::max(widest, font.Width(label));
  return widest;
}

// Where the charts lie, and how large the picture is.
std::vector<ChartPanel> LayOut(std::span<const DotChart> charts, const PlotOptions& options,
                               Font& font, RowsCols& canvas) {
  int top = kMargin;
  font.SetSize(kFont);
  if (!options.heading.empty()) top += font.line_height();
  top += font.line_height() + kFont;  // a chart's title over its plot
  font.SetSize(kSmall);
  if (HasLegend(options)) top += font.line_height();
  top += kFont / 2;
  std::vector<ChartPanel> panels;
  int left = kMargin;
  for (const DotChart& chart : charts) {
    ChartPanel panel{&chart, YAxis(chart), {}};
    font.SetSize(kSmall);
    left += WidestLabel(panel.y, font) + kTick + kFont / 3;
    panel.plot = {top, left, kPlotRows, PlotCols(chart.dots.size())};
    panels.push_back(panel);
    left = panel.plot.right() + kGapBetween;
  }
  font.SetSize(kSmall);
  const int below = kTick + 2 * font.line_height() + kFont / 2;
  canvas = {top + kPlotRows + below + kMargin / 2, left - kGapBetween + kMargin};
  return panels;
}

void DrawRightAligned(Image& image, int baseline, int right, const std::string& text, Font& font,
                      const Colour& colour) {
  font.Draw(image, baseline, right - font.Width(text), text, colour);
}

void DrawCentred(Image& image, int baseline, double centre, const std::string& text, Font& font,
                 const Colour& colour) {
  font.Draw(image, baseline, static_cast<int>(std::lround(centre - font.Width(text) / 2.0)), text,
            colour);
}

void DrawYAxis(Image& image, const ChartPanel& panel, Font& font) {
  font.SetSize(kSmall);
  for (size_t i = 0; i < panel.y.ticks.size(); ++i) {
    const int row = static_cast<int>(std::lround(panel.Y(panel.y.ticks[i])));
    if (i > 0) FillBox(image, {row, panel.plot.left, 1, panel.plot.cols}, kGrid);
    FillBox(image, {row, panel.plot.left - kTick, 1, kTick}, kQuietInk);
    DrawRightAligned(image, row + (font.digit_height() + 1) / 2,
                     panel.plot.left - kTick - kFont / 3, panel.y.labels[i], font, kInk);
  }
}

// Numbers under every column, or under every second, fifth, ... where they are many.
void DrawXAxis(Image& image, const ChartPanel& panel, Font& font) {
  font.SetSize(kSmall);
  const Box& plot = panel.plot;
  FillBox(image, {plot.bottom(), plot.left - kTick, 2, plot.cols + kTick}, kQuietInk);
  const int last = panel.chart->first_column + panel.NumColumns() - 1;
  const double room = font.Width(std::to_string(last)) + kFont / 2.0;
  const int step = RoundStep(room / panel.ColumnWidth());
  const int baseline = plot.bottom() + kTick + font.ascent();
  for (int column = 0; column < panel.NumColumns(); ++column) {
    const int number = panel.chart->first_column + column;
    if (number % step != 0) continue;
    const int x = static_cast<int>(std::lround(panel.X(column)));
    FillBox(image, {plot.bottom(), x, kTick, 1}, kQuietInk);
    DrawCentred(image, baseline, panel.X(column) + 0.5, std::to_string(number), font, kInk);
  }
  DrawCentred(image, baseline + font.line_height(), plot.left + plot.cols / 2.0,
              panel.chart->x_title, font, kInk);
}

void DrawDashes(Image& image, int row, int left, int right) {
  constexpr int kDash = 8;
  for (int x = left; x < right; x += 2 * kDash) {
    FillBox(image, {row, x, 2, std::min(kDash, right - x)}, kQuietInk);
  }
}

void DrawReference(Image& image, const ChartPanel& panel) {
  if (!panel.chart->reference) return;
  const int row = static_cast<int>(std::lround(panel.Y(*panel.chart->reference)));
  DrawDashes(image, row, panel.plot.left, panel.plot.right());
}

void DrawColumn(Image& image, const ChartPanel& panel, int column) {
  const std::vector<double>& dots = panel.chart->dots[static_cast<size_t>(column)];
  if (dots.empty()) return;
  const double width = panel.ColumnWidth();
  const double radius = std::clamp(width / 7, 3.5, 7.0);
  std::vector<double> heights;
  heights.reserve(dots.size());
  for (double value : dots) heights.push_back(panel.Y(value));
  const std::vector<double> aside = SpreadDots(heights, radius, width / 2 - radius);
  for (size_t i = 0; i < dots.size(); ++i) {
    FillDisc(image, {panel.X(column) + 0.5 + aside[i], heights[i]}, radius, kDot, kOpacity);
  }
  const double mean =
      std::accumulate(dots.begin(), dots.end(), 0.0) / static_cast<double>(dots.size());
  const int half = static_cast<int>(std::min(0.4 * width, 24.0));
  const int x = static_cast<int>(std::lround(panel.X(column)));
  const int row = static_cast<int>(std::lround(panel.Y(mean)));
  FillBox(image, {row - 1, x - half, 3, 2 * half + 1}, kMean);
}

// The signs as they are drawn below, and what each is.
void DrawLegend(Image& image, int baseline, const PlotOptions& options, Font& font) {
  constexpr double kRadius = 7;
  constexpr int kSign = 40;
  font.SetSize(kSmall);
  const int middle = baseline - font.digit_height() / 2;
  int left = kMargin;
  const auto say = [&](const std::string& text) {
    font.Draw(image, baseline, left + kFont / 3, text, kInk);
    left += kFont / 3 + font.Width(text) + kFont;
  };
  if (!options.dots_are.empty()) {
    FillDisc(image, {left + kRadius, static_cast<double>(middle)}, kRadius, kDot, kOpacity);
    left += static_cast<int>(2 * kRadius);
    say(options.dots_are);
  }
  if (!options.means_are.empty()) {
    FillBox(image, {middle - 1, left, 3, kSign}, kMean);
    left += kSign;
    say(options.means_are);
  }
  if (!options.references_are.empty()) {
    DrawDashes(image, middle, left, left + kSign);
    left += kSign;
    say(options.references_are);
  }
}

}  // namespace

Image DrawDotCharts(std::span<const DotChart> charts, const PlotOptions& options) {
  Check(charts);
  Font font(options.font, kFont, options.fallback_fonts);
  RowsCols canvas;
  const std::vector<ChartPanel> panels = LayOut(charts, options, font, canvas);
  Image image(canvas.rows, canvas.cols);
  FillBox(image, {0, 0, canvas.rows, canvas.cols}, kPaper);
  font.SetSize(kFont);
  int top = kMargin;
  if (!options.heading.empty()) {
    font.Draw(image, top + font.ascent(), kMargin,
              font.Shortened(options.heading, canvas.cols - 2 * kMargin), kInk);
    top += font.line_height();
  }
  if (HasLegend(options)) {
    font.SetSize(kSmall);
    DrawLegend(image, top + font.ascent(), options, font);
  }
  for (const ChartPanel& panel : panels) {
    DrawYAxis(image, panel, font);
    DrawXAxis(image, panel, font);
    DrawReference(image, panel);
    for (int column = 0; column < panel.NumColumns(); ++column) DrawColumn(image, panel, column);
    font.SetSize(kFont);
    font.Draw(image, panel.plot.top - kFont, panel.plot.left - kTick,
              font.Shortened(panel.chart->title, panel.plot.cols + kTick), kInk);
  }
  return image;
}

}  // namespace attnmap
