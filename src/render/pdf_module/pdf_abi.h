#ifndef ATTNMAP_RENDER_PDF_MODULE_PDF_ABI_H_
#define ATTNMAP_RENDER_PDF_MODULE_PDF_ABI_H_

#include <stdint.h>  // NOLINT(modernize-deprecated-headers)

// What the library and the PDF module say to each other: plain C, so that the
// module may be built by another compiler and no exception crosses over.

#define ATTNMAP_PDF_VERSION 1
#define ATTNMAP_PDF_SYMBOL "attnmap_pdf"

#ifdef __cplusplus
extern "C" {
#endif

// Places are in pixels of the page, from its top left corner. Everything that is
// pointed at stays the caller's.

struct AttnmapPdfPhoto {
  const uint8_t* jpeg;  // of 1 or 3 channels
  uint64_t size;
};

// A photo stretched over a box.
struct AttnmapPdfPlaced {
  uint64_t photo;  // its index
  double left;
  double top;
  double cols;
  double rows;
};

struct AttnmapPdfRect {
  double left;
  double top;
  double right;
  double bottom;
  double opacity;     // 0 to 1
  uint8_t colour[3];  // R G B
};

// Letters of one font, in the order they are drawn, left to right.
struct AttnmapPdfText {
  const char* font;  // path of its file
  const char* utf8;  // ends with 0
  double left;       // of the first letter
  double baseline;
  double pixels;      // the em
  double room;        // what is wider is made narrower
  uint8_t colour[3];  // R G B
};

// One page: photos, then rectangles, then texts, in the order given.
struct AttnmapPdfPage {
  double rows;
  double cols;
  double points_per_pixel;
  const struct AttnmapPdfPhoto* photos;
  uint64_t num_photos;
  const struct AttnmapPdfPlaced* placed;
  uint64_t num_placed;
  const struct AttnmapPdfRect* rects;
  uint64_t num_rects;
  const struct AttnmapPdfText* texts;
  uint64_t num_texts;
};

// Owned by the module until `release`.
struct AttnmapPdfBytes {
  uint64_t size;
  const char* data;
  void* owner;
};

#define ATTNMAP_PDF_MESSAGE 512
struct AttnmapPdf {
  uint32_t version;  // ATTNMAP_PDF_VERSION
  // Returns 0, or another number and a sentence in `message`. For any thread.
  int (*write)(const struct AttnmapPdfPage* page, struct AttnmapPdfBytes* out, char* message);
  void (*release)(struct AttnmapPdfBytes* bytes);
};

// The module's only symbol.
// NOLINTNEXTLINE(modernize-use-using,modernize-redundant-void-arg)
typedef const struct AttnmapPdf* (*AttnmapPdfEntry)(void);

#ifdef __cplusplus
}
#endif

#endif  // ATTNMAP_RENDER_PDF_MODULE_PDF_ABI_H_
