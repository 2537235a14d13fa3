#include "render/font.h"

#include <ft2build.h>
#include FT_FREETYPE_H

#include <algorithm>
#include <vector>

#include "attnmap/core/error.h"
#include "render/text_order.h"

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

struct Font::Impl {
  FT_Library library = nullptr;
  std::vector<FT_Face> faces;      // the font, then the fallbacks opened so far
  std::vector<std::string> files;  // theirs
  std::vector<std::string> fallbacks;
  size_t next_fallback = 0;
  int pixels = 0;

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    for (FT_Face face : faces) FT_Done_Face(face);
    if (library != nullptr) FT_Done_FreeType(library);
  }

  FT_Face main() const { return faces.front(); }

  bool OpenFace(const std::string& path) {
    FT_Face face = nullptr;
    if (FT_New_Face(library, path.c_str(), 0, &face) != 0) return false;
    if (pixels > 0 && FT_Set_Pixel_Sizes(face, 0, static_cast<FT_UInt>(pixels)) != 0) {
      FT_Done_Face(face);
      return false;
    }
    faces.push_back(face);
    files.push_back(path);
    return true;
  }

  // The first font that has the character; the main one where none does.
  FT_Face FaceWith(char32_t code) {
    for (size_t i = 0;; ++i) {
      while (i >= faces.size()) {
        if (next_fallback >= fallbacks.size()) return main();
        OpenFace(fallbacks[next_fallback++]);
      }
      if (FT_Get_Char_Index(faces[i], code) != 0) return faces[i];
    }
  }

  // Loads and renders the glyph of a character (or the box); null if neither works.
  FT_GlyphSlot Render(char32_t code, bool ink) {
    FT_Face face = FaceWith(code);
    const FT_UInt index = FT_Get_Char_Index(face, code);
    const FT_Int32 flags = FT_LOAD_TARGET_LIGHT | (ink ? FT_LOAD_RENDER : FT_LOAD_DEFAULT);
    return FT_Load_Glyph(face, index, flags) == 0 ? face->glyph : nullptr;
  }

  // Calls visit(character, glyph, pen position in pixels) for each, gives the end.
  template <typename Visit>
  int Walk(std::string_view text, bool ink, Visit visit) {
    FT_Pos pen = 0;
    for (char32_t code : VisualOrder(text)) {
      FT_GlyphSlot glyph = Render(code, ink);
      if (glyph == nullptr) continue;
      visit(code, glyph, static_cast<int>((pen + 32) >> 6));
      pen += glyph->advance.x;
    }
    return CeilPixels(pen);
  }
};

Font::Font(const std::string& path, int pixels, std::vector<std::string> fallbacks)
    : impl_(std::make_unique<Impl>()) {
  if (path.empty()) throw Error("no font was given for the labels of a picture");
  if (FT_Init_FreeType(&impl_->library) != 0) throw Error("the font library does not start");
  if (!impl_->OpenFace(path)) throw Error("the font " + path + " is missing or is not a font");
  impl_->fallbacks = std::move(fallbacks);
  SetSize(pixels);
}

Font::~Font() = default;
Font::Font(Font&&) noexcept = default;
Font& Font::operator=(Font&&) noexcept = default;

void Font::SetSize(int pixels) {
  if (pixels == impl_->pixels) return;
  for (FT_Face face : impl_->faces) {
    if (FT_Set_Pixel_Sizes(face, 0, static_cast<FT_UInt>(pixels)) != 0) {
      throw Error("the font cannot be set at " + std::to_string(pixels) + " pixels");
    }
  }
  impl_->pixels = pixels;
}

int Font::pixels() const { return impl_->pixels; }

int Font::ascent() const {
  FT_GlyphSlot tall = impl_->Render(U'\u00C5', false);  // hinting may round it up
  const FT_Pos ink = tall == nullptr ? 0 : tall->metrics.horiBearingY;
  return CeilPixels(std::max(impl_->main()->size->metrics.ascender, ink));
}

int Font::line_height() const {
  return ascent() + CeilPixels(-impl_->main()->size->metrics.descender);
}

int Font::digit_height() const {
  FT_GlyphSlot glyph = impl_->Render('0', false);
  return glyph == nullptr ? impl_->pixels : CeilPixels(glyph->metrics.horiBearingY);
}

int Font::Width(std::string_view text) {
  int ink_end = 0;
  const int end = impl_->Walk(text, false, [&](char32_t, FT_GlyphSlot glyph, int pen) {
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

std::vector<Font::Run> Font::Runs(std::string_view text) {
  std::vector<Run> runs;
  impl_->Walk(text, false, [&](char32_t code, FT_GlyphSlot glyph, int pen) {
    const auto at = std::find(impl_->faces.begin(), impl_->faces.end(), glyph->face);
    const std::string& file = impl_->files[static_cast<size_t>(at - impl_->faces.begin())];
    if (runs.empty() || runs.back().file != file) runs.push_back({file, {}, pen});
    runs.back().text += Utf8({code});
  });
  return runs;
}

bool Font::Has(std::string_view text) {
  const std::u32string codes = VisualOrder(text);
  return std::all_of(codes.begin(), codes.end(), [&](char32_t code) {
    return code != kReplacement && FT_Get_Char_Index(impl_->FaceWith(code), code) != 0;
  });
}

void Font::Draw(Image& image, int baseline, int left, std::string_view text, const Colour& colour) {
  impl_->Walk(text, true, [&](char32_t, FT_GlyphSlot glyph, int pen) {
    DrawGlyph(image, baseline, left + pen, glyph, colour);
  });
}

}  // namespace attnmap
