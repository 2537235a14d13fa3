#include "attnmap/core/patch_map.h"

#include <algorithm>

namespace attnmap {

std::vector<uint8_t> MassMask(const PatchMap& map, double share) {
  std::vector<int> order;
  double total = 0;
  for (int i = 0; i < map.grid.num_patches(); ++i) {
    if (!map.IsShown(i)) continue;
    order.push_back(i);
    total += map.values[static_cast<size_t>(i)];
  }
  std::vector<uint8_t> kept(map.values.size(), 0);
  if (!(total > 0)) return kept;
  const auto value = [&](int i) { return map.values[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return value(a) < value(b); });
  double cumulated = 0;
  for (int i : order) {
    cumulated += value(i) / total;
    kept[static_cast<size_t>(i)] = std::min(cumulated, 1.0) > 1 - share ? 1 : 0;
  }
  return kept;
}

}  // namespace attnmap
