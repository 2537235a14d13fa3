#include "attnmap/analysis/maps.h"

#include <cmath>

namespace attnmap {

PatchMap MapFromRow(std::span<const float> row, const TokenLayout& tokens, const PatchGrid& grid) {
  PatchMap map;
  map.grid = grid;
  const auto first = row.begin() + tokens.first_patch_token();
  map.values.assign(first, first + grid.num_patches());
  return map;
}

double Entropy(std::span<const float> row) {
  double entropy = 0;
  for (float weight : row) {
    if (weight > 0) entropy -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
  }
  return entropy;
}

}  // namespace attnmap
