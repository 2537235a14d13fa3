#ifndef ATTNMAP_RENDER_PAINT_COLOURS_H_
#define ATTNMAP_RENDER_PAINT_COLOURS_H_

#include "attnmap/core/image.h"
#include "attnmap/core/image_geometry.h"
#include "attnmap/core/patch_map.h"
#include "render/canvas.h"
#include "render/paint_map.h"

namespace attnmap {

// Draws a map that has colours of its own over its photo, of which `style`
// gives alpha and interpolation. What the model did not see, and patches that
// are not shown, are the photo, dimmed.
// REQUIRES: geometry.source and the region have the photo's size, map.colours is (3, patches).
void PaintColours(const Image& photo, const ImageGeometry& geometry, const PatchMap& map,
                  const MapStyle& style, const Region& region);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_PAINT_COLOURS_H_
