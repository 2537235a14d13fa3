#ifndef ATTNMAP_RENDER_FONT_H_
#define ATTNMAP_RENDER_FONT_H_

#include <memory>
#include <string>
#include <string_view>

#include "attnmap/core/image.h"
#include "render/canvas.h"

namespace attnmap {

// A font file at one size. Text is UTF-8, set left to right without kerning;
// characters the font does not have, and bytes that are no UTF-8, show as its
// box. Not for several threads at once.
class Font {
 public:
  // Throws Error where the file cannot be read as a font. `pixels`: the em.
  Font(const std::string& path, int pixels);
  ~Font();
  Font(Font&&) noexcept;
  Font& operator=(Font&&) noexcept;

  void SetSize(int pixels);
  int pixels() const;
  int ascent() const;       // of the tallest letters above the baseline
  int line_height() const;  // from the top of those to the bottom of the deepest
  int digit_height() const;

  // Columns the text takes, ink and advances.
  int Width(std::string_view text);
  // The text, shortened with an ellipsis to fit.
  std::string Shortened(std::string_view text, int max_width);
  // Draws with the baseline at row `baseline`, antialiased over what is there;
  // what would fall outside the image is left out.
  void Draw(Image& image, int baseline, int left, std::string_view text, const Colour& colour);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The next code point of UTF-8 text, which is shortened by it. U+FFFD for what
// is none. REQUIRES: !text.empty().
char32_t NextCodePoint(std::string_view& text);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_FONT_H_
