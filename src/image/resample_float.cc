#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "attnmap/core/error.h"
#include "attnmap/image/resample.h"
#include "image/resample_weights.h"
#include "image/resample_window.h"

namespace attnmap {
namespace {

constexpr size_t kChannels = 3;

// Source row y of all channels; valid until the next call.
using Row = std::array<const float*, kChannels>;
using RowReader = std::function<Row(int y)>;

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

void WidthPass(const float* in, const AxisWeights<float>& weights, float* out) {
  for (size_t i = 0; i < weights.first.size(); ++i) {
    const float* from = in + weights.first[i];
    const float* weight = weights.at(i);
    const int count = weights.count(i);
    float sum = 0;
    for (int j = 0; j < count; ++j) sum += weight[j] * from[j];
    out[i] = sum;
  }
}

// `between`: (rows, cols) of one channel, row 0 being source row `first_row`.
void HeightPass(const float* between, int first_row, size_t cols, const AxisWeights<float>& weights,
                float* out) {
  for (size_t i = 0; i < weights.first.size(); ++i, out += cols) {
    const float* from = between + static_cast<size_t>(weights.first[i] - first_row) * cols;
    for (int j = 0; j < weights.count(i); ++j, from += cols) {
      const float weight = weights.at(i)[j];
      for (size_t x = 0; x < cols; ++x) out[x] += weight * from[x];
    }
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
  const size_t cols = static_cast<size_t>(window.size.cols);
  const size_t plane = static_cast<size_t>(last_row - first_row) * cols;
  std::vector<float> between(kChannels * plane);
  for (int y = first_row; y < last_row; ++y) {
    const Row row = read(y);
    for (size_t c = 0; c < kChannels; ++c) {
      WidthPass(row[c], across,
                between.data() + c * plane + static_cast<size_t>(y - first_row) * cols);
    }
  }
  Tensor out({static_cast<int64_t>(kChannels), window.size.rows, window.size.cols});
  for (size_t c = 0; c < kChannels; ++c) {
    HeightPass(between.data() + c * plane, first_row, cols, down,
               out.values.data() + c * static_cast<size_t>(window.size.rows) * cols);
  }
  return out;
}

}  // namespace

Tensor ResizeFloat(const Tensor& chw, RowsCols size, Filter filter) {
  if (chw.shape.size() != 3 || chw.shape[0] != static_cast<int64_t>(kChannels) ||
      chw.shape[1] > std::numeric_limits<int>::max() ||
      chw.shape[2] > std::numeric_limits<int>::max()) {
    throw Error("cannot resize an array of " + ToString(chw.shape) +
                " as a picture: expected 3 x rows x cols");
  }
  const RowsCols in{static_cast<int>(chw.shape[1]), static_cast<int>(chw.shape[2])};
  const auto read = [&](int y) {
    Row row;
    for (size_t c = 0; c < kChannels; ++c) {
      row[c] = chw.values.data() + (c * static_cast<size_t>(in.rows) + static_cast<size_t>(y)) *
                                       static_cast<size_t>(in.cols);
    }
    return row;
  };
  return ResizeRows(in, size, filter, {0, 0, size}, read);
}

Tensor ResizeFloatWindow(const Image& image, double rescale, RowsCols size, Filter filter,
                         const PixelWindow& window) {
  std::array<float, 256> scaled;
  for (size_t v = 0; v < scaled.size(); ++v) {
    scaled[v] = static_cast<float>(static_cast<double>(v) * rescale);
  }
  const size_t cols = static_cast<size_t>(image.cols);
  std::vector<float> planes(kChannels * cols);
  const auto read = [&](int y) {
    const uint8_t* from = image.row(y);
    for (size_t x = 0; x < cols; ++x) {
      for (size_t c = 0; c < kChannels; ++c) planes[c * cols + x] = scaled[*from++];
    }
    return Row{planes.data(), planes.data() + cols, planes.data() + 2 * cols};
  };
  return ResizeRows(image.size(), size, filter, window, read);
}

}  // namespace attnmap
