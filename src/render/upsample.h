#ifndef ATTNMAP_RENDER_UPSAMPLE_H_
#define ATTNMAP_RENDER_UPSAMPLE_H_

#include <span>
#include <vector>

#include "attnmap/core/image_geometry.h"
#include "attnmap/render/picture.h"

namespace attnmap {

// From which patches, and how much of each, one row (or column) of picture
// pixels is made; the pixel's centre decides. Patches lie on half-way
// positions: patch i covers [i, i + 1), its value stands at i + 1/2.
struct AxisTaps {
  static constexpr int kPad = 2;  // patches repeated before the first and after the last

  int num_taps = 1;            // 1 nearest, 2 linear, 4 cubic (Keys, a = -1/2)
  std::vector<int> first;      // (pixels): first tap, counted in the padded grid
  std::vector<float> weights;  // (num_taps, pixels)
  std::vector<int> nearest;    // (pixels): the patch under the centre, -1: not seen
  int seen_begin = 0;          // the pixels the model saw
  int seen_end = 0;

  int num_pixels() const { return static_cast<int>(first.size()); }
  const float* tap_weights(int tap) const {
    return weights.data() + static_cast<size_t>(tap) * first.size();
  }
};

// Makes floats of picture size out of patch values, a row at a time. The
// picture is geometry.source.
class Upsampler {
 public:
  // values: (grid.num_patches()).
  Upsampler(const ImageGeometry& geometry, const PatchGrid& grid, std::span<const float> values,
            Interpolation interpolation);

  const AxisTaps& rows() const { return rows_; }
  const AxisTaps& cols() const { return cols_; }
  // Fills out[seen_begin, seen_end) of the columns. out: (picture cols).
  void Row(int y, std::span<float> out);

 private:
  // Pixels with the same taps stand together; their patch values are constant.
  struct Run {
    int begin = 0;
    int end = 0;
    int first = 0;
  };

  AxisTaps rows_;
  AxisTaps cols_;
  std::vector<Run> runs_;
  int padded_cols_ = 0;
  std::vector<float> padded_;  // (grid rows + 2 kPad, grid cols + 2 kPad)
  std::vector<float> line_;    // one row between patch rows
};

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_UPSAMPLE_H_
