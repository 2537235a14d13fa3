#ifndef ATTNMAP_RENDER_PAINT_MAP_H_
#define ATTNMAP_RENDER_PAINT_MAP_H_

#include <cstdint>
#include <span>

#include "attnmap/core/image.h"
#include "attnmap/core/image_geometry.h"
#include "attnmap/core/patch_map.h"
#include "attnmap/render/colormap.h"
#include "attnmap/render/picture.h"
#include "render/canvas.h"

namespace attnmap {

struct MapStyle {
  Colormap colours = {};
  double alpha = 1;  // of the colour over the photo; 1: colour alone
  Interpolation interpolation = Interpolation::kCubic;
  ValueRange range;  // of the bottom and top colour
};

// The colour's index of a value: 0 at range.low, 255 at range.high, unrounded
// and not clipped. Where the range is empty, 255 above it and 0 elsewhere.
double ColourPosition(double value, const ValueRange& range);

// Draws a map over its photo into a region of the photo's size. Pixels the
// model did not see, patches not shown and, where `kept` (num_patches) is
// given, patches not kept are the photo, dimmed.
// REQUIRES: geometry.source and the region have the photo's size.
void PaintMap(const Image& photo, const ImageGeometry& geometry, const PatchMap& map,
              std::span<const uint8_t> kept, const MapStyle& style, const Region& region);

// What dimming makes of a channel.
uint8_t Dimmed(uint8_t channel);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_PAINT_MAP_H_
