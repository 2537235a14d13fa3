#include "render/paint_map.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <vector>

#include "render/map_values.h"
#include "render/upsample.h"

namespace attnmap {
namespace {

// out = (photo * w + colour) rounded, in 8.8 fixed point: within 0.51 of exact.
struct BlendTable {
  uint16_t photo_weight = 0;                          // (1 - alpha) * 2^16
  std::array<std::array<uint16_t, 4>, 256> colour{};  // alpha * colour * 2^8 + 1/2; R G B unused
};

BlendTable MakeBlendTable(const MapStyle& style) {
  BlendTable table;
  const double weight = std::round((1 - style.alpha) * 65536);
  table.photo_weight = static_cast<uint16_t>(std::min(weight, 65535.0));
  for (size_t i = 0; i < 256; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      table.colour[i][c] =
          static_cast<uint16_t>(std::round(style.alpha * style.colours[i][c] * 256) + 128);
    }
  }
  return table;
}

// One row: positions -> indices -> colours -> blended with the photo.
class RowBlender {
 public:
  RowBlender(const MapStyle& style, float low, float high, int cols)
      : table_(MakeBlendTable(style)),
        low_(low),
        high_(high),
        index_(static_cast<size_t>(cols)),
        colour_(static_cast<size_t>(cols) * 3 + 1) {}

  // positions, photo and out begin at the same pixel; `count` pixels.
  void Blend(const float* positions, const uint8_t* photo, int count, uint8_t* out) {
    uint8_t* const index = index_.data();
    const float low = low_, high = high_;
    for (int x = 0; x < count; ++x) {
      const float clipped = std::min(std::max(positions[x], low), high);
      index[x] = static_cast<uint8_t>(static_cast<int>(clipped + 0.5F));
    }
    uint16_t* colour = colour_.data();
    for (int x = 0; x < count; ++x, colour += 3) {
      std::memcpy(colour, table_.colour[index[x]].data(), sizeof(uint16_t) * 4);
    }
    const uint16_t* const add = colour_.data();
    const uint16_t weight = table_.photo_weight;
    for (int i = 0; i < 3 * count; ++i) {
      const auto shifted = static_cast<uint16_t>(photo[i] << 8);
      const auto part = static_cast<uint16_t>((static_cast<uint32_t>(shifted) * weight) >> 16);
      out[i] = static_cast<uint8_t>(static_cast<uint16_t>(part + add[i]) >> 8);
    }
  }

 private:
  BlendTable table_;
  float low_;
  float high_;
  std::vector<uint8_t> index_;
  std::vector<uint16_t> colour_;
};

void DimRow(const uint8_t* photo, int begin, int end, uint8_t* out) {
  for (int i = 3 * begin; i < 3 * end; ++i) out[i] = Dimmed(photo[i]);
}

// Runs of pixels under patches of one grid row that are not to be coloured.
void DimPatches(const uint8_t* photo, const AxisTaps& cols, std::span<const uint8_t> coloured,
                uint8_t* out) {
  for (int x = cols.seen_begin; x < cols.seen_end; ++x) {
    const int patch = cols.nearest[static_cast<size_t>(x)];
    if (coloured[static_cast<size_t>(patch)] == 0) DimRow(photo, x, x + 1, out);
  }
}

// Of the map's own values, so that cubic overshoot invents none.
std::pair<float, float> PositionLimits(const PatchMap& map, const ValueRange& range) {
  const ValueRange own = OwnRange(map);
  const auto limit = [&](double value) {
    return static_cast<float>(std::clamp(ColourPosition(value, range), 0.0, 255.0));
  };
  return {limit(own.low), limit(own.high)};
}

}  // namespace

uint8_t Dimmed(uint8_t channel) { return static_cast<uint8_t>(channel >> 1); }

double ColourPosition(double value, const ValueRange& range) {
  if (!(range.high > range.low)) return value > range.high ? 255 : 0;
  return (value - range.low) / (range.high - range.low) * 255;
}

void PaintMap(const Image& photo, const ImageGeometry& geometry, const PatchMap& map,
              std::span<const uint8_t> kept, const MapStyle& style, const Region& region) {
  assert(geometry.source == photo.size() && RowsCols({region.rows, region.cols}) == photo.size());
  constexpr double kFar = 1e6;  // beyond any colour, and float interpolates it still
  std::vector<float> positions = FilledValues(map);
  for (float& value : positions) {
    value = static_cast<float>(std::clamp(ColourPosition(value, style.range), -kFar, kFar));
  }
  std::vector<uint8_t> coloured(positions.size());
  for (size_t i = 0; i < coloured.size(); ++i) {
    coloured[i] = map.IsShown(static_cast<int>(i)) && (kept.empty() || kept[i] != 0) ? 1 : 0;
  }

  Upsampler upsampler(geometry, map.grid, positions, style.interpolation);
  const AxisTaps& cols = upsampler.cols();
  const auto [low, high] = PositionLimits(map, style.range);
  RowBlender blender(style, low, high, photo.cols);
  std::vector<float> line(static_cast<size_t>(photo.cols));
  const auto grid_cols = static_cast<size_t>(map.grid.cols);
  for (int y = 0; y < photo.rows; ++y) {
    const uint8_t* from = photo.row(y);
    uint8_t* out = region.row(y);
    const int patch_row = upsampler.rows().nearest[static_cast<size_t>(y)];
    if (patch_row < 0) {
      DimRow(from, 0, photo.cols, out);
      continue;
    }
    DimRow(from, 0, cols.seen_begin, out);
    DimRow(from, cols.seen_end, photo.cols, out);
    upsampler.Row(y, line);
    const int begin = cols.seen_begin;
    const std::ptrdiff_t byte = std::ptrdiff_t{3} * begin;
    blender.Blend(line.data() + begin, from + byte, cols.seen_end - begin, out + byte);
    const auto row_patches =
        std::span(coloured).subspan(static_cast<size_t>(patch_row) * grid_cols, grid_cols);
    if (std::find(row_patches.begin(), row_patches.end(), 0) != row_patches.end()) {
      DimPatches(from, cols, row_patches, out);
    }
  }
}

}  // namespace attnmap
