#ifndef ATTNMAP_RENDER_FONT_H_
#define ATTNMAP_RENDER_FONT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attnmap/core/image.h"
#include "render/canvas.h"

namespace attnmap {

// A font file at one size, and others for characters it does not have. Text is
// UTF-8, set without kerning; Arabic letters are joined and right-to-left runs
// turned (render/text_order.h). Characters that no font has, and bytes that
// are no UTF-8, show as a box. Not for several threads at once.
class Font {
 public:
  // Throws Error where the file cannot be read as a font. `pixels`: the em.
  // `fallbacks` are opened when a character asks for them; those that are
  // missing or no fonts are passed over.
  Font(const std::string& path, int pixels, std::vector<std::string> fallbacks = {});
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
  // Pieces of the text as it is drawn, each of one font file, for who sets type elsewhere.
  struct Run {
    std::string file;
    std::string text;  // UTF-8, in the order it is drawn
    int left = 0;      // pixels from the text's beginning
  };
  std::vector<Run> Runs(std::string_view text);
  // Whether all characters are in one of the fonts.
  bool Has(std::string_view text);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_FONT_H_
