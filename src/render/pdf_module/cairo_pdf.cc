// The PDF module: cairo behind a plain C table. It is loaded when a PDF is to be
// written, because loading cairo pulls in X11, fontconfig and what they want.

#include <cairo-ft.h>
#include <cairo-pdf.h>
#include <ft2build.h>
#include FT_FREETYPE_H

#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "attnmap/image/module.h"
#include "render/pdf_module/pdf_abi.h"

namespace attnmap {
namespace {

struct Destroyer {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};
using Context = std::unique_ptr<cairo_t, Destroyer>;
using Surface = std::unique_ptr<cairo_surface_t, Destroyer>;

void Check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS) throw std::runtime_error(cairo_status_to_string(status));
}

// What is drawn in between leaves the state as it was.
class Saved {
 public:
  explicit Saved(cairo_t* page) : page_(page) { cairo_save(page); }
  ~Saved() { cairo_restore(page_); }
  Saved(const Saved&) = delete;
  Saved& operator=(const Saved&) = delete;

 private:
  cairo_t* page_;
};

// The font files used so far. They stay open: cairo keeps what it made of a
// font when the page is finished, and goes back to the file when it is asked
// again. Not for several threads at once.
class Fonts {
 public:
  Fonts() {
    if (FT_Init_FreeType(&library_) != 0) throw std::runtime_error("FreeType does not start");
  }
  ~Fonts() = delete;  // at no time is it known that cairo is done with them
  Fonts(const Fonts&) = delete;
  Fonts& operator=(const Fonts&) = delete;

  cairo_font_face_t* Open(const char* file) {
    cairo_font_face_t*& font = fonts_[file];
    if (font == nullptr) font = Load(file);
    return font;
  }

 private:
  cairo_font_face_t* Load(const char* file) {
    FT_Face face = nullptr;
    if (FT_New_Face(library_, file, 0, &face) != 0) {
      throw std::runtime_error(std::string("the font ") + file + " cannot be read");
    }
    cairo_font_face_t* font = cairo_ft_font_face_create_for_ft_face(face, 0);
    if (cairo_font_face_status(font) != CAIRO_STATUS_SUCCESS) {
      FT_Done_Face(face);
      Check(cairo_font_face_status(font));
    }
    return font;
  }

  FT_Library library_ = nullptr;
  std::map<std::string, cairo_font_face_t*> fonts_;  // by file
};

void SetColour(cairo_t* page, const uint8_t* colour, double opacity) {
  cairo_set_source_rgba(page, colour[0] / 255.0, colour[1] / 255.0, colour[2] / 255.0, opacity);
}

// A photo goes into the file as the JPEG it is, and with the size that its
// header says. So cairo never asks for pixels, and one stands for them all.
Surface PhotoSurface(const AttnmapPdfPhoto& photo) {
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, 1, 1));
  Check(cairo_surface_status(surface.get()));
  Check(cairo_surface_set_mime_data(surface.get(), CAIRO_MIME_TYPE_JPEG, photo.jpeg,
                                    static_cast<unsigned long>(photo.size), nullptr, nullptr));
  return surface;
}

void DrawPhotos(cairo_t* page, const AttnmapPdfPage& from) {
  std::map<uint64_t, Surface> photos;
  for (uint64_t i = 0; i < from.num_placed; ++i) {
    const AttnmapPdfPlaced& placed = from.placed[i];
    Surface& photo = photos[placed.photo];
    if (photo == nullptr) photo = PhotoSurface(from.photos[placed.photo]);
    const Saved saved(page);
    cairo_translate(page, placed.left, placed.top);
    cairo_scale(page, placed.cols, placed.rows);
    cairo_set_source_surface(page, photo.get(), 0, 0);
    cairo_paint(page);
  }
}

// From edge to edge: cairo_rectangle would round an edge that two rectangles
// share differently for each.
void DrawRects(cairo_t* page, const AttnmapPdfPage& from) {
  for (uint64_t i = 0; i < from.num_rects; ++i) {
    const AttnmapPdfRect& rect = from.rects[i];
    SetColour(page, rect.colour, rect.opacity);
    cairo_move_to(page, rect.left, rect.top);
    cairo_line_to(page, rect.right, rect.top);
    cairo_line_to(page, rect.right, rect.bottom);
    cairo_line_to(page, rect.left, rect.bottom);
    cairo_close_path(page);
    cairo_fill(page);
  }
}

void DrawTexts(cairo_t* page, const AttnmapPdfPage& from, Fonts& fonts) {
  for (uint64_t i = 0; i < from.num_texts; ++i) {
    const AttnmapPdfText& text = from.texts[i];
    const Saved saved(page);
    SetColour(page, text.colour, 1);
    cairo_set_font_face(page, fonts.Open(text.font));
    cairo_set_font_size(page, text.pixels);
    cairo_text_extents_t extents = {};
    cairo_text_extents(page, text.utf8, &extents);
    const bool too_wide = text.room > 0 && extents.x_advance > text.room;
    cairo_translate(page, text.left, text.baseline);
    cairo_scale(page, too_wide ? text.room / extents.x_advance : 1, 1);
    cairo_move_to(page, 0, 0);
    cairo_show_text(page, text.utf8);
  }
}

// Appends to a string; through cairo, which knows no exceptions.
cairo_status_t Append(void* bytes, const unsigned char* data, unsigned size) {
  try {
    static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), size);
  } catch (...) {
    return CAIRO_STATUS_NO_MEMORY;
  }
  return CAIRO_STATUS_SUCCESS;
}

void DrawPage(const AttnmapPdfPage& from, Fonts& fonts, std::string& bytes) {
  const double scale = from.points_per_pixel;
  const Surface surface(
      cairo_pdf_surface_create_for_stream(Append, &bytes, from.cols * scale, from.rows * scale));
  Check(cairo_surface_status(surface.get()));
  // No date: the same picture is the same file.
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
  const Context page(cairo_create(surface.get()));
  cairo_scale(page.get(), scale, scale);
  DrawPhotos(page.get(), from);
  DrawRects(page.get(), from);
  DrawTexts(page.get(), from, fonts);
  cairo_show_page(page.get());
  Check(cairo_status(page.get()));
  cairo_surface_finish(surface.get());
  Check(cairo_surface_status(surface.get()));
}

int Write(const AttnmapPdfPage* page, AttnmapPdfBytes* out, char* message) {
  return Guarded<ATTNMAP_PDF_MESSAGE>(message, [&] {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    static Fonts& fonts = *new Fonts;
    auto bytes = std::make_unique<std::string>();
    DrawPage(*page, fonts, *bytes);
    *out = {bytes->size(), bytes->data(), bytes.get()};
    bytes.release();  // NOLINT(bugprone-unused-return-value)
    return 0;
  });
}

void Release(AttnmapPdfBytes* bytes) {
  delete static_cast<std::string*>(bytes->owner);
  *bytes = {};
}

constexpr AttnmapPdf kPdf = {ATTNMAP_PDF_VERSION, Write, Release};

}  // namespace
}  // namespace attnmap

extern "C" __attribute__((visibility("default"))) const AttnmapPdf* attnmap_pdf() {
  return &attnmap::kPdf;
}
