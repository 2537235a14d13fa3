#ifndef ATTNMAP_IMAGE_RESAMPLE_KERNELS_H_
#define ATTNMAP_IMAGE_RESAMPLE_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "image/resample_weights.h"

namespace attnmap {

// Rows that the horizontal pass works on side by side.
inline constexpr int kStripRows = 16;

// One output row: out[x] = clip((sum_j weights[j] * in[j * stride + x]) >> 22)
// for x in [0, num_bytes), j in [0, num_taps).
struct VerticalRow {
  const uint8_t* in;
  size_t stride;
  const int32_t* weights;
  int num_taps;
  uint8_t* out;
  size_t num_bytes;
};
void ResampleRow(const VerticalRow& row);

// kStripRows rows of R G B at once, given and handed back byte by byte with
// the rows side by side: strip[(x * 3 + channel) * kStripRows + row]. Column 0
// of `in` is the source's `first_col`; `out` gets the outputs of `weights`.
void ResampleStrip(const uint8_t* in, int first_col, const AxisWeights<int32_t>& weights,
                   uint8_t* out);

// Rows of pixels of four floats each, kFloatRows at once so that their sums,
// each taken one tap after the other, do not wait for themselves.
inline constexpr size_t kFloatRows = 4;
struct FloatRows {
  const float* in;
  size_t in_stride;  // floats from one row to the next
  float* out;        // four floats for each output of the weights
  size_t out_stride;
};
void ResampleFloatRows(const FloatRows& rows, const AxisWeights<float>& weights);

// rows[r][b] -> strip[b * kStripRows + r] for b in [0, num_bytes), and back.
// The strip has room for num_bytes rounded up to 16.
void RowsToStrip(const uint8_t* const* rows, size_t num_bytes, uint8_t* strip);
void StripToRows(const uint8_t* strip, size_t num_bytes, uint8_t* const* rows, int num_rows);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_RESAMPLE_KERNELS_H_
