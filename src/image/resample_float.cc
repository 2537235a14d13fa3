#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "attnmap/core/error.h"
#include "attnmap/image/resample.h"
#include "image/resample_kernels.h"
#include "image/resample_weights.h"
#include "image/resample_window.h"

namespace attnmap {
namespace {

constexpr size_t kFloatChannels = 3;
// Pixels lie side by side as R G B and one idle float, so that a pixel is a
// vector and nothing has to be shuffled.
constexpr size_t kLanes = 4;

// Writes source row y: kLanes floats a pixel.
using RowReader = std::function<void(int y, float* pixels)>;

// The same source rows or columns, weight 1: what no resize changes.
AxisWeights<float> Unchanged(const AxisRange& range) {
  AxisWeights<float> weights;
  weights.offset.push_back(0);
  for (int i = range.begin; i < range.end; ++i) {
    weights.first.push_back(i);
    weights.values.push_back(1.0F);
    weights.offset.push_back(weights.values.size());
  }
  return weights;
}

// No filter: the one source element that Pillow and torch's nearest-exact take.
AxisWeights<float> NearestWeights(const AxisRange& range) {
  AxisWeights<float> weights = Unchanged(range);
  for (size_t i = 0; i < weights.first.size(); ++i) {
    const double centre = (range.begin + static_cast<double>(i) + 0.5) * range.in / range.out;
    weights.first[i] = std::min(static_cast<int>(centre), range.in - 1);
  }
  return weights;
}

AxisWeights<float> WeightsOf(const AxisRange& range, Filter filter) {
  if (range.in == range.out) return Unchanged(range);
  if (filter == Filter::kNearest) return NearestWeights(range);
  return FloatWeights(range, filter);
}

// Output row i of the height pass. `between`: rows of `length` floats, the
// first of them being source row `first_row`.
void HeightPass(const std::vector<float>& between, int first_row, const AxisWeights<float>& weights,
                size_t i, std::vector<float>& out) {
  const size_t length = out.size();
  const float* from = between.data() + static_cast<size_t>(weights.first[i] - first_row) * length;
  std::fill(out.begin(), out.end(), 0.0F);
  for (int j = 0; j < weights.count(i); ++j, from += length) {
    const float weight = weights.at(i)[j];
    for (size_t x = 0; x < length; ++x) out[x] += weight * from[x];
  }
}

Tensor ResizeRows(RowsCols in, RowsCols size, Filter filter, const PixelWindow& window,
                  const RowReader& read) {
  CheckWindow(in, size, window);
  const auto across =
      WeightsOf({in.cols, size.cols, window.left, window.left + window.size.cols}, filter);
  const auto down =
      WeightsOf({in.rows, size.rows, window.top, window.top + window.size.rows}, filter);
  const int first_row = down.first.front();
  const int last_row = down.last(down.first.size() - 1);
  const auto cols = static_cast<size_t>(window.size.cols);
  const size_t in_stride = static_cast<size_t>(in.cols) * kLanes;
  const size_t stride = cols * kLanes;
  // Room for whole groups of rows; what the last one has too many is never read.
  const size_t groups = (static_cast<size_t>(last_row - first_row) + kFloatRows - 1) / kFloatRows;
  std::vector<float> source(kFloatRows * in_stride);
  std::vector<float> between(groups * kFloatRows * stride);
  for (size_t group = 0; group < groups; ++group) {
    const int y = first_row + static_cast<int>(group * kFloatRows);
    const int rows = std::min(static_cast<int>(kFloatRows), last_row - y);
    for (int r = 0; r < rows; ++r) read(y + r, source.data() + static_cast<size_t>(r) * in_stride);
    ResampleFloatRows(
        {source.data(), in_stride, between.data() + group * kFloatRows * stride, stride}, across);
  }
  Tensor out({static_cast<int64_t>(kFloatChannels), window.size.rows, window.size.cols});
  const size_t plane = out.values.size() / kFloatChannels;
  std::vector<float> row(stride);
  for (size_t y = 0; y < down.first.size(); ++y) {
    HeightPass(between, first_row, down, y, row);
    for (size_t i = 0; i < cols * kFloatChannels; ++i) {
      const size_t x = i / kFloatChannels;
      const size_t c = i % kFloatChannels;
      out.values[c * plane + y * cols + x] = row[x * kLanes + c];
    }
  }
  return out;
}

}  // namespace

Tensor ResizeFloat(const Tensor& chw, RowsCols size, Filter filter) {
  if (chw.shape.size() != 3 || chw.shape[0] != static_cast<int64_t>(kFloatChannels) ||
      chw.shape[1] > std::numeric_limits<int>::max() ||
      chw.shape[2] > std::numeric_limits<int>::max() ||
      NumElements(chw.shape) != static_cast<int64_t>(chw.values.size())) {
    throw Error("cannot resize an array of " + ToString(chw.shape) +
                " as a picture: expected 3 x rows x cols");
  }
  const RowsCols in{static_cast<int>(chw.shape[1]), static_cast<int>(chw.shape[2])};
  const auto cols = static_cast<size_t>(in.cols);
  const size_t plane = cols * static_cast<size_t>(in.rows);
  const auto read = [&](int y, float* pixels) {
    const float* from = chw.values.data() + static_cast<size_t>(y) * cols;
    for (size_t x = 0; x < cols; ++x) {
      for (size_t c = 0; c < kFloatChannels; ++c) pixels[x * kLanes + c] = from[c * plane + x];
    }
  };
  return ResizeRows(in, size, filter, {0, 0, size}, read);
}

Tensor ResizeFloatWindow(const Image& image, double rescale, RowsCols size, Filter filter,
                         const PixelWindow& window) {
  std::array<float, 256> scaled;
  for (size_t v = 0; v < scaled.size(); ++v) {
    scaled[v] = static_cast<float>(static_cast<double>(v) * rescale);
  }
  const auto read = [&](int y, float* pixels) {
    const uint8_t* from = image.row(y);
    for (int x = 0; x < image.cols; ++x, from += kFloatChannels, pixels += kLanes) {
      for (size_t c = 0; c < kFloatChannels; ++c) pixels[c] = scaled[from[c]];
    }
  };
  return ResizeRows(image.size(), size, filter, window, read);
}

}  // namespace attnmap
