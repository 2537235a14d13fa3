#include "render/page.h"

#include <algorithm>
#include <cmath>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

constexpr int kSmallestPicture = 8;

// Everything around the pictures follows from the size of the letters.
struct Spacing {
  int font = 0;
  int note = 0;
  int margin = 0;
  int col_gap = 0;
  int row_gap = 0;
  int text_rows = 0;  // above each picture
  int text_cols = 0;  // the widest text
  int bar_gap = 0;    // left of the bar
  int bar_cols = 0;
  int bar_text_gap = 0;  // tick and space between bar and number
  int bar_total = 0;     // gap, bar, numbers, space at the right
  int bar_min_rows = 0;
};

int LongSide(RowsCols size) { return std::max(size.rows, size.cols); }

int FontPixels(const PageContent& content, RowsCols picture) {
  if (content.framed) return std::clamp(7 + LongSide(picture) / 32, 10, 64);
  return std::clamp(picture.rows / 26, 11, 128);
}

int WidestText(const std::vector<std::string>& texts, Font& font) {
  int widest = 0;
  for (const std::string& text : texts) widest = std::max(widest, font.Width(text));
  return widest;
}

void SpaceText(const PageContent& content, Spacing& spacing, Font& font) {
  constexpr int kMostEms = 14;  // longer labels are shortened
  spacing.note = std::max(spacing.font - 2, 9);
  if (!content.labels.empty()) {
    font.SetSize(spacing.font);
    spacing.text_rows += font.line_height();
    spacing.text_cols = WidestText(content.labels, font);
  }
  if (!content.notes.empty()) {
    font.SetSize(spacing.note);
    spacing.text_rows += font.line_height();
    spacing.text_cols = std::max(spacing.text_cols, WidestText(content.notes, font));
  }
  if (spacing.text_rows > 0) spacing.text_rows += spacing.font / 4;
  spacing.text_cols = std::min(spacing.text_cols, kMostEms * spacing.font);
}

void SpaceBar(const PageContent& content, Spacing& spacing, Font& font) {
  font.SetSize(spacing.font);
  const int number = std::max(font.Width(content.bar_low), font.Width(content.bar_high));
  spacing.bar_gap = content.framed ? spacing.font * 3 / 2 : spacing.font;
  spacing.bar_cols = spacing.font;
  spacing.bar_text_gap = spacing.font / 2;
  spacing.bar_total = spacing.bar_gap + spacing.bar_cols + spacing.bar_text_gap + number +
                      (content.framed ? 0 : spacing.font / 2);
  spacing.bar_min_rows = 4 * font.line_height();
}

Spacing MakeSpacing(const PageContent& content, RowsCols picture, Font* font) {
  Spacing spacing;
  spacing.font = FontPixels(content, picture);
  if (content.framed) {
    spacing.margin = spacing.font;
    spacing.col_gap = spacing.row_gap = std::max(spacing.font * 2 / 3, 6);
  } else {
    spacing.col_gap = std::max(4, picture.cols / 100);
  }
  if (font != nullptr) SpaceText(content, spacing, *font);
  if (font != nullptr && content.colorbar) SpaceBar(content, spacing, *font);
  return spacing;
}

// Beside the pictures, or where these are too low for it, the whole canvas. A
// long bar says no more than a shorter one.
Box BarBox(const Page& page, const Spacing& spacing, int content_right, int digit_height) {
  constexpr int kMostEms = 40;
  int top = page.pictures.front().top;
  int bottom = page.pictures.back().bottom();
  if (bottom - top < spacing.bar_min_rows) {
    top = spacing.margin;
    bottom = page.canvas.rows - spacing.margin;
  }
  const int inset = (digit_height + 1) / 2;  // numbers stand centred on the bar's ends
  const int rows = std::min(bottom - top - 2 * inset, kMostEms * spacing.font);
  return {top + (bottom - top - rows) / 2, content_right + spacing.bar_gap, rows, spacing.bar_cols};
}

}  // namespace

Page LayOutPage(const PageContent& content, RowsCols picture, Font* font) {
  const Spacing spacing = MakeSpacing(content, picture, font);
  const int cell_cols = std::max(picture.cols, spacing.text_cols);
  const int cell_rows = picture.rows + spacing.text_rows;
  const int64_t inner_rows =
      int64_t{content.rows} * (cell_rows + spacing.row_gap) - spacing.row_gap;
  const int64_t inner_cols =
      int64_t{content.cols} * (cell_cols + spacing.col_gap) - spacing.col_gap;
  const int margins = 2 * spacing.margin;
  const int64_t rows = std::max<int64_t>(inner_rows, spacing.bar_min_rows) + margins;
  const int64_t cols = inner_cols + spacing.bar_total + margins;
  constexpr int64_t kMostPixels = int64_t{1} << 30;
  if (rows * cols > kMostPixels) {
    throw Error("a picture of " + std::to_string(rows) + " x " + std::to_string(cols) +
                " pixels is too large: choose fewer maps or a smaller --output-size");
  }

  Page page;
  page.canvas = {static_cast<int>(rows), static_cast<int>(cols)};
  page.font_pixels = spacing.font;
  page.note_pixels = spacing.note;
  page.text_width = cell_cols;
  // A bar may ask for more rows than a low picture has.
  const int top = spacing.margin +
                  static_cast<int>(std::max<int64_t>(spacing.bar_min_rows - inner_rows, 0) / 2);
  for (int i = 0; i < content.num_pictures; ++i) {
    const int row = i / content.cols;
    const int col = i % content.cols;
    const int cell_left = spacing.margin + col * (cell_cols + spacing.col_gap);
    const int left = cell_left + (cell_cols - picture.cols) / 2;
    page.pictures.push_back({top + row * (cell_rows + spacing.row_gap) + spacing.text_rows, left,
                             picture.rows, picture.cols});
    page.text_lefts.push_back(spacing.text_cols > picture.cols ? cell_left : left);
  }
  if (font == nullptr) return page;
  font->SetSize(spacing.note);
  const int note_rows = content.notes.empty() ? 0 : font->line_height();
  page.note_baseline = note_rows - font->ascent() + spacing.font / 4;
  font->SetSize(spacing.font);
  page.label_baseline = spacing.text_rows - font->ascent();
  if (content.colorbar) {
    page.bar =
        BarBox(page, spacing, spacing.margin + static_cast<int>(inner_cols), font->digit_height());
  }
  return page;
}

Page FitPage(const PageContent& content, RowsCols aspect, RowsCols canvas, Font* font) {
  const double longest = LongSide(aspect);
  const auto size_at = [&](int side) {
    return RowsCols{std::max(1, static_cast<int>(std::lround(aspect.rows * (side / longest)))),
                    std::max(1, static_cast<int>(std::lround(aspect.cols * (side / longest))))};
  };
  const auto fits = [&](int side) {
    const Page page = LayOutPage(content, size_at(side), font);
    return page.canvas.rows <= canvas.rows && page.canvas.cols <= canvas.cols;
  };
  int low = kSmallestPicture;
  if (!fits(low)) {
    const RowsCols least = LayOutPage(content, size_at(low), font).canvas;
    throw Error("a picture of " + std::to_string(canvas.rows) + " x " +
                std::to_string(canvas.cols) + " pixels has no room for this layout, which needs " +
                std::to_string(least.rows) + " x " + std::to_string(least.cols) + " at least");
  }
  int high = std::max(LongSide(canvas), low) + 1;  // does not fit
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  Page page = LayOutPage(content, size_at(low), font);
  const int down = (canvas.rows - page.canvas.rows) / 2;
  const int right = (canvas.cols - page.canvas.cols) / 2;
  const auto move = [&](Box& box) {
    box.top += down;
    box.left += right;
  };
  for (Box& box : page.pictures) move(box);
  for (int& left : page.text_lefts) left += right;
  if (page.bar) move(*page.bar);
  page.canvas = canvas;
  return page;
}

RowsCols SheetShape(int num_pictures, RowsCols picture, double wish) {
  constexpr double kEmptyCost = 3.5;  // three heads stand in a row, not in a square of four
  const double aspect = static_cast<double>(picture.cols) / picture.rows;
  RowsCols best{1, num_pictures};
  double best_cost = -1;
  for (int cols = 1; cols <= num_pictures; ++cols) {
    const int rows = (num_pictures + cols - 1) / cols;
    const double empty = static_cast<double>(rows * cols - num_pictures) / num_pictures;
    const double cost = std::abs(std::log(aspect * cols / rows / wish)) + kEmptyCost * empty;
    if (best_cost < 0 || cost < best_cost) {
      best = {rows, cols};
      best_cost = cost;
    }
  }
  return best;
}

RowsCols SheetPictureSize(RowsCols shape, RowsCols source) {
  constexpr double kSheetSide = 2000;
  const double longest = LongSide(source);
  const double rows = source.rows / longest;
  const double cols = source.cols / longest;
  const double side = std::clamp(
      std::floor(kSheetSide / std::max(shape.cols * cols, shape.rows * rows)), 96.0, 360.0);
  return {std::max(1, static_cast<int>(std::lround(side * rows))),
          std::max(1, static_cast<int>(std::lround(side * cols)))};
}

}  // namespace attnmap
