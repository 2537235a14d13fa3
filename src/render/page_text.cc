#include <algorithm>
#include <cstring>

#include "render/page.h"

namespace attnmap {
namespace {

constexpr Colour kInk = {0x20, 0x20, 0x20};
constexpr Colour kQuietInk = {0x70, 0x70, 0x70};

void DrawLabels(Image& image, const Page& page, const PageContent& content, Font& font) {
  font.SetSize(page.font_pixels);
  for (size_t i = 0; i < content.labels.size(); ++i) {
    font.Draw(image, page.pictures[i].top - page.label_baseline, page.text_lefts[i],
              font.Shortened(content.labels[i], page.text_width), kInk);
  }
  font.SetSize(page.note_pixels);
  for (size_t i = 0; i < content.notes.size(); ++i) {
    font.Draw(image, page.pictures[i].top - page.note_baseline, page.text_lefts[i],
              font.Shortened(content.notes[i], page.text_width), kQuietInk);
  }
}

void DrawBar(Image& image, const Box& bar, const Colormap& colours) {
  for (int y = 0; y < bar.rows; ++y) {
    const int index = bar.rows == 1 ? 255 : 255 - (255 * y + (bar.rows - 1) / 2) / (bar.rows - 1);
    FillBox(image, {bar.top + y, bar.left, 1, bar.cols}, colours[static_cast<size_t>(index)]);
  }
}

void DrawBarEnd(Image& image, const Page& page, int row, const std::string& text, Font& font) {
  const Box& bar = *page.bar;
  const int tick = std::max(page.font_pixels / 4, 2);
  const int thick = std::max(page.font_pixels / 14, 1);
  FillBox(image, {row, bar.right(), thick, tick}, kInk);
  const int baseline = row + thick / 2 + (font.digit_height() + 1) / 2;
  font.Draw(image, baseline, bar.right() + page.font_pixels / 2, text, kInk);
}

}  // namespace

void DrawPageText(Image& image, const Page& page, const PageContent& content,
                  const Colormap& colours, Font& font) {
  DrawLabels(image, page, content, font);
  if (!page.bar) return;
  font.SetSize(page.font_pixels);
  DrawBar(image, *page.bar, colours);
  const int thick = std::max(page.font_pixels / 14, 1);
  DrawBarEnd(image, page, page.bar->bottom() - thick, content.bar_low, font);
  if (content.bar_high != content.bar_low) {
    DrawBarEnd(image, page, page.bar->top, content.bar_high, font);
  }
}

}  // namespace attnmap
