#include "analysis/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attnmap {
namespace {

// The matrix on its way to a diagonal, and the rotations so far, a row each.
struct Rotating {
  int n;
  std::vector<double> a;
  std::vector<double> v;

  double& A(int i, int j) {
    return a[static_cast<size_t>(i) * static_cast<size_t>(n) + static_cast<size_t>(j)];
  }
  double& V(int i, int j) {
    return v[static_cast<size_t>(i) * static_cast<size_t>(n) + static_cast<size_t>(j)];
  }

  double OffDiagonal() {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) sum += 2 * A(i, j) * A(i, j);
    }
    return sum;
  }

  // Makes the entry (p, q) zero.
  void Rotate(int p, int q) {
    if (A(p, q) == 0) return;
    const double theta = (A(q, q) - A(p, p)) / (2 * A(p, q));
    const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
    const double c = 1 / std::hypot(t, 1.0);
    const double s = t * c;
    for (int k = 0; k < n; ++k) {
      const double kp = A(k, p), kq = A(k, q);
      A(k, p) = c * kp - s * kq;
      A(k, q) = s * kp + c * kq;
    }
    for (int k = 0; k < n; ++k) {
      const double pk = A(p, k), qk = A(q, k);
      A(p, k) = c * pk - s * qk;
      A(q, k) = s * pk + c * qk;
      const double vp = V(p, k), vq = V(q, k);
      V(p, k) = c * vp - s * vq;
      V(q, k) = s * vp + c * vq;
    }
  }
};

}  // namespace

EigenSystem SymmetricEigen(std::vector<double> matrix, int n) {
  constexpr int kMostSweeps = 60;  // each squares the error: a dozen are enough
  Rotating work{n, std::move(matrix), std::vector<double>(static_cast<size_t>(n) * n)};
  for (int i = 0; i < n; ++i) work.V(i, i) = 1;
  double whole = 0;
  for (double entry : work.a) whole += entry * entry;
  for (int sweep = 0; sweep < kMostSweeps && work.OffDiagonal() > 1e-32 * whole; ++sweep) {
    for (int p = 0; p < n; ++p) {
      for (int q = p + 1; q < n; ++q) work.Rotate(p, q);
    }
  }
  std::vector<int> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int i, int j) { return work.A(i, i) > work.A(j, j); });
  EigenSystem system;
  for (int i : order) {
    system.values.push_back(work.A(i, i));
    system.vectors.emplace_back(&work.V(i, 0), &work.V(i, 0) + n);
  }
  return system;
}

}  // namespace attnmap
