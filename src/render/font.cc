#include "render/font.h"

#include <ft2build.h>
#include FT_FREETYPE_H

#include <algorithm>
#include <vector>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

// Whole pixels of 26.6 fixed point, upwards.
int CeilPixels(FT_Pos position) { return static_cast<int>((position + 63) >> 6); }

void DrawGlyph(Image& image, int baseline, int left, FT_GlyphSlot glyph, const Colour& colour) {
  const FT_Bitmap& bitmap = glyph->bitmap;
  for (int y = 0; y < static_cast<int>(bitmap.rows); ++y) {
    const int row = baseline - glyph->bitmap_top + y;
    if (row < 0 || row >= image.rows) continue;
    const uint8_t* cover = bitmap.buffer + static_cast<std::ptrdiff_t>(y) * bitmap.pitch;
    for (int x = 0; x < static_cast<int>(bitmap.width); ++x) {
      const int col = left + glyph->bitmap_left + x;
      if (col < 0 || col >= image.cols) continue;
      BlendPixel(image.row(row) + static_cast<size_t>(col) * 3, colour, cover[x]);
    }
  }
}

}  // namespace

char32_t NextCodePoint(std::string_view& text) {
  constexpr char32_t kReplacement = 0xFFFD;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  char32_t code = length == 1 ? first : first & (0x7FU >> length);
  bool good = first < 0x80 || (first >= 0xC2 && first <= 0xF4);
  for (size_t i = 1; good && i < length; ++i) {
    good = i < text.size() && (byte(i) & 0xC0) == 0x80;
    if (good) code = code << 6 | (byte(i) & 0x3F);
  }
  good = good && code >= kSmallest[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
  if (!good) length = 1;
  text.remove_prefix(length);
  return good ? code : kReplacement;
}

struct Font::Impl {
  FT_Library library = nullptr;
  FT_Face face = nullptr;
  int pixels = 0;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (face != nullptr) FT_Done_Face(face);
    if (library != nullptr) FT_Done_FreeType(library);
  }

  // Loads and renders the glyph of a character (or the box); null if neither works.
  FT_GlyphSlot Render(char32_t code, bool ink) const {
    const FT_UInt index = FT_Get_Char_Index(face, code);
    const FT_Int32 flags = FT_LOAD_TARGET_LIGHT | (ink ? FT_LOAD_RENDER : FT_LOAD_DEFAULT);
    return FT_Load_Glyph(face, index, flags) == 0 ? face->glyph : nullptr;
  }

  // Calls visit(glyph, pen position in pixels) for each character, gives the end.
  template <typename Visit>
  int Walk(std::string_view text, bool ink, Visit visit) const {
    FT_Pos pen = 0;
    while (!text.empty()) {
      FT_GlyphSlot glyph = Render(NextCodePoint(text), ink);
      if (glyph == nullptr) continue;
      visit(glyph, static_cast<int>((pen + 32) >> 6));
      pen += glyph->advance.x;
    }
    return CeilPixels(pen);
  }
};

Font::Font(const std::string& path, int pixels) : impl_(std::make_unique<Impl>()) {
  if (path.empty()) throw Error("no font was given for the labels of a picture");
  if (FT_Init_FreeType(&impl_->library) != 0) throw Error("the font library does not start");
  if (FT_New_Face(impl_->library, path.c_str(), 0, &impl_->face) != 0) {
    throw Error("the font " + path + " is missing or is not a font");
  }
  SetSize(pixels);
}

Font::~Font() = default;
Font::Font(Font&&) noexcept = default;
Font& Font::operator=(Font&&) noexcept = default;

void Font::SetSize(int pixels) {
  if (pixels == impl_->pixels) return;
  if (FT_Set_Pixel_Sizes(impl_->face, 0, static_cast<FT_UInt>(pixels)) != 0) {
    throw Error("the font cannot be set at " + std::to_string(pixels) + " pixels");
  }
  impl_->pixels = pixels;
}

int Font::pixels() const { return impl_->pixels; }

int Font::ascent() const {
  FT_GlyphSlot tall = impl_->Render(U'\u00C5', false);  // hinting may round it up
  const FT_Pos ink = tall == nullptr ? 0 : tall->metrics.horiBearingY;
  return CeilPixels(std::max(impl_->face->size->metrics.ascender, ink));
}

int Font::line_height() const {
  return ascent() + CeilPixels(-impl_->face->size->metrics.descender);
}

int Font::digit_height() const {
  FT_GlyphSlot glyph = impl_->Render('0', false);
  return glyph == nullptr ? impl_->pixels : CeilPixels(glyph->metrics.horiBearingY);
}

int Font::Width(std::string_view text) {
  int ink_end = 0;
  const int end = impl_->Walk(text, false, [&](FT_GlyphSlot glyph, int pen) {
    const FT_Glyph_Metrics& metrics = glyph->metrics;
    ink_end = std::max(ink_end, pen + 1 + CeilPixels(metrics.horiBearingX + metrics.width));
  });
  return std::max(end, ink_end);
}

std::string Font::Shortened(std::string_view text, int max_width) {
  if (Width(text) <= max_width) return std::string(text);
  std::vector<std::string_view> starts;  // ever longer beginnings
  for (std::string_view rest = text; !rest.empty();) {
    starts.push_back(text.substr(0, text.size() - rest.size()));
    NextCodePoint(rest);
  }
  const auto shortened = [](std::string_view start) { return std::string(start) + "\u2026"; };
  const auto too_wide = std::partition_point(
      starts.begin(), starts.end(),
      [&](std::string_view start) { return Width(shortened(start)) <= max_width; });
  return too_wide == starts.begin() ? std::string() : shortened(*(too_wide - 1));
}

void Font::Draw(Image& image, int baseline, int left, std::string_view text, const Colour& colour) {
  impl_->Walk(text, true, [&](FT_GlyphSlot glyph, int pen) {
    DrawGlyph(image, baseline, left + pen, glyph, colour);
  });
}

}  // namespace attnmap
