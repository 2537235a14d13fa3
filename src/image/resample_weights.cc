#include "image/resample_weights.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

namespace attnmap {
namespace {

using FilterFunction = double (*)(double);

struct FilterShape {
  double support;
  FilterFunction function;
};

double Box(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

double Bilinear(double x) {
  x = std::abs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

double Hamming(double x) {
  x = std::abs(x);
  if (x == 0.0) return 1.0;
  if (x >= 1.0) return 0.0;
  x *= std::numbers::pi;
  // Pillow writes the two constants in single precision; it shows in the last bit.
  return std::sin(x) / x * (0.54f + 0.46f * std::cos(x));
}

double Bicubic(double x) {
  constexpr double kA = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1.0;
  if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * kA;
  return 0.0;
}

double Sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double Lanczos(double x) { return x >= -3.0 && x < 3.0 ? Sinc(x) * Sinc(x / 3.0) : 0.0; }

FilterShape ShapeOf(Filter filter) {
  switch (filter) {
    case Filter::kBox:
      return {0.5, Box};
    case Filter::kBilinear:
      return {1.0, Bilinear};
    case Filter::kHamming:
      return {1.0, Hamming};
    case Filter::kBicubic:
      return {2.0, Bicubic};
    case Filter::kLanczos:
      return {3.0, Lanczos};
    case Filter::kNearest:
      break;
  }
  assert(false && "kNearest has no weights");
  return {0.5, Box};
}

// Where the outputs of an axis look. Everything in double, in Pillow's order
// of operations: the last bit of an argument can decide a rounding.
struct Axis {
  int in;
  double scale;
  double support;
  double inverse;

  Axis(int in_size, int out_size, double filter_support)
      : in(in_size), scale(static_cast<double>(in_size) / out_size) {
    const double filter_scale = std::max(scale, 1.0);
    support = filter_support * filter_scale;
    inverse = 1.0 / filter_scale;
  }
  double Center(int i) const { return (i + 0.5) * scale; }
  int First(int i) const { return std::max(static_cast<int>(Center(i) - support + 0.5), 0); }
  int Last(int i) const { return std::min(static_cast<int>(Center(i) + support + 0.5), in); }
};

template <typename T, typename Convert>
AxisWeights<T> BuildWeights(const AxisRange& range, Filter filter, Convert convert) {
  const FilterShape shape = ShapeOf(filter);
  const Axis axis(range.in, range.out, shape.support);
  AxisWeights<T> result;
  result.first.reserve(static_cast<size_t>(range.end - range.begin));
  result.offset.reserve(static_cast<size_t>(range.end - range.begin) + 1);
  result.offset.push_back(0);
  std::vector<double> weights;
  for (int i = range.begin; i < range.end; ++i) {
    const double center = axis.Center(i);
    const int first = axis.First(i);
    const int last = axis.Last(i);
    weights.clear();
    double sum = 0;
    for (int x = first; x < last; ++x) {
      weights.push_back(shape.function((x - center + 0.5) * axis.inverse));
      sum += weights.back();
    }
    for (double weight : weights) {
      result.values.push_back(convert(sum != 0.0 ? weight / sum : weight));
    }
    result.first.push_back(first);
    result.offset.push_back(result.values.size());
  }
  return result;
}

int32_t ToFixed(double weight) {
  const double scaled = weight * (1 << kWeightBits);
  return static_cast<int32_t>(weight < 0 ? scaled - 0.5 : scaled + 0.5);
}

// Sums of 255 times the weights must stay within 32 bits.
[[maybe_unused]] bool SumsFit(const AxisWeights<int32_t>& weights) {
  for (size_t i = 0; i < weights.first.size(); ++i) {
    int64_t sum = 0;
    for (int j = 0; j < weights.count(i); ++j) sum += std::abs(int64_t{weights.at(i)[j]});
    if (255 * sum + (1 << (kWeightBits - 1)) > std::numeric_limits<int32_t>::max()) return false;
  }
  return true;
}

}  // namespace

int MaxTaps(int in, int out, Filter filter) {
  const Axis axis(in, out, ShapeOf(filter).support);
  return static_cast<int>(std::min<double>(in, std::ceil(axis.support) * 2 + 1));
}

AxisWeights<int32_t> FixedWeights(const AxisRange& range, Filter filter) {
  auto weights = BuildWeights<int32_t>(range, filter, ToFixed);
  assert(SumsFit(weights));
  return weights;
}

AxisWeights<float> FloatWeights(const AxisRange& range, Filter filter) {
  return BuildWeights<float>(range, filter,
                             [](double weight) { return static_cast<float>(weight); });
}

std::pair<int, int> SourceSpan(const AxisRange& range, Filter filter) {
  const Axis axis(range.in, range.out, ShapeOf(filter).support);
  return {axis.First(range.begin), axis.Last(range.end - 1)};
}

}  // namespace attnmap
