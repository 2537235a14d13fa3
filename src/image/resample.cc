#include "attnmap/image/resample.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "attnmap/core/error.h"
#include "image/resample_kernels.h"
#include "image/resample_weights.h"
#include "image/resample_window.h"

namespace attnmap {
namespace {

// Bounds on what one step of a pass keeps beside the pictures.
constexpr int kStripCols = 2048;  // source columns of a strip
constexpr int kWeightsAtOnce = 1 << 20;
// So few rows do not fill a strip well enough to be worth one.
constexpr int kRowsOneByOne = 2;

// Some pixels of a picture, which keep their own coordinates.
struct Pixels {
  const uint8_t* data;  // of the pixel (first_row, first_col)
  size_t stride;        // bytes
  int first_row;
  int first_col;

  const uint8_t* at(int y, int x) const {
    return data + static_cast<size_t>(y - first_row) * stride +
           static_cast<size_t>(x - first_col) * 3;
  }
};

Pixels View(const Image& image, int first_row = 0, int first_col = 0) {
  return {image.rgb.data(), static_cast<size_t>(image.cols) * 3, first_row, first_col};
}

// As many outputs from `begin` on as fit the bounds above; at least one.
AxisRange NextBatch(const AxisRange& all, int begin, int max_outputs) {
  AxisRange batch = all;
  batch.begin = begin;
  batch.end = begin + std::min(all.end - begin, std::max(1, max_outputs));
  return batch;
}

// A batch of output columns for all rows of `out`, whose row 0 is `first_row`
// of the source and whose column 0 is output `out_first`.
class HorizontalBatch {
 public:
  HorizontalBatch(const Pixels& in, const AxisRange& batch, Filter filter)
      : in_(in), weights_(FixedWeights(batch, filter)) {
    std::tie(first_, last_) = SourceSpan(batch, filter);
  }

  // Rows [y, y + num_rows) of the source, num_rows <= kStripRows; `out`: where
  // the first output of the first of them goes.
  void Run(int y, int num_rows, uint8_t* out, size_t out_stride) {
    if (num_rows <= kRowsOneByOne) {
      for (int r = 0; r < num_rows; ++r, out += out_stride) RunRow(y + r, out);
      return;
    }
    if (in_strip_.empty()) {
      in_strip_.resize(StripBytes(last_ - first_));
      out_strip_.resize(StripBytes(static_cast<int>(weights_.first.size())));
    }
    std::array<const uint8_t*, kStripRows> from;
    std::array<uint8_t*, kStripRows> to;
    for (int r = 0; r < kStripRows; ++r) {
      const int row = std::min(r, num_rows - 1);
      from[static_cast<size_t>(r)] = in_.at(y + row, first_);
      to[static_cast<size_t>(r)] = out + static_cast<size_t>(row) * out_stride;
    }
    RowsToStrip(from.data(), static_cast<size_t>(last_ - first_) * 3, in_strip_.data());
    ResampleStrip(in_strip_.data(), first_, weights_, out_strip_.data());
    StripToRows(out_strip_.data(), weights_.first.size() * 3, to.data(), num_rows);
  }

 private:
  // A row alone is a picture of one column that lies along the row.
  void RunRow(int y, uint8_t* out) {
    for (size_t i = 0; i < weights_.first.size(); ++i, out += 3) {
      ResampleRow({in_.at(y, weights_.first[i]), 3, weights_.at(i), weights_.count(i), out, 3});
    }
  }

  static size_t StripBytes(int cols) {
    return (static_cast<size_t>(cols) * 3 + 15) / 16 * 16 * kStripRows;
  }

  const Pixels in_;
  const AxisWeights<int32_t> weights_;
  int first_ = 0;  // source columns [first_, last_)
  int last_ = 0;
  std::vector<uint8_t> in_strip_;
  std::vector<uint8_t> out_strip_;
};

// Rows [first_row, first_row + num_rows) of `in`, resampled along the rows.
Image HorizontalPass(const Pixels& in, int first_row, int num_rows, const AxisRange& cols,
                     Filter filter) {
  Image out(num_rows, cols.end - cols.begin);
  const int taps = MaxTaps(cols.in, cols.out, filter);
  const double scale = static_cast<double>(cols.in) / cols.out;
  const int most = kWeightsAtOnce / taps;
  const int fitting =
      static_cast<int>(std::min((kStripCols - taps) / scale, static_cast<double>(most)));
  for (int begin = cols.begin; begin < cols.end;) {
    const AxisRange range = NextBatch(cols, begin, fitting);
    HorizontalBatch batch(in, range, filter);
    for (int y = 0; y < num_rows; y += kStripRows) {
      batch.Run(first_row + y, std::min(kStripRows, num_rows - y),
                out.row(y) + static_cast<size_t>(begin - cols.begin) * 3,
                static_cast<size_t>(out.cols) * 3);
    }
    begin = range.end;
  }
  return out;
}

// Columns [first_col, first_col + num_cols) of `in`, resampled down the columns.
Image VerticalPass(const Pixels& in, int first_col, int num_cols, const AxisRange& rows,
                   Filter filter) {
  Image out(rows.end - rows.begin, num_cols);
  const int fitting = kWeightsAtOnce / MaxTaps(rows.in, rows.out, filter);
  for (int begin = rows.begin; begin < rows.end;) {
    const AxisRange range = NextBatch(rows, begin, fitting);
    const AxisWeights<int32_t> weights = FixedWeights(range, filter);
    for (size_t i = 0; i < weights.first.size(); ++i) {
      ResampleRow({in.at(weights.first[i], first_col), in.stride, weights.at(i), weights.count(i),
                   out.row(begin - rows.begin + static_cast<int>(i)),
                   static_cast<size_t>(num_cols) * 3});
    }
    begin = range.end;
  }
  return out;
}

Image Cut(const Image& image, const PixelWindow& window) {
  Image out(window.size.rows, window.size.cols);
  const Pixels pixels = View(image);
  for (int y = 0; y < out.rows; ++y) {
    std::memcpy(out.row(y), pixels.at(window.top + y, window.left),
                static_cast<size_t>(out.cols) * 3);
  }
  return out;
}

// The source index of outputs [begin, end): the position is summed up, not
// multiplied, as Pillow does; on some sizes that is another pixel.
std::vector<int> NearestIndices(const AxisRange& range) {
  std::vector<int> indices;
  const double step = static_cast<double>(range.in) / range.out;
  double position = step * 0.5;
  for (int i = 0; i < range.end; ++i, position += step) {
    if (i >= range.begin) indices.push_back(std::min(static_cast<int>(position), range.in - 1));
  }
  return indices;
}

Image ResizeNearest(const Image& image, const AxisRange& rows, const AxisRange& cols) {
  Image out(rows.end - rows.begin, cols.end - cols.begin);
  const std::vector<int> from_rows = NearestIndices(rows);
  const std::vector<int> from_cols = NearestIndices(cols);
  for (int y = 0; y < out.rows; ++y) {
    const uint8_t* in = image.row(from_rows[static_cast<size_t>(y)]);
    uint8_t* to = out.row(y);
    for (int col : from_cols) {
      const uint8_t* pixel = in + static_cast<size_t>(col) * 3;
      *to++ = pixel[0];
      *to++ = pixel[1];
      *to++ = pixel[2];
    }
  }
  return out;
}

// Pillow 13 shrinks tall pictures vertically first; before, it never did.
bool VerticalFirst(const AxisRange& rows, const AxisRange& cols) {
  const int64_t fewer_rows = int64_t{rows.in} - rows.out;
  const int64_t fewer_cols = int64_t{cols.in} - cols.out;
  return fewer_rows > 0 && fewer_rows > 2 * fewer_cols;
}

Image TwoPasses(const Image& image, const AxisRange& rows, const AxisRange& cols, Filter filter) {
  if (VerticalFirst(rows, cols)) {
    const auto [first, last] = SourceSpan(cols, filter);
    const Image between = VerticalPass(View(image), first, last - first, rows, filter);
    return HorizontalPass(View(between, rows.begin, first), rows.begin, between.rows, cols, filter);
  }
  const auto [first, last] = SourceSpan(rows, filter);
  const Image between = HorizontalPass(View(image), first, last - first, cols, filter);
  return VerticalPass(View(between, first, cols.begin), cols.begin, between.cols, rows, filter);
}

}  // namespace

void CheckWindow(RowsCols in, RowsCols size, const PixelWindow& window) {
  const auto text = [](RowsCols s) {
    return std::to_string(s.rows) + " x " + std::to_string(s.cols);
  };
  if (in.rows < 1 || in.cols < 1 || size.rows < 1 || size.cols < 1) {
    throw Error("cannot resize a picture of " + text(in) + " pixels to " + text(size) +
                ": both need a row and a column at least");
  }
  const bool inside = window.top >= 0 && window.left >= 0 && window.size.rows >= 1 &&
                      window.size.cols >= 1 && window.size.rows <= size.rows - window.top &&
                      window.size.cols <= size.cols - window.left;
  if (!inside) {
    throw Error("a window of " + text(window.size) + " pixels at " +
                text({window.top, window.left}) + " does not lie within a picture of " +
                text(size));
  }
}

Image ResizeWindow(const Image& image, RowsCols size, Filter filter, const PixelWindow& window) {
  CheckWindow(image.size(), size, window);
  const AxisRange rows{image.rows, size.rows, window.top, window.top + window.size.rows};
  const AxisRange cols{image.cols, size.cols, window.left, window.left + window.size.cols};
  if (size == image.size()) return Cut(image, window);
  if (filter == Filter::kNearest) return ResizeNearest(image, rows, cols);
  if (rows.in == rows.out) {
    return HorizontalPass(View(image), rows.begin, rows.end - rows.begin, cols, filter);
  }
  if (cols.in == cols.out) {
    return VerticalPass(View(image), cols.begin, cols.end - cols.begin, rows, filter);
  }
  return TwoPasses(image, rows, cols, filter);
}

Image Resize(const Image& image, RowsCols size, Filter filter) {
  return ResizeWindow(image, size, filter, {0, 0, size});
}

}  // namespace attnmap
