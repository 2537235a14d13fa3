#include "analysis/row_statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace attnmap {

PatchDistances::PatchDistances(const PatchGrid& grid) : grid_(grid) {
  for (int rows_apart = 0; rows_apart < grid.rows; ++rows_apart) {
    for (int cols_apart = 1 - grid.cols; cols_apart < grid.cols; ++cols_apart) {
      pixels_.push_back(grid.patch_size * std::hypot(rows_apart, cols_apart));
    }
  }
}

double PatchDistances::WeightedSum(int patch, std::span<const float> weights) const {
  const RowsCols at = grid_.PatchAt(patch);
  const int line = 2 * grid_.cols - 1;
  double sum = 0;
  for (int row = 0; row < grid_.rows; ++row) {
    const float* weight = weights.data() + grid_.PatchIndex(row, 0);
    const double* pixels = pixels_.data() + static_cast<int64_t>(std::abs(row - at.rows)) * line +
                           (grid_.cols - 1 - at.cols);
    // Four sums at once; their order is fixed.
    std::array<double, 4> sums{};
    int col = 0;
    for (; col + 4 <= grid_.cols; col += 4) {
      for (size_t i = 0; i < 4; ++i) {
        const size_t at_col = static_cast<size_t>(col) + i;
        sums[i] += static_cast<double>(weight[at_col]) * pixels[at_col];
      }
    }
    for (; col < grid_.cols; ++col) sums[0] += static_cast<double>(weight[col]) * pixels[col];
    sum += (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  return sum;
}

double PatchDistances::largest() const { return pixels_.empty() ? 0 : pixels_.back(); }

size_t Concentration::BucketOf(float weight) {
  const auto bits = std::bit_cast<uint32_t>(weight);
  return std::min<size_t>(bits >> kDroppedBits, kBuckets - 1);
}

void Concentration::Look(std::span<const float> weights) {
  weights_ = weights;
  buckets_.fill({});
  for (float weight : weights) {
    Bucket& bucket = buckets_[BucketOf(weight)];
    ++bucket.count;
    bucket.sum += static_cast<double>(weight);
  }
  total_ = 0;
  for (size_t b = kBuckets; b-- > 0;) total_ += buckets_[b].sum;
}

int64_t Concentration::CountHolding(double share) {
  if (!(total_ > 0)) return 0;
  // Nine of ten equal weights hold nine tenths, whatever 0.9 rounds to.
  constexpr double kRounding = 1e-12;
  const double wanted = share * total_ * (1 - kRounding);
  int64_t count = 0;
  double held = 0;
  size_t b = kBuckets - 1;
  for (; b > 0 && held + buckets_[b].sum < wanted; --b) {
    held += buckets_[b].sum;
    count += buckets_[b].count;
  }
  sorted_.clear();
  for (float weight : weights_) {
    if (BucketOf(weight) == b) sorted_.push_back(weight);
  }
  std::sort(sorted_.begin(), sorted_.end(), std::greater<>());
  for (float weight : sorted_) {
    if (held >= wanted) break;
    held += static_cast<double>(weight);
    ++count;
  }
  return count;
}

}  // namespace attnmap
