#ifndef ATTNMAP_ANALYSIS_DISCARD_H_
#define ATTNMAP_ANALYSIS_DISCARD_H_

#include <cstdint>

#include "analysis/fused_rows.h"

namespace attnmap {

// Which entries of a matrix are its smallest: all below `threshold`, and of
// those equal to it the first `ties` in row-major order.
struct Smallest {
  float threshold = 0;
  int64_t ties = 0;
};

// Exactly the `count` smallest entries, whatever the size of the matrix: two
// passes of counting over the bits of its entries, none of which is negative.
// 0 <= count <= tokens * tokens.
Smallest FindSmallest(FusedRows& matrix, int64_t count, ThreadPool& pool);

// Entries of a row that equal the threshold.
int64_t CountTies(const float* row, int64_t cols, float threshold);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_DISCARD_H_
