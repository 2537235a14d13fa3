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

// What a page shows: pictures of one size in rows and columns, a line or two
// of text over each, one colour bar at the right.
struct PageContent {
  int rows = 1;
  int cols = 1;
  int num_pictures = 1;             // row by row, the last places may be empty
  bool framed = false;              // a margin all around
  std::vector<std::string> labels;  // empty, or one a picture
  std::vector<std::string> notes;   // a second, quieter line; empty, or one a picture
  bool colorbar = false;
  std::string bar_low;  // what the bar's ends say
  std::string bar_high;

  bool has_text() const { return colorbar || !labels.empty() || !notes.empty(); }
};

// Where everything lies, in pixels of the canvas.
struct Page {
  RowsCols canvas;
  std::vector<Box> pictures;
  int font_pixels = 0;
  int note_pixels = 0;
  std::vector<int> text_lefts;  // of label and note, a picture each
  int text_width = 0;           // what a label may take
  int label_baseline = 0;       // above the picture's top
  int note_baseline = 0;
  std::optional<Box> bar;  // the colours themselves
};

// The page for pictures of this size. `font`: needed where there is text; its
// size is changed.
Page LayOutPage(const PageContent& content, RowsCols picture, Font* font);

// The page with the largest pictures of this aspect that has exactly the
// canvas asked for. Throws Error where even the smallest does not fit.
Page FitPage(const PageContent& content, RowsCols aspect, RowsCols canvas, Font* font);

// Draws labels, notes and the colour bar.
void DrawPageText(Image& image, const Page& page, const PageContent& content,
                  const Colormap& colours, Font& font);

// How many rows and columns a sheet of n pictures has, so that it comes near
// `wish` times as wide as high and leaves few places empty.
RowsCols SheetShape(int num_pictures, RowsCols picture, double wish);

// The size of a sheet's pictures: a sheet stays near 2000 pixels a side,
// pictures between 96 and 360 on their long side.
RowsCols SheetPictureSize(RowsCols shape, RowsCols source);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_PAGE_H_
