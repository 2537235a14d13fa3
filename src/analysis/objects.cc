#include "attnmap/analysis/objects.h"

#include <algorithm>
#include <cstdint>

namespace attnmap {
namespace {

Rect ClippedPatch(const PatchMap& map, RowsCols at, const ImageGeometry& geometry) {
  Rect rect = geometry.PatchRect(map.grid, at.rows, at.cols);
  rect.top = std::max(rect.top, 0.0);
  rect.left = std::max(rect.left, 0.0);
  rect.bottom = std::min<double>(rect.bottom, geometry.source.rows);
  rect.right = std::min<double>(rect.right, geometry.source.cols);
  return rect;
}

// Takes a patch and all that hang on it out of the mask.
std::vector<int> TakePart(const PatchGrid& grid, int start, std::vector<uint8_t>& mask) {
  constexpr RowsCols kSteps[] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  std::vector<int> part{start};
  mask[static_cast<size_t>(start)] = 0;
  for (size_t next = 0; next < part.size(); ++next) {
    const RowsCols at = grid.PatchAt(part[next]);
    for (const RowsCols& step : kSteps) {
      const RowsCols to{at.rows + step.rows, at.cols + step.cols};
      if (to.rows < 0 || to.cols < 0 || to.rows >= grid.rows || to.cols >= grid.cols) continue;
      const int index = grid.PatchIndex(to.rows, to.cols);
      if (mask[static_cast<size_t>(index)] == 0) continue;
      mask[static_cast<size_t>(index)] = 0;
      part.push_back(index);
    }
  }
  return part;
}

MapObject ObjectOf(const PatchMap& map, const std::vector<int>& part, double whole,
                   const ImageGeometry& geometry) {
  MapObject object;
  object.layer = map.layer;
  object.head = map.head;
  object.patches = static_cast<int>(part.size());
  object.box = ClippedPatch(map, map.grid.PatchAt(part[0]), geometry);
  for (int patch : part) {
    const Rect rect = ClippedPatch(map, map.grid.PatchAt(patch), geometry);
    object.box.top = std::min(object.box.top, rect.top);
    object.box.left = std::min(object.box.left, rect.left);
    object.box.bottom = std::max(object.box.bottom, rect.bottom);
    object.box.right = std::max(object.box.right, rect.right);
    object.area += std::max(rect.rows(), 0.0) * std::max(rect.cols(), 0.0);
    object.mass += map.values[static_cast<size_t>(patch)] / whole;
  }
  return object;
}

}  // namespace

std::vector<MapObject> FindObjects(const PatchMap& map, double share,
                                   const ImageGeometry& geometry) {
  std::vector<uint8_t> mask = MassMask(map, share);
  double whole = 0;
  for (int i = 0; i < map.grid.num_patches(); ++i) {
    if (map.IsShown(i)) whole += map.values[static_cast<size_t>(i)];
  }
  std::vector<MapObject> objects;
  for (int i = 0; i < map.grid.num_patches(); ++i) {
    if (mask[static_cast<size_t>(i)] == 0) continue;
    objects.push_back(ObjectOf(map, TakePart(map.grid, i, mask), whole, geometry));
  }
  std::stable_sort(objects.begin(), objects.end(),
                   [](const MapObject& a, const MapObject& b) { return a.mass > b.mass; });
  return objects;
}

}  // namespace attnmap
