#include "render/upsample.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace attnmap {
namespace {

int NumTaps(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::kNearest:
      return 1;
    case Interpolation::kLinear:
      return 2;
    case Interpolation::kCubic:
      return 4;
  }
  return 1;
}

// Weights of the taps around a fraction f of the way from one patch's value to
// the next. Keys 1981, a = -1/2: passes through the values, exact on parabolas.
std::array<double, 4> TapWeights(int num_taps, double f) {
  if (num_taps == 1) return {1, 0, 0, 0};
  if (num_taps == 2) return {1 - f, f, 0, 0};
  return {f * (-0.5 + f * (1 - 0.5 * f)), 1 + f * f * (-2.5 + 1.5 * f),
          f * (0.5 + f * (2 - 1.5 * f)), f * f * (-0.5 + 0.5 * f)};
}

// model_at(edge position in the picture) gives the position in the model's image.
template <typename ModelAt>
AxisTaps MakeTaps(int num_pixels, int num_patches, int patch_size, int num_taps, ModelAt model_at) {
  AxisTaps taps;
  const auto count = static_cast<size_t>(num_pixels);
  taps.num_taps = num_taps;
  taps.first.resize(count);
  taps.nearest.resize(count);
  taps.weights.resize(count * static_cast<size_t>(num_taps));
  taps.seen_begin = num_pixels;
  for (int x = 0; x < num_pixels; ++x) {
    const auto i = static_cast<size_t>(x);
    const double at = model_at(x + 0.5) / patch_size;
    const bool seen = at >= 0 && at < num_patches;
    taps.nearest[i] = seen ? static_cast<int>(std::floor(at)) : -1;
    if (seen) {
      taps.seen_begin = std::min(taps.seen_begin, x);
      taps.seen_end = x + 1;
    }
    const double inside = std::clamp(at, 0.0, static_cast<double>(num_patches));
    const double from =
        num_taps == 1 ? std::min(std::floor(inside), num_patches - 1.0) : std::floor(inside - 0.5);
    taps.first[i] = static_cast<int>(from) - (num_taps == 4 ? 1 : 0) + AxisTaps::kPad;
    const auto weights = TapWeights(num_taps, inside - 0.5 - from);
    for (int k = 0; k < num_taps; ++k) {
      taps.weights[static_cast<size_t>(k) * count + i] =
          static_cast<float>(weights[static_cast<size_t>(k)]);
    }
  }
  taps.seen_begin = std::min(taps.seen_begin, taps.seen_end);
  return taps;
}

}  // namespace

Upsampler::Upsampler(const ImageGeometry& geometry, const PatchGrid& grid,
                     std::span<const float> values, Interpolation interpolation)
    : rows_(MakeTaps(geometry.source.rows, grid.rows, grid.patch_size, NumTaps(interpolation),
                     [&](double row) { return geometry.ModelRow(row); })),
      cols_(MakeTaps(geometry.source.cols, grid.cols, grid.patch_size, NumTaps(interpolation),
                     [&](double col) { return geometry.ModelCol(col); })),
      padded_cols_(grid.cols + 2 * AxisTaps::kPad),
      line_(static_cast<size_t>(padded_cols_)) {
  for (int row = -AxisTaps::kPad; row < grid.rows + AxisTaps::kPad; ++row) {
    for (int col = -AxisTaps::kPad; col < grid.cols + AxisTaps::kPad; ++col) {
      const int index =
          grid.PatchIndex(std::clamp(row, 0, grid.rows - 1), std::clamp(col, 0, grid.cols - 1));
      padded_.push_back(values[static_cast<size_t>(index)]);
    }
  }
  for (int x = cols_.seen_begin; x < cols_.seen_end; ++x) {
    const int first = cols_.first[static_cast<size_t>(x)];
    if (runs_.empty() || runs_.back().first != first) runs_.push_back({x, x, first});
    runs_.back().end = x + 1;
  }
}

void Upsampler::Row(int y, std::span<float> out) {
  std::fill(line_.begin(), line_.end(), 0.0F);
  const auto at = static_cast<size_t>(y);
  for (int tap = 0; tap < rows_.num_taps; ++tap) {
    const float weight = rows_.tap_weights(tap)[at];
    const float* from =
        padded_.data() + static_cast<std::ptrdiff_t>(rows_.first[at] + tap) * padded_cols_;
    for (size_t col = 0; col < line_.size(); ++col) line_[col] += weight * from[col];
  }
  for (const Run& run : runs_) {
    const float* line = line_.data() + run.first;
    float* to = out.data();
    if (cols_.num_taps == 1) {
      std::fill(to + run.begin, to + run.end, line[0]);
    } else if (cols_.num_taps == 2) {
      const float *w0 = cols_.tap_weights(0), *w1 = cols_.tap_weights(1);
      for (int x = run.begin; x < run.end; ++x) to[x] = w0[x] * line[0] + w1[x] * line[1];
    } else {
      const float *w0 = cols_.tap_weights(0), *w1 = cols_.tap_weights(1);
      const float *w2 = cols_.tap_weights(2), *w3 = cols_.tap_weights(3);
      const float a = line[0], b = line[1], c = line[2], d = line[3];
      for (int x = run.begin; x < run.end; ++x) {
        to[x] = (w0[x] * a + w1[x] * b) + (w2[x] * c + w3[x] * d);
      }
    }
  }
}

}  // namespace attnmap
