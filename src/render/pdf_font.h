#ifndef ATTNMAP_RENDER_PDF_FONT_H_
#define ATTNMAP_RENDER_PDF_FONT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attnmap {

// A TrueType font to be embedded in a PDF: which glyphs were used, and the
// font with just these. PDF 32000-1:2008, 9.7 (composite fonts).
class PdfFont {
 public:
  // Throws Error where the file is no font with TrueType outlines.
  explicit PdfFont(const std::string& file);
  ~PdfFont();
  PdfFont(PdfFont&&) noexcept;
  PdfFont& operator=(PdfFont&&) noexcept;

  // The text's glyphs as a string of the content stream, "<00480065>". Remembers them.
  std::string Encode(std::string_view text);

  // The advances of the text's glyphs, in ems.
  double Width(std::string_view text) const;

  // What goes into the file. Metrics are in thousandths of the em.
  std::string name() const;
  std::vector<uint8_t> FontFile() const;  // sfnt, outlines of other glyphs emptied
  std::string Widths() const;             // "72 [635] ..."
  std::string ToUnicode() const;          // a CMap
  std::string Descriptor() const;         // the numbers of a font descriptor

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_PDF_FONT_H_
