#ifndef ATTNMAP_ANALYSIS_SYMMETRIC_EIGEN_H_
#define ATTNMAP_ANALYSIS_SYMMETRIC_EIGEN_H_

#include <vector>

namespace attnmap {

struct EigenSystem {
  std::vector<double> values;                // falling
  std::vector<std::vector<double>> vectors;  // one each
};

// Of a small symmetric matrix (n, n), row-major, by Jacobi's rotations.
EigenSystem SymmetricEigen(std::vector<double> matrix, int n);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_SYMMETRIC_EIGEN_H_
