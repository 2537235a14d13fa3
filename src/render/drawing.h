#ifndef ATTNMAP_RENDER_DRAWING_H_
#define ATTNMAP_RENDER_DRAWING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "attnmap/core/image_geometry.h"
#include "render/canvas.h"
#include "render/compose.h"

namespace attnmap {

// A page as shapes, in pixels of the canvas (edge coordinates), to be written
// in the order photos, shapes, texts.
struct Drawing {
  struct Photo {
    std::vector<uint8_t> jpeg;
    RowsCols size;  // of the JPEG
  };
  struct PlacedPhoto {
    size_t photo = 0;
    Box box;
  };
  struct Shape {
    Rect rect;
    Colour colour = {};
    double opacity = 1;
  };

  RowsCols canvas;
  std::vector<Photo> photos;
  std::vector<PlacedPhoto> placed;
  std::vector<Shape> shapes;
  std::vector<PlacedText> texts;
};

// The rectangles are the patches, exact and clipped to their photo.
Drawing DrawShapes(Composition& composition, const PictureOptions& options);

std::string SvgText(const Drawing& drawing);
// `font`: the one texts were measured with, null where there are none; its files
// are embedded as far as they are used. Throws Error where the module is missing.
std::string PdfBytes(const Drawing& drawing, Font* font, const std::string& module);

// A number with up to three decimals, in any locale.
std::string ShortNumber(double value);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_DRAWING_H_
