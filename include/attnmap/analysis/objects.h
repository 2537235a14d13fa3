#ifndef ATTNMAP_ANALYSIS_OBJECTS_H_
#define ATTNMAP_ANALYSIS_OBJECTS_H_

#include <string>
#include <vector>

#include "attnmap/core/image_geometry.h"
#include "attnmap/core/patch_map.h"

namespace attnmap {

// Patches of a map that hang together, as the picture's owner sees them.
struct MapObject {
  int layer = 0;  // of the map
  std::string head;
  Rect box;         // of the upright source's pixels, clipped to it
  double area = 0;  // in source pixels
  int patches = 0;
  double mass = 0;  // share of the shown patches' mass
};

// The connected parts of the map's mass mask (MassMask), patches that share an
// edge hanging together, as scipy.ndimage.label has it by default; those that
// hold most first.
std::vector<MapObject> FindObjects(const PatchMap& map, double share,
                                   const ImageGeometry& geometry);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_OBJECTS_H_
