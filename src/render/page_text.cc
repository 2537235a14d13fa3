#include <algorithm>

#include "render/page.h"

namespace attnmap {
namespace {

void AddLabels(const Page& page, const PageContent& content, Font& font,
               std::vector<PlacedText>& texts) {
  font.SetSize(page.font_pixels);
  for (size_t i = 0; i < content.labels.size(); ++i) {
    texts.push_back({page.pictures[i].top - page.label_baseline, page.text_lefts[i],
                     page.font_pixels, false,
                     font.Shortened(content.labels[i], page.text_widths[i])});
  }
  font.SetSize(page.note_pixels);
  for (size_t i = 0; i < content.notes.size(); ++i) {
    texts.push_back({page.pictures[i].top - page.note_baseline, page.text_lefts[i],
                     page.note_pixels, true,
                     font.Shortened(content.notes[i], page.text_widths[i])});
  }
}

int TickRows(const Page& page) { return std::max(page.font_pixels / 14, 1); }

// The tops of the ticks at the bar's ends: low, high.
std::vector<int> TickTops(const Page& page, const PageContent& content) {
  std::vector<int> tops = {page.bar->bottom() - TickRows(page)};
  if (content.bar_high != content.bar_low) tops.push_back(page.bar->top);
  return tops;
}

}  // namespace

std::vector<PlacedText> TextsOf(const Page& page, const PageContent& content, Font& font) {
  std::vector<PlacedText> texts;
  AddLabels(page, content, font, texts);
  texts.insert(texts.end(), page.heads.begin(), page.heads.end());
  if (!page.bar) return texts;
  font.SetSize(page.font_pixels);
  const std::vector<int> tops = TickTops(page, content);
  for (size_t i = 0; i < tops.size(); ++i) {
    const int baseline = tops[i] + TickRows(page) / 2 + (font.digit_height() + 1) / 2;
    texts.push_back({baseline, page.bar->right() + page.font_pixels / 2, page.font_pixels, false,
                     i == 0 ? content.bar_low : content.bar_high});
  }
  return texts;
}

std::vector<FilledBox> BoxesOf(const Page& page, const PageContent& content,
                               const Colormap& colours) {
  std::vector<FilledBox> boxes;
  for (size_t i = 0; i < page.swatches.size(); ++i) {
    const Box& box = page.swatches[i];  // framed, or white would vanish
    boxes.push_back({box, kQuietInk});
    boxes.push_back(
        {{box.top + 1, box.left + 1, box.rows - 2, box.cols - 2}, content.legend[i].colour});
  }
  if (!page.bar) return boxes;
  const Box& bar = *page.bar;
  for (int y = 0; y < bar.rows; ++y) {
    const int index = bar.rows == 1 ? 255 : 255 - (255 * y + (bar.rows - 1) / 2) / (bar.rows - 1);
    boxes.push_back({{bar.top + y, bar.left, 1, bar.cols}, colours[static_cast<size_t>(index)]});
  }
  const int tick = std::max(page.font_pixels / 4, 2);
  for (int top : TickTops(page, content)) {
    boxes.push_back({{top, bar.right(), TickRows(page), tick}, kInk});
  }
  return boxes;
}

void DrawPageText(Image& image, const Page& page, const PageContent& content,
                  const Colormap& colours, Font& font) {
  for (const FilledBox& filled : BoxesOf(page, content, colours)) {
    FillBox(image, filled.box, filled.colour);
  }
  for (const PlacedText& text : TextsOf(page, content, font)) {
    font.SetSize(text.pixels);
    font.Draw(image, text.baseline, text.left, text.text, text.quiet ? kQuietInk : kInk);
  }
}

}  // namespace attnmap
