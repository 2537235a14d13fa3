#ifndef ATTNMAP_OPS_ROTARY_H_
#define ATTNMAP_OPS_ROTARY_H_

#include <cstdint>
#include <span>
#include <vector>

#include "attnmap/core/patch_grid.h"

namespace attnmap::ops {

// Rotary position embedding: an angle for each patch and pair of channels, the
// same for every head. Row-major (patches, head_dim / 2).
struct RotaryTable {
  // Which channels make a pair.
  enum class Pairs {
    kHalf,         // m with m + head_dim / 2
    kInterleaved,  // 2m with 2m + 1
  };
  Pairs pairs = Pairs::kHalf;
  int64_t half = 0;  // head_dim / 2
  std::vector<float> cos;
  std::vector<float> sin;
};

// theta^(4k / head_dim), k < head_dim / 4.
std::vector<float> RotaryPeriods(float theta, int64_t head_dim);

// DINOv3: y = 2 (i + 0.5) / rows - 1, angles 2 pi y / period, then those of x;
// pairs kHalf. periods: (head_dim / 4).
RotaryTable CenteredRotary(RowsCols grid, std::span<const float> periods);

// EVA-02: positions scaled to a 16 x 16 grid, bands theta^(-4k / head_dim) (theta
// 10000), rows first; pairs kInterleaved. head_dim a multiple of 4.
RotaryTable ReferenceRotary(RowsCols grid, float theta, int64_t head_dim);

// Turns the channels of one token (heads * head_dim), in place, by the angles
// of patch `patch`.
void Rotate(const RotaryTable& table, int64_t patch, std::span<float> token);

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_ROTARY_H_
