#include "render/paint_heads.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "attnmap/render/head_palette.h"
#include "render/paint_map.h"
#include "render/upsample.h"

namespace attnmap {
namespace {

float LargestShown(const PatchMap& map) {
  float largest = 0;
  for (int i = 0; i < map.grid.num_patches(); ++i) {
    if (map.IsShown(i)) largest = std::max(largest, map.values[static_cast<size_t>(i)]);
  }
  return largest;
}

void PaintPixel(uint8_t grey, const HeadOwner& owner, double alpha, uint8_t* out) {
  const HeadColour colour = ColourOfHead(owner.head);
  const double opacity = HeadOpacity(owner.strength, alpha);
  for (size_t c = 0; c < 3; ++c) {
    out[c] = static_cast<uint8_t>(std::lround((1 - opacity) * grey + opacity * colour[c]));
  }
}

}  // namespace

uint8_t Grey(const uint8_t* rgb) {
  return static_cast<uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
}

std::vector<HeadOwner> OwnersOf(std::span<const PatchMap> maps, double share) {
  std::vector<HeadOwner> owners(static_cast<size_t>(maps.front().grid.num_patches()));
  for (size_t head = 0; head < maps.size(); ++head) {
    const std::vector<uint8_t> kept = MassMask(maps[head], share);
    const float largest = LargestShown(maps[head]);
    if (!(largest > 0)) continue;
    for (size_t i = 0; i < owners.size(); ++i) {
      const float strength = maps[head].values[i] / largest;
      if (kept[i] != 0 && strength > owners[i].strength) {
        owners[i] = {static_cast<int>(head), strength};
      }
    }
  }
  return owners;
}

double HeadOpacity(float strength, double alpha) {
  constexpr double kStronger = 1.4;  // than a map: names are told by colour, not by lightness
  constexpr double kWeakest = 0.55;  // of the strongest
  return std::min(1.0, kStronger * alpha) *
         (kWeakest + (1 - kWeakest) * static_cast<double>(strength));
}

void PaintHeads(const Image& photo, const ImageGeometry& geometry, const PatchGrid& grid,
                std::span<const HeadOwner> owners, double alpha, const Region& region) {
  assert(geometry.source == photo.size() && RowsCols({region.rows, region.cols}) == photo.size());
  const std::vector<float> none(owners.size());
  const Upsampler axes(geometry, grid, none, Interpolation::kNearest);
  for (int y = 0; y < photo.rows; ++y) {
    const int row = axes.rows().nearest[static_cast<size_t>(y)];
    const uint8_t* from = photo.row(y);
    uint8_t* out = region.row(y);
    for (int x = 0; x < photo.cols; ++x, from += 3, out += 3) {
      const int col = axes.cols().nearest[static_cast<size_t>(x)];
      const bool seen = row >= 0 && col >= 0;
      const HeadOwner owner =
          seen ? owners[static_cast<size_t>(grid.PatchIndex(row, col))] : HeadOwner{};
      const uint8_t grey = Grey(from);
      if (owner.head >= 0) {
        PaintPixel(grey, owner, alpha, out);
      } else {
        std::fill_n(out, 3, Dimmed(grey));
      }
    }
  }
}

}  // namespace attnmap
