#ifndef ATTNMAP_RENDER_TRUETYPE_H_
#define ATTNMAP_RENDER_TRUETYPE_H_

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_TRUETYPE_TABLES_H
#include FT_TRUETYPE_TAGS_H

namespace attnmap {

// Whether a font's outlines are TrueType's, the only ones that PdfFont embeds.
// Those of PostScript (CFF), as in Noto's CJK fonts, are not.
inline bool HasTrueTypeOutlines(FT_Face face) {
  FT_ULong size = 0;
  return FT_Load_Sfnt_Table(face, TTAG_glyf, 0, nullptr, &size) == 0 && size > 0;
}

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_TRUETYPE_H_
