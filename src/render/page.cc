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
  int text_rows = 0;      // above each picture
  int col_head_rows = 0;  // above all pictures
  int row_head_cols = 0;  // left of all pictures
  int side_gap = 0;       // left of bar or legend
  int bar_cols = 0;
  int side_total = 0;  // what stands at the right: gap, bar, numbers, space
  int side_min_rows = 0;
  int legend_rows = 0;  // entries below one another
  int legend_cols = 0;  // pixels of one column of entries
};

constexpr int kMostEms = 14;  // longer labels are shortened

int LongSide(RowsCols size) { return std::max(size.rows, size.cols); }

int FontPixels(const PageContent& content, RowsCols picture) {
  if (content.framed) return std::clamp(7 + LongSide(picture) / 32, 10, 64);
  return std::clamp(picture.rows / 26, 11, 128);
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

int WidestText(const std::vector<std::string>& texts, Font& font) {
  int widest = 0;
  for (const std::string& text : texts) widest = std::max(widest, font.Width(text));
  return widest;
}

void SpaceText(const PageContent& content, Spacing& spacing, Font& font) {
  spacing.note = std::max(spacing.font - 2, 9);
  font.SetSize(spacing.note);
  if (!content.notes.empty()) spacing.text_rows += font.line_height();
  font.SetSize(spacing.font);
  if (!content.labels.empty()) spacing.text_rows += font.line_height();
  if (spacing.text_rows > 0) spacing.text_rows += spacing.font / 4;
  if (!content.col_heads.empty()) spacing.col_head_rows = font.line_height() + spacing.font / 4;
  if (!content.row_heads.empty()) {
    for (const std::string& head : content.row_heads) {
      spacing.row_head_cols = std::max(spacing.row_head_cols, WidestText(LinesOf(head), font));
    }
    spacing.row_head_cols =
        std::min(spacing.row_head_cols, kMostEms * spacing.font) + spacing.font * 2 / 3;
  }
}

void SpaceBar(const PageContent& content, Spacing& spacing, Font& font) {
  font.SetSize(spacing.font);
  const int number = std::max(font.Width(content.bar_low), font.Width(content.bar_high));
  spacing.bar_cols = spacing.font;
  spacing.side_total = spacing.side_gap + spacing.bar_cols + spacing.font / 2 + number +
                       (content.framed ? 0 : spacing.font / 2);
  spacing.side_min_rows = 4 * font.line_height();
}

// Entries stand below one another, in as many columns as the pictures' height asks for.
void SpaceLegend(const PageContent& content, RowsCols picture, Spacing& spacing, Font& font) {
  font.SetSize(spacing.font);
  int widest = 0;
  for (const LegendEntry& entry : content.legend) widest = std::max(widest, font.Width(entry.text));
  const int line = font.line_height();
  const int count = static_cast<int>(content.legend.size());
  const int most_rows = std::max(4, content.rows * picture.rows / line);
  const int columns = (count + most_rows - 1) / most_rows;
  spacing.legend_rows = (count + columns - 1) / columns;
  spacing.legend_cols = spacing.font * 3 / 2 + widest + spacing.font;
  spacing.side_total =
      spacing.side_gap + columns * spacing.legend_cols - (content.framed ? spacing.font : 0);
  spacing.side_min_rows = spacing.legend_rows * line;
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
  spacing.side_gap = content.framed ? spacing.font * 3 / 2 : spacing.font;
  if (font != nullptr) SpaceText(content, spacing, *font);
  if (font != nullptr && content.colorbar) SpaceBar(content, spacing, *font);
  if (font != nullptr && !content.legend.empty()) SpaceLegend(content, picture, spacing, *font);
  return spacing;
}

// Rows and columns of pictures: sizes, and where each begins.
struct Tracks {
  std::vector<int> rows;
  std::vector<int> cols;
  std::vector<int> tops;
  std::vector<int> lefts;
  int64_t total_rows = 0;
  int64_t total_cols = 0;
};

RowsCols PictureSize(const PageContent& content, int i, RowsCols picture) {
  if (content.aspects.empty()) return picture;
  return FitInto(content.aspects[static_cast<size_t>(i)], picture);
}

int TextCols(const PageContent& content, int i, const Spacing& spacing, Font* font) {
  if (font == nullptr) return 0;
  const auto at = static_cast<size_t>(i);
  int cols = 0;
  if (!content.labels.empty()) {
    font->SetSize(spacing.font);
    cols = font->Width(content.labels[at]);
  }
  if (!content.notes.empty()) {
    font->SetSize(spacing.note);
    cols = std::max(cols, font->Width(content.notes[at]));
  }
  return std::min(cols, kMostEms * spacing.font);
}

Tracks MakeTracks(const PageContent& content, RowsCols picture, const Spacing& spacing,
                  Font* font) {
  Tracks tracks;
  tracks.rows.resize(static_cast<size_t>(content.rows));
  tracks.cols.resize(static_cast<size_t>(content.cols));
  for (int i = 0; i < content.num_pictures; ++i) {
    const RowsCols place = content.PlaceOf(i);
    const RowsCols size = PictureSize(content, i, picture);
    int& rows = tracks.rows[static_cast<size_t>(place.rows)];
    int& cols = tracks.cols[static_cast<size_t>(place.cols)];
    rows = std::max(rows, size.rows + spacing.text_rows);
    cols = std::max({cols, size.cols, TextCols(content, i, spacing, font)});
  }
  for (size_t i = 0; font != nullptr && i < content.col_heads.size(); ++i) {
    font->SetSize(spacing.font);
    tracks.cols[i] = std::max(tracks.cols[i],
                              std::min(font->Width(content.col_heads[i]), kMostEms * spacing.font));
  }
  const auto add_up = [](const std::vector<int>& sizes, int gap, std::vector<int>& begins) {
    int64_t at = 0;
    for (int size : sizes) {
      begins.push_back(static_cast<int>(std::min<int64_t>(at, 1 << 30)));
      at += size + gap;
    }
    return at - gap;
  };
  tracks.total_rows = add_up(tracks.rows, spacing.row_gap, tracks.tops);
  tracks.total_cols = add_up(tracks.cols, spacing.col_gap, tracks.lefts);
  return tracks;
}

void PlacePictures(const PageContent& content, RowsCols picture, const Spacing& spacing,
                   const Tracks& tracks, RowsCols origin, Page& page) {
  for (int i = 0; i < content.num_pictures; ++i) {
    const RowsCols place = content.PlaceOf(i);
    const RowsCols size = PictureSize(content, i, picture);
    const int cell_cols = tracks.cols[static_cast<size_t>(place.cols)];
    const int cell_left = origin.cols + tracks.lefts[static_cast<size_t>(place.cols)];
    const int spare = tracks.rows[static_cast<size_t>(place.rows)] - spacing.text_rows - size.rows;
    const int left = cell_left + (cell_cols - size.cols) / 2;
    const int top = origin.rows + tracks.tops[static_cast<size_t>(place.rows)] + spacing.text_rows +
                    (content.labels.empty() ? spare / 2 : 0);
    page.pictures.push_back({top, left, size.rows, size.cols});
    page.text_lefts.push_back(cell_left);
    page.text_widths.push_back(cell_cols);
  }
}

// A label stands over its picture's left side unless it needs the cell's width.
void PlaceLabels(const PageContent& content, const Spacing& spacing, Page& page, Font& font) {
  for (size_t i = 0; i < page.pictures.size(); ++i) {
    const Box& box = page.pictures[i];
    if (TextCols(content, static_cast<int>(i), spacing, &font) > box.cols) continue;
    page.text_widths[i] -= box.left - page.text_lefts[i];
    page.text_lefts[i] = box.left;
  }
  font.SetSize(spacing.note);
  const int note_rows = content.notes.empty() ? 0 : font.line_height();
  page.note_baseline = note_rows - font.ascent() + spacing.font / 4;
  font.SetSize(spacing.font);
  page.label_baseline = spacing.text_rows - font.ascent();
}

// Row heads in the middle of their row, column heads over the middle of their column.
void PlaceHeads(const PageContent& content, const Spacing& spacing, const Tracks& tracks,
                RowsCols origin, Page& page, Font& font) {
  font.SetSize(spacing.font);
  for (size_t i = 0; i < content.row_heads.size(); ++i) {
    const std::vector<std::string> lines = LinesOf(content.row_heads[i]);
    const int middle =
        origin.rows + tracks.tops[i] + spacing.text_rows + (tracks.rows[i] - spacing.text_rows) / 2;
    int baseline = middle + font.digit_height() / 2 -
                   static_cast<int>(lines.size() - 1) * font.line_height() / 2;
    for (const std::string& line : lines) {
      const std::string text = font.Shortened(line, kMostEms * spacing.font);
      const int left = origin.cols - spacing.font * 2 / 3 - font.Width(text);
      page.heads.push_back({baseline, left, spacing.font, false, text});
      baseline += font.line_height();
    }
  }
  for (size_t i = 0; i < content.col_heads.size(); ++i) {
    const std::string text = font.Shortened(content.col_heads[i], tracks.cols[i]);
    const int left = origin.cols + tracks.lefts[i] + (tracks.cols[i] - font.Width(text)) / 2;
    const int baseline = origin.rows - spacing.col_head_rows + font.ascent();
    page.heads.push_back({baseline, left, spacing.font, false, text});
  }
}

// Beside the pictures, or where these are too low for it, the whole canvas. A
// long bar says no more than a shorter one.
Box BarBox(const Page& page, const Spacing& spacing, int content_right, int digit_height) {
  constexpr int kMostRows = 40;
  int top = page.pictures.front().top;
  int bottom = top;
  for (const Box& box : page.pictures) bottom = std::max(bottom, box.bottom());
  if (bottom - top < spacing.side_min_rows) {
    top = spacing.margin;
    bottom = page.canvas.rows - spacing.margin;
  }
  // Numbers stand centred on the bar's ends, clear of the edge.
  const int inset = (digit_height + 1) / 2 + (spacing.margin > 0 ? 0 : spacing.font / 4 + 1);
  const int rows = std::min(bottom - top - 2 * inset, kMostRows * spacing.font);
  return {top + (bottom - top - rows) / 2, content_right + spacing.side_gap, rows,
          spacing.bar_cols};
}

void PlaceLegend(const PageContent& content, const Spacing& spacing, int content_right, Page& page,
                 Font& font) {
  font.SetSize(spacing.font);
  const int line = font.line_height();
  const int top = page.canvas.rows - 2 * spacing.margin > spacing.side_min_rows
                      ? page.pictures.front().top
                      : spacing.margin;
  for (size_t i = 0; i < content.legend.size(); ++i) {
    const int row = static_cast<int>(i) % spacing.legend_rows;
    const int col = static_cast<int>(i) / spacing.legend_rows;
    const int left = content_right + spacing.side_gap + col * spacing.legend_cols;
    const int baseline = top + row * line + font.ascent();
    const int side = font.digit_height() + 1;
    page.swatches.push_back({baseline - side, left, side, spacing.font});
    page.heads.push_back(
        {baseline, left + spacing.font * 3 / 2, spacing.font, false, content.legend[i].text});
  }
}

}  // namespace

RowsCols FitInto(RowsCols aspect, RowsCols box) {
  const double scale = std::min(static_cast<double>(box.rows) / aspect.rows,
                                static_cast<double>(box.cols) / aspect.cols);
  return {std::max(1, static_cast<int>(std::lround(aspect.rows * scale))),
          std::max(1, static_cast<int>(std::lround(aspect.cols * scale)))};
}

Page LayOutPage(const PageContent& content, RowsCols picture, Font* font) {
  const Spacing spacing = MakeSpacing(content, picture, font);
  const Tracks tracks = MakeTracks(content, picture, spacing, font);
  const int64_t inner_rows = tracks.total_rows + spacing.col_head_rows;
  const int64_t inner_cols = tracks.total_cols + spacing.row_head_cols;
  const int margins = 2 * spacing.margin;
  const int64_t rows = std::max<int64_t>(inner_rows, spacing.side_min_rows) + margins;
  const int64_t cols = inner_cols + spacing.side_total + margins;
  constexpr int64_t kMostPixels = int64_t{1} << 30;
  if (rows * cols > kMostPixels) {
    throw Error("a picture of " + std::to_string(rows) + " x " + std::to_string(cols) +
                " pixels is too large: choose fewer maps or a smaller --output-size");
  }

  Page page;
  page.canvas = {static_cast<int>(rows), static_cast<int>(cols)};
  page.font_pixels = spacing.font;
  page.note_pixels = spacing.note;
  // A bar may ask for more rows than a low picture has.
  const int spare = static_cast<int>(std::max<int64_t>(spacing.side_min_rows - inner_rows, 0) / 2);
  const RowsCols origin{spacing.margin + spare + spacing.col_head_rows,
                        spacing.margin + spacing.row_head_cols};
  PlacePictures(content, picture, spacing, tracks, origin, page);
  if (font == nullptr) return page;
  PlaceLabels(content, spacing, page, *font);
  PlaceHeads(content, spacing, tracks, origin, page, *font);
  const int right = spacing.margin + static_cast<int>(inner_cols);
  if (content.colorbar) page.bar = BarBox(page, spacing, right, font->digit_height());
  if (!content.legend.empty()) PlaceLegend(content, spacing, right, page, *font);
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
  for (Box& box : page.swatches) move(box);
  for (int& left : page.text_lefts) left += right;
  for (PlacedText& text : page.heads) {
    text.baseline += down;
    text.left += right;
  }
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
