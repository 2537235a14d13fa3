#include "render/map_values.h"

#include <algorithm>
#include <cmath>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

// Values of all maps that count for a range.
std::vector<float> ShownValues(std::span<const PatchMap> maps) {
  std::vector<float> values;
  for (const PatchMap& map : maps) {
    for (size_t i = 0; i < map.values.size(); ++i) {
      if (map.IsShown(static_cast<int>(i)) && std::isfinite(map.values[i])) {
        values.push_back(map.values[i]);
      }
    }
  }
  return values;
}

// Linear between order statistics, as numpy's default. REQUIRES: sorted, not empty.
double Percentile(const std::vector<float>& sorted, double percent) {
  const double at = std::clamp(percent, 0.0, 100.0) / 100 * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double low = sorted[below];
  return low + (sorted[above] - low) * (at - static_cast<double>(below));
}

}  // namespace

PatchMap Drawable(const PatchMap& map, const ImageGeometry& geometry) {
  const auto count = static_cast<size_t>(map.grid.num_patches());
  if (count == 0 || map.values.size() != count ||
      (!map.shown.empty() && map.shown.size() != count)) {
    throw Error("a map of " + std::to_string(map.values.size()) +
                " values does not fit a grid of " + std::to_string(map.grid.rows) + " x " +
                std::to_string(map.grid.cols) + " patches");
  }
  PatchMap drawable = map;
  drawable.shown.assign(count, 1);
  for (size_t i = 0; i < count; ++i) {
    const RowsCols at = map.grid.PatchAt(static_cast<int>(i));
    drawable.shown[i] = map.IsShown(static_cast<int>(i)) && std::isfinite(map.values[i]) &&
                        geometry.PatchShowsPicture(map.grid, at.rows, at.cols);
  }
  return drawable;
}

ValueRange OwnRange(const PatchMap& map) { return ComputeRange({&map, 1}, {}); }

bool IsConstant(const ValueRange& own_range) {
  constexpr double kRounding = 1e-6;
  const double size = std::max(std::abs(own_range.low), std::abs(own_range.high));
  return own_range.high - own_range.low <= kRounding * size;
}

ValueRange ComputeRange(std::span<const PatchMap> maps, const Normalize& normalize) {
  using Kind = Normalize::Kind;
  if (normalize.kind == Kind::kRange) return {normalize.low, normalize.high};
  std::vector<float> values = ShownValues(maps);
  if (values.empty()) return {};
  if (normalize.kind == Kind::kPercentile) {
    std::sort(values.begin(), values.end());
    return {Percentile(values, normalize.low), Percentile(values, normalize.high)};
  }
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  if (normalize.kind == Kind::kMax) return {std::min(0.0F, *max), *max};
  return {*min, *max};
}

std::vector<float> FilledValues(const PatchMap& map) {
  const PatchGrid& grid = map.grid;
  std::vector<float> values = map.values;
  std::vector<uint8_t> known(values.size());
  for (size_t i = 0; i < known.size(); ++i) known[i] = map.IsShown(static_cast<int>(i)) ? 1 : 0;
  if (std::find(known.begin(), known.end(), 1) == known.end()) {
    std::fill(values.begin(), values.end(), 0.0F);
    return values;
  }
  const RowsCols steps[] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  for (bool again = true; again;) {  // a ring of patches a round
    again = false;
    std::vector<uint8_t> next = known;
    for (int i = 0; i < grid.num_patches(); ++i) {
      if (known[static_cast<size_t>(i)] != 0) continue;
      const RowsCols at = grid.PatchAt(i);
      double sum = 0;
      int count = 0;
      for (const RowsCols& step : steps) {
        const RowsCols to{at.rows + step.rows, at.cols + step.cols};
        if (to.rows < 0 || to.cols < 0 || to.rows >= grid.rows || to.cols >= grid.cols) continue;
        const auto neighbour = static_cast<size_t>(grid.PatchIndex(to.rows, to.cols));
        if (known[neighbour] == 0) continue;
        sum += values[neighbour];
        ++count;
      }
      if (count == 0) {
        again = true;
        continue;
      }
      values[static_cast<size_t>(i)] = static_cast<float>(sum / count);
      next[static_cast<size_t>(i)] = 1;
    }
    known = std::move(next);
  }
  return values;
}

}  // namespace attnmap
