#ifndef ATTNMAP_ANALYSIS_PRINCIPAL_COMPONENTS_H_
#define ATTNMAP_ANALYSIS_PRINCIPAL_COMPONENTS_H_

#include <cstdint>
#include <vector>

namespace attnmap {

// Rows of numbers, row-major.
struct Samples {
  int64_t rows = 0;
  int64_t cols = 0;
  std::vector<double> values;
};

struct PrincipalComponents {
  // Of unit length, falling by variance; the loading of largest magnitude is
  // positive (of equal ones the first decides).
  std::vector<std::vector<double>> directions;  // (components, cols)
  std::vector<std::vector<double>> scores;      // (components, rows)
  std::vector<double> shares;                   // of the whole variance; 0 where there is none
};

// The first components of the samples, fewer where there are fewer columns.
// (Lanczos's method on the covariance, all directions kept orthogonal, until
// the directions are as exact as a double has them.) REQUIRES: rows >= 1.
PrincipalComponents FindComponents(Samples samples, int count);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_PRINCIPAL_COMPONENTS_H_
