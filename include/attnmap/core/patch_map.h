#ifndef ATTNMAP_CORE_PATCH_MAP_H_
#define ATTNMAP_CORE_PATCH_MAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "attnmap/core/patch_grid.h"

namespace attnmap {

// One map: a value for each patch, raw, in the order of PatchGrid.
struct PatchMap {
  PatchGrid grid;
  std::vector<float> values;   // grid.num_patches()
  std::vector<uint8_t> shown;  // empty: all; else 0 where a patch is not to be drawn (padding)
  // Features shown as colours: (3, num_patches), R G B in [0, 1], and `values` is
  // the first of the three. Empty: values become colours by a colour map.
  std::vector<float> colours;
  int layer = 0;      // -1: behind all layers (a pooling head)
  std::string head;   // "mean", "3", ...; empty: does not apply
  std::string query;  // "class", "patch 3,5", ...; empty: does not apply

  bool IsShown(int patch_index) const {
    return shown.empty() || shown[static_cast<size_t>(patch_index)] != 0;
  }
};

// The smallest set of patches that holds a share of the shown patches' mass
// (DINO's rule: sort ascending, cumulate, keep where above 1 - share). 1 where
// kept. Of equal patches the later ones are kept first. Nothing is kept where
// there is no mass.
std::vector<uint8_t> MassMask(const PatchMap& map, double share);

}  // namespace attnmap

#endif  // ATTNMAP_CORE_PATCH_MAP_H_
