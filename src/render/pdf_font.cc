#include "render/pdf_font.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "attnmap/core/error.h"
#include "render/text_order.h"
#include "render/truetype.h"

namespace attnmap {
namespace {

using Bytes = std::vector<uint8_t>;

std::string Hex(unsigned value) {
  char text[9];
  std::snprintf(text, sizeof(text), "%04X", value);
  return text;
}

uint32_t Read(const Bytes& bytes, size_t at, size_t size) {
  uint32_t value = 0;
  for (size_t i = at; i < at + size; ++i) {
    value = value << 8 | (i < bytes.size() ? bytes[i] : 0);
  }
  return value;
}

void Append(Bytes& bytes, uint32_t value, size_t size) {
  for (size_t i = size; i-- > 0;) bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

Bytes Table(FT_Face face, FT_ULong tag) {
  FT_ULong size = 0;
  if (FT_Load_Sfnt_Table(face, tag, 0, nullptr, &size) != 0) return {};
  Bytes bytes(size);
  if (size > 0 && FT_Load_Sfnt_Table(face, tag, 0, bytes.data(), &size) != 0) return {};
  return bytes;
}

// Where each glyph's outline lies in `glyf`.
struct Outlines {
  Bytes glyf;
  Bytes loca;
  bool wide = false;  // offsets of four bytes

  size_t Offset(unsigned glyph) const {
    const size_t entry =
        wide ? Read(loca, size_t{4} * glyph, 4) : Read(loca, size_t{2} * glyph, 2) * 2;
    return std::min(entry, glyf.size());
  }
  // The glyphs a composite glyph is made of (OpenType, `glyf`).
  std::vector<unsigned> Components(unsigned glyph) const {
    constexpr uint32_t kWords = 1, kScale = 8, kMore = 0x20, kTwoScales = 0x40, kMatrix = 0x80;
    std::vector<unsigned> parts;
    size_t at = Offset(glyph);
    const size_t end = Offset(glyph + 1);
    if (end < at + 10 || (glyf[at] & 0x80) == 0) return parts;
    at += 10;
    for (uint32_t flags = kMore; (flags & kMore) != 0 && at + 4 <= end;) {
      flags = Read(glyf, at, 2);
      parts.push_back(Read(glyf, at + 2, 2));
      at += 4 + ((flags & kWords) != 0 ? 4U : 2U);
      at += (flags & kScale) != 0 ? 2U : (flags & kTwoScales) != 0 ? 4U : 0U;
      at += (flags & kMatrix) != 0 ? 8U : 0U;
    }
    return parts;
  }
};

// The tables of a font, one behind another, with their directory.
Bytes Sfnt(const std::map<FT_ULong, Bytes>& tables) {
  Bytes bytes;
  Append(bytes, 0x00010000, 4);
  Append(bytes, static_cast<uint32_t>(tables.size()), 2);
  uint32_t power = 1, log = 0;
  while (power <= tables.size() / 2) power *= 2, ++log;
  Append(bytes, 16 * power, 2);
  Append(bytes, log, 2);
  Append(bytes, 16 * (static_cast<uint32_t>(tables.size()) - power), 2);
  auto at = 12 + 16 * static_cast<uint32_t>(tables.size());
  for (const auto& [tag, table] : tables) {
    uint32_t sum = 0;
    for (size_t i = 0; i < table.size(); i += 4) sum += Read(table, i, 4);
    Append(bytes, static_cast<uint32_t>(tag), 4);
    Append(bytes, sum, 4);
    Append(bytes, at, 4);
    Append(bytes, static_cast<uint32_t>(table.size()), 4);
    at += static_cast<uint32_t>((table.size() + 3) / 4 * 4);
  }
  for (const auto& entry : tables) {
    bytes.insert(bytes.end(), entry.second.begin(), entry.second.end());
    bytes.resize((bytes.size() + 3) / 4 * 4);
  }
  return bytes;
}

}  // namespace

struct PdfFont::Impl {
  FT_Library library = nullptr;
  FT_Face face = nullptr;
  std::map<unsigned, char32_t> used;  // glyph: its character

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (face != nullptr) FT_Done_Face(face);
    if (library != nullptr) FT_Done_FreeType(library);
  }
  long Thousandths(long units) const {
    return units * 1000 / std::max<long>(face->units_per_EM, 1);
  }
};

PdfFont::PdfFont(const std::string& file) : impl_(std::make_unique<Impl>()) {
  if (FT_Init_FreeType(&impl_->library) != 0 ||
      FT_New_Face(impl_->library, file.c_str(), 0, &impl_->face) != 0 ||
      !HasTrueTypeOutlines(impl_->face)) {
    throw Error("the font " + file + " has no TrueType outlines, which a PDF needs");
  }
}
PdfFont::~PdfFont() = default;
PdfFont::PdfFont(PdfFont&&) noexcept = default;
PdfFont& PdfFont::operator=(PdfFont&&) noexcept = default;

std::string PdfFont::Encode(std::string_view text) {
  std::string glyphs = "<";
  while (!text.empty()) {
    const char32_t code = NextCodePoint(text);
    const unsigned glyph = FT_Get_Char_Index(impl_->face, code);
    impl_->used.try_emplace(glyph, code);
    glyphs += Hex(glyph);
  }
  return glyphs + ">";
}

double PdfFont::Width(std::string_view text) const {
  long width = 0;
  while (!text.empty()) {
    const unsigned glyph = FT_Get_Char_Index(impl_->face, NextCodePoint(text));
    if (FT_Load_Glyph(impl_->face, glyph, FT_LOAD_NO_SCALE) != 0) continue;
    width += impl_->Thousandths(impl_->face->glyph->metrics.horiAdvance);
  }
  return static_cast<double>(width) / 1000;
}

std::string PdfFont::name() const {
  const char* name = FT_Get_Postscript_Name(impl_->face);
  std::string plain = "ATTNMP+";  // six letters: a subset
  for (const char* c = name != nullptr ? name : "Font"; *c != '\0'; ++c) {
    const bool fine =
        (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z');
    if (fine || *c == '-') plain += *c;
  }
  return plain;
}

// Glyphs keep their numbers and unused outlines become zeros, which compress to nothing.
Bytes PdfFont::FontFile() const {
  std::map<FT_ULong, Bytes> tables;
  for (FT_ULong tag :
       {TTAG_head, TTAG_hhea, TTAG_hmtx, TTAG_maxp, TTAG_cvt, TTAG_fpgm, TTAG_prep}) {
    Bytes table = Table(impl_->face, tag);
    if (!table.empty()) tables[tag] = std::move(table);
  }
  constexpr size_t kOffsetFormat = 50;
  const Outlines outlines{Table(impl_->face, TTAG_glyf), Table(impl_->face, TTAG_loca),
                          Read(tables[TTAG_head], kOffsetFormat, 2) != 0};
  std::set<unsigned> needed = {0};
  std::vector<unsigned> open = {0};
  for (const auto& entry : impl_->used) open.push_back(entry.first);
  while (!open.empty()) {
    const unsigned glyph = open.back();
    open.pop_back();
    needed.insert(glyph);
    for (unsigned part : outlines.Components(glyph)) {
      if (!needed.contains(part)) open.push_back(part);
    }
  }
  Bytes kept(outlines.glyf.size());
  for (unsigned glyph : needed) {
    const auto begin = static_cast<std::ptrdiff_t>(outlines.Offset(glyph));
    const auto end = static_cast<std::ptrdiff_t>(outlines.Offset(glyph + 1));
    if (end > begin) {
      std::copy(outlines.glyf.begin() + begin, outlines.glyf.begin() + end, kept.begin() + begin);
    }
  }
  tables[TTAG_glyf] = std::move(kept);
  tables[TTAG_loca] = outlines.loca;
  return Sfnt(tables);
}

std::string PdfFont::Widths() const {
  std::string widths;
  for (const auto& entry : impl_->used) {
    if (FT_Load_Glyph(impl_->face, entry.first, FT_LOAD_NO_SCALE) != 0) continue;
    widths += std::to_string(entry.first) + " [" +
              std::to_string(impl_->Thousandths(impl_->face->glyph->metrics.horiAdvance)) + "] ";
  }
  return widths;
}

std::string PdfFont::ToUnicode() const {
  std::string map =
      "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
      "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
      "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
      "1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n";
  for (const auto& [glyph, code] : impl_->used) {
    std::string units = Hex(code);
    if (code > 0xFFFF) {  // a pair of surrogates
      units = Hex(0xD800 + ((code - 0x10000) >> 10)) + Hex(0xDC00 + ((code - 0x10000) & 0x3FF));
    }
    map += "1 beginbfchar\n<" + Hex(glyph) + "> <" + units + ">\nendbfchar\n";
  }
  return map + "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n";
}

std::string PdfFont::Descriptor() const {
  FT_Face face = impl_->face;
  const auto number = [&](long units) { return std::to_string(impl_->Thousandths(units)); };
  return "/Flags 4 /FontBBox [" + number(face->bbox.xMin) + " " + number(face->bbox.yMin) + " " +
         number(face->bbox.xMax) + " " + number(face->bbox.yMax) + "] /ItalicAngle 0 /Ascent " +
         number(face->ascender) + " /Descent " + number(face->descender) + " /CapHeight " +
         number(face->ascender) + " /StemV 80";
}

}  // namespace attnmap
