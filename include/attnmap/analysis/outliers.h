#ifndef ATTNMAP_ANALYSIS_OUTLIERS_H_
#define ATTNMAP_ANALYSIS_OUTLIERS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "attnmap/core/patch_grid.h"
#include "attnmap/core/tensor.h"

namespace attnmap {

// Outlier tokens (Darcet et al. 2024, "Vision transformers need registers"):
// patch tokens of much larger norm than the rest, in which the model keeps
// what is not of that place, and on which attention gathers.
//
// hidden: (tokens, width), a block's output. 1 for each patch, in the grid's
// order, whose norm exceeds median + 6 * 1.4826 * MAD of the patches' norms
// (1.4826 MAD is the standard deviation of a normal distribution). Norms that
// differ from the median by rounding alone never count.
// Throws Error where `hidden` has no patch token or holds a number that is none.
std::vector<uint8_t> OutlierPatches(MatrixView hidden, const TokenLayout& tokens);

// How many of how many patches are outliers, over some layers.
struct OutlierCount {
  int64_t tokens = 0;
  int64_t patches = 0;
  int64_t layers = 0;
  void Add(const OutlierCount& other) {
    tokens += other.tokens;
    patches += other.patches;
    layers += other.layers;
  }
};
// Of one layer.
OutlierCount CountOutliers(std::span<const uint8_t> outliers);

// The middle value; of an even count the mean of the two in the middle, as
// numpy's. `values` holds at least one.
double Median(std::vector<double> values);

// The same rule on numbers.
std::vector<uint8_t> FarAboveMedian(std::span<const double> values);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_OUTLIERS_H_
