#include "attnmap/analysis/outliers.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

double Norm(const float* row, int64_t width) {
  double sum = 0;
  for (int64_t c = 0; c < width; ++c) sum += static_cast<double>(row[c]) * row[c];
  return std::sqrt(sum);
}

}  // namespace

OutlierCount CountOutliers(std::span<const uint8_t> outliers) {
  return {std::count(outliers.begin(), outliers.end(), 1), std::ssize(outliers), 1};
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

std::vector<uint8_t> FarAboveMedian(std::span<const double> values) {
  if (values.empty()) return {};
  constexpr double kDeviations = 6;
  constexpr double kDeviationOfMad = 1.4826;
  constexpr double kRounding = 1e-6;
  const double median = Median({values.begin(), values.end()});
  std::vector<double> distances;
  for (double value : values) distances.push_back(std::abs(value - median));
  const double far = std::max(kDeviations * kDeviationOfMad * Median(std::move(distances)),
                              kRounding * std::abs(median));
  std::vector<uint8_t> result;
  for (double value : values) result.push_back(value > median + far ? 1 : 0);
  return result;
}

std::vector<uint8_t> OutlierPatches(MatrixView hidden, const TokenLayout& tokens) {
  const int first = tokens.first_patch_token();
  if (hidden.rows <= first) {
    throw Error("outlier tokens: " + std::to_string(hidden.rows) + " tokens hold no patch, " +
                std::to_string(first) + " stand before the patches");
  }
  std::vector<double> norms;
  for (int64_t token = first; token < hidden.rows; ++token) {
    norms.push_back(Norm(hidden.row(token), hidden.cols));
    if (!std::isfinite(norms.back())) {
      throw Error("outlier tokens: the norm of token " + std::to_string(token) +
                  " is not a finite number");
    }
  }
  return FarAboveMedian(norms);
}

}  // namespace attnmap
