#ifndef ATTNMAP_RENDER_MAP_VALUES_H_
#define ATTNMAP_RENDER_MAP_VALUES_H_

#include <vector>

#include "attnmap/core/image_geometry.h"
#include "attnmap/core/patch_map.h"
#include "attnmap/render/picture.h"

namespace attnmap {

// The map with those patches marked as not shown that cannot be drawn: in
// padding, or not a finite number. Throws Error where the values do not fit
// the grid.
PatchMap Drawable(const PatchMap& map, const ImageGeometry& geometry);

// Smallest and largest value of the shown, finite patches; {0, 0} for none.
ValueRange OwnRange(const PatchMap& map);

// One value only, but for the last bits of float32: stretching those over the
// colours would draw noise.
bool IsConstant(const ValueRange& own_range);

// The values, patches that are not shown filled in from their neighbours, so
// that interpolation beside them sees no edge.
std::vector<float> FilledValues(const PatchMap& map);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_MAP_VALUES_H_
