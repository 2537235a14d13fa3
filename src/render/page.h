#ifndef ATTNMAP_RENDER_PAGE_H_
#define ATTNMAP_RENDER_PAGE_H_

#include <optional>
#include <string>
#include <vector>

#include "attnmap/core/patch_grid.h"
#include "attnmap/render/colormap.h"
#include "render/canvas.h"
#include "render/font.h"

namespace attnmap {

struct LegendEntry {
  Colour colour;
  std::string text;
};

// What a page shows: pictures in rows and columns, a line or two of text over
// each or heads for whole rows and columns, one colour bar or a legend at the
// right.
struct PageContent {
  int rows = 1;
  int cols = 1;
  int num_pictures = 1;                // row by row, the last places may be empty
  std::vector<RowsCols> places;        // empty, or one a picture: not one after the other
  std::vector<RowsCols> aspects;       // empty: all as the page's picture; else one a picture
  bool framed = false;                 // a margin all around
  std::vector<std::string> labels;     // empty, or one a picture
  std::vector<std::string> notes;      // a second, quieter line; empty, or one a picture
  std::vector<std::string> row_heads;  // left of each row, \n parts lines; empty, or one a row
  std::vector<std::string> col_heads;  // over each column; empty, or one a column
  bool colorbar = false;
  std::string bar_low;  // what the bar's ends say
  std::string bar_high;
  std::vector<LegendEntry> legend;  // instead of the bar

  bool has_text() const {
    return colorbar || !labels.empty() || !notes.empty() || !row_heads.empty() ||
           !col_heads.empty() || !legend.empty();
  }
  RowsCols PlaceOf(int picture) const {
    if (!places.empty()) return places[static_cast<size_t>(picture)];
    return {picture / cols, picture % cols};
  }
};

// A line of text where it stands.
struct PlacedText {
  int baseline = 0;
  int left = 0;
  int pixels = 0;      // the em
  bool quiet = false;  // in grey
  std::string text;
};

// Where everything lies, in pixels of the canvas.
struct Page {
  RowsCols canvas;
  std::vector<Box> pictures;
  int font_pixels = 0;
  int note_pixels = 0;
  std::vector<int> text_lefts;   // of label and note, a picture each
  std::vector<int> text_widths;  // what a label may take
  int label_baseline = 0;        // above the picture's top
  int note_baseline = 0;
  std::vector<PlacedText> heads;  // of rows and columns, and the legend's words
  std::vector<Box> swatches;      // the legend's colours
  std::optional<Box> bar;         // the colours themselves
};

// The page for pictures of this size (with aspects: as large as fit into it).
// `font`: needed where there is text; its size is changed.
Page LayOutPage(const PageContent& content, RowsCols picture, Font* font);

// The page with the largest pictures of this aspect that has exactly the
// canvas asked for. Throws Error where even the smallest does not fit.
Page FitPage(const PageContent& content, RowsCols aspect, RowsCols canvas, Font* font);

// All text of the page.
std::vector<PlacedText> TextsOf(const Page& page, const PageContent& content, Font& font);
// The bar's colours from the top, a box each, and the ticks at its ends.
struct FilledBox {
  Box box;
  Colour colour;
};
std::vector<FilledBox> BoxesOf(const Page& page, const PageContent& content,
                               const Colormap& colours);

inline constexpr Colour kPaper = {0xFF, 0xFF, 0xFF};
inline constexpr Colour kInk = {0x20, 0x20, 0x20};
inline constexpr Colour kQuietInk = {0x70, 0x70, 0x70};

// Draws labels, notes, heads, and the colour bar or legend.
void DrawPageText(Image& image, const Page& page, const PageContent& content,
                  const Colormap& colours, Font& font);

// How many rows and columns a sheet of n pictures has, so that it comes near
// `wish` times as wide as high and leaves few places empty.
RowsCols SheetShape(int num_pictures, RowsCols picture, double wish);

// The size of a sheet's pictures: a sheet stays near 2000 pixels a side,
// pictures between 96 and 360 on their long side.
RowsCols SheetPictureSize(RowsCols shape, RowsCols source);

// The largest size of this aspect within a box.
RowsCols FitInto(RowsCols aspect, RowsCols box);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_PAGE_H_
