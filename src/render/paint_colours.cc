#include "render/paint_colours.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "render/map_values.h"
#include "render/upsample.h"

namespace attnmap {
namespace {

constexpr int kChannels = 3;

// One channel at the picture's size, a row at a time.
Upsampler ChannelOf(const ImageGeometry& geometry, const PatchMap& map, int channel,
                    Interpolation interpolation) {
  const auto count = static_cast<std::ptrdiff_t>(map.values.size());
  const auto first = map.colours.begin() + channel * count;
  PatchMap one{map.grid, {first, first + count}, map.shown, {}, 0, {}, {}};
  return {geometry, map.grid, FilledValues(one), interpolation};
}

uint8_t Blend(double alpha, uint8_t photo, float value) {
  const double colour = 255.0 * std::clamp(value, 0.0F, 1.0F);
  return static_cast<uint8_t>(std::lround((1 - alpha) * photo + alpha * colour));
}

}  // namespace

void PaintColours(const Image& photo, const ImageGeometry& geometry, const PatchMap& map,
                  const MapStyle& style, const Region& region) {
  assert(geometry.source == photo.size() && RowsCols({region.rows, region.cols}) == photo.size());
  std::vector<Upsampler> channels;
  std::vector<std::vector<float>> lines(kChannels);
  for (int channel = 0; channel < kChannels; ++channel) {
    channels.push_back(ChannelOf(geometry, map, channel, style.interpolation));
    lines[static_cast<size_t>(channel)].resize(static_cast<size_t>(photo.cols));
  }
  const AxisTaps& rows = channels[0].rows();
  const AxisTaps& cols = channels[0].cols();
  for (int y = 0; y < photo.rows; ++y) {
    const int patch_row = rows.nearest[static_cast<size_t>(y)];
    for (size_t channel = 0; channel < channels.size() && patch_row >= 0; ++channel) {
      channels[channel].Row(y, lines[channel]);
    }
    const uint8_t* from = photo.row(y);
    uint8_t* out = region.row(y);
    for (int x = 0; x < photo.cols; ++x, from += kChannels, out += kChannels) {
      const auto at = static_cast<size_t>(x);
      const int patch_col = cols.nearest[at];
      const bool seen = patch_row >= 0 && patch_col >= 0 &&
                        map.IsShown(map.grid.PatchIndex(patch_row, patch_col));
      for (size_t channel = 0; channel < channels.size(); ++channel) {
        out[channel] =
            seen ? Blend(style.alpha, from[channel], lines[channel][at]) : Dimmed(from[channel]);
      }
    }
  }
}

}  // namespace attnmap
