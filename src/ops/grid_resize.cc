#include "attnmap/ops/grid_resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace attnmap::ops {
namespace {

// What one place of the new axis takes from the old one.
struct Taps {
  std::vector<int> index;
  std::vector<float> weight;
};

// Keys' cubic; `a` is its slope at 1.
double Cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

double Triangle(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

// torch's interpolate(antialias=True): the support grows with the ratio when
// shrinking, taps outside are dropped and the rest renormalised.
Taps AntialiasTaps(int at, int in, int out, bool cubic) {
  const double ratio = static_cast<double>(in) / out;
  const double stretch = std::max(ratio, 1.0);
  const double support = (cubic ? 2.0 : 1.0) * stretch;
  const double center = ratio * (at + 0.5);
  const int begin = std::max(static_cast<int>(center - support + 0.5), 0);
  const int end = std::min(static_cast<int>(center + support + 0.5), in);
  std::vector<double> weights;
  double total = 0;
  for (int i = begin; i < end; ++i) {
    const double x = (i - center + 0.5) / stretch;
    weights.push_back(cubic ? Cubic(x, -0.5) : Triangle(x));
    total += weights.back();
  }
  Taps taps;
  for (int i = begin; i < end; ++i) {
    taps.index.push_back(i);
    taps.weight.push_back(static_cast<float>(weights[static_cast<size_t>(i - begin)] / total));
  }
  return taps;
}

// Where a place of the new axis lies on the old one.
double SourcePosition(int at, int in, int out, GridFilter filter) {
  if (filter == GridFilter::kBicubicCorners) {
    return out > 1 ? at * (in - 1.0) / (out - 1.0) : 0.0;
  }
  const double goal = filter == GridFilter::kBicubicOffset ? out + 0.1 : out;
  return in / goal * (at + 0.5) - 0.5;
}

// Four or two taps, indices clamped to the axis.
Taps PointTaps(int at, int in, int out, GridFilter filter) {
  const bool cubic = filter != GridFilter::kBilinear;
  double source = SourcePosition(at, in, out, filter);
  if (!cubic) source = std::max(source, 0.0);
  const double floor = std::floor(source);
  const double t = source - floor;
  Taps taps;
  for (int k = cubic ? -1 : 0; k <= (cubic ? 2 : 1); ++k) {
    taps.index.push_back(std::clamp(static_cast<int>(floor) + k, 0, in - 1));
    taps.weight.push_back(static_cast<float>(cubic ? Cubic(t - k, -0.75) : Triangle(t - k)));
  }
  return taps;
}

std::vector<Taps> AxisTaps(int in, int out, GridFilter filter) {
  std::vector<Taps> axis;
  for (int at = 0; at < out; ++at) {
    const bool antialias =
        filter == GridFilter::kBicubicAntialias || filter == GridFilter::kBilinearAntialias;
    axis.push_back(antialias ? AntialiasTaps(at, in, out, filter == GridFilter::kBicubicAntialias)
                             : PointTaps(at, in, out, filter));
  }
  return axis;
}

// to += the taps' rows of `from`, `step` rows apart, beginning at `first`.
void AddTaps(const Taps& taps, MatrixView from, int64_t first, int64_t step, float* to) {
  for (size_t k = 0; k < taps.index.size(); ++k) {
    const float* row = from.row(first + taps.index[k] * step);
    for (int64_t c = 0; c < from.cols; ++c) to[c] += taps.weight[k] * row[c];
  }
}

}  // namespace

Matrix ResizeGrid(MatrixView table, RowsCols from, RowsCols to, GridFilter filter) {
  Matrix result(static_cast<int64_t>(to.rows) * to.cols, table.cols);
  if (from == to) {
    for (int64_t i = 0; i < table.rows; ++i) {
      std::copy_n(table.row(i), table.cols, result.view().row(i));
    }
    return result;
  }
  const std::vector<Taps> across = AxisTaps(from.cols, to.cols, filter);
  const std::vector<Taps> down = AxisTaps(from.rows, to.rows, filter);
  Matrix wide(static_cast<int64_t>(from.rows) * to.cols, table.cols);
  for (int64_t row = 0; row < from.rows; ++row) {
    for (int64_t col = 0; col < to.cols; ++col) {
      AddTaps(across[static_cast<size_t>(col)], table, row * from.cols, 1,
              wide.view().row(row * to.cols + col));
    }
  }
  for (int64_t row = 0; row < to.rows; ++row) {
    for (int64_t col = 0; col < to.cols; ++col) {
      AddTaps(down[static_cast<size_t>(row)], wide.view(), col, to.cols,
              result.view().row(row * to.cols + col));
    }
  }
  return result;
}

}  // namespace attnmap::ops
