#ifndef ATTNMAP_ANALYSIS_ROW_STATISTICS_H_
#define ATTNMAP_ANALYSIS_ROW_STATISTICS_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "attnmap/core/patch_grid.h"

namespace attnmap {

// How far from each patch every other lies, in pixels of the prepared image.
class PatchDistances {
 public:
  explicit PatchDistances(const PatchGrid& grid);

  // sum over j of weights[j] * |pos(patch) - pos(j)|. weights: (patches).
  double WeightedSum(int patch, std::span<const float> weights) const;
  double largest() const;

 private:
  PatchGrid grid_;
  // (rows, 2 cols - 1): by rows apart, then by columns apart from 1 - cols to
  // cols - 1, so that a row of patches meets neighbouring numbers.
  std::vector<double> pixels_;
};

// Finds how few weights hold a share of their sum, without sorting them all.
class Concentration {
 public:
  // weights: >= 0; kept as a view until the next call.
  void Look(std::span<const float> weights);
  // The least number of weights that hold `share` of the sum, 0 where the sum is 0.
  int64_t CountHolding(double share);

 private:
  // Neighbouring floats share their leading bits: sign, exponent and three of
  // the mantissa. Weights are at most 1 and a rounding, below 2.
  static constexpr int kDroppedBits = 20;
  static constexpr size_t kBuckets = (uint32_t{0x40000000} >> kDroppedBits) + 1;
  static size_t BucketOf(float weight);

  struct Bucket {
    int64_t count = 0;
    double sum = 0;
  };
  std::span<const float> weights_;
  std::array<Bucket, kBuckets> buckets_;
  double total_ = 0;
  std::vector<float> sorted_;  // the weights of one bucket
};

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_ROW_STATISTICS_H_
