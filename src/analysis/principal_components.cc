#include "analysis/principal_components.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "analysis/dot.h"
#include "analysis/symmetric_eigen.h"

namespace attnmap {
namespace {

using Vector = std::vector<double>;

double InnerProduct(const Vector& a, const Vector& b) {
  return Dot(a.data(), b.data(), static_cast<int64_t>(a.size()));
}

void AddScaled(double factor, const double* x, Vector& to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += factor * x[i];
}

void Centre(Samples& samples) {
  const auto cols = static_cast<size_t>(samples.cols);
  Vector mean(cols);
  for (size_t i = 0; i < samples.values.size(); ++i) mean[i % cols] += samples.values[i];
  for (double& m : mean) m /= static_cast<double>(samples.rows);
  for (size_t i = 0; i < samples.values.size(); ++i) samples.values[i] -= mean[i % cols];
}

// The covariance (times the number of rows) as something that multiplies.
class Covariance {
 public:
  explicit Covariance(const Samples& centred) : x_(centred) {}

  size_t size() const { return static_cast<size_t>(x_.cols); }
  Vector Scores(const Vector& v) const {
    Vector scores;
    for (int64_t i = 0; i < x_.rows; ++i) scores.push_back(Dot(Row(i), v.data(), x_.cols));
    return scores;
  }
  Vector Times(const Vector& v) const {
    const Vector scores = Scores(v);
    Vector product(v.size());
    for (int64_t i = 0; i < x_.rows; ++i) {
      AddScaled(scores[static_cast<size_t>(i)], Row(i), product);
    }
    return product;
  }

 private:
  const double* Row(int64_t i) const { return x_.values.data() + i * x_.cols; }
  const Samples& x_;
};

// Directions in which the covariance is a small tridiagonal matrix.
class Lanczos {
 public:
  explicit Lanczos(const Covariance& covariance) : covariance_(covariance) {
    Restart(Vector(covariance.size()));
  }

  int size() const { return static_cast<int>(alpha_.size()); }
  // What the last direction leaves unexplained.
  double rest() const { return beta_.back(); }

  void Step() {
    const Vector& last = basis_[alpha_.size()];
    Vector next = covariance_.Times(last);
    alpha_.push_back(InnerProduct(next, last));
    scale_ = std::max(scale_, std::abs(alpha_.back()));
    Orthogonalise(next);
    const double length = std::sqrt(InnerProduct(next, next));
    constexpr double kNothing = 1e-14;
    if (length > kNothing * scale_) {
      beta_.push_back(length);
      for (double& v : next) v /= length;
      basis_.push_back(std::move(next));
    } else {  // what was spanned is closed: go on with what is left
      beta_.push_back(0);
      Restart(std::move(next));
    }
  }

  EigenSystem Solve() const {
    const int n = size();
    Vector matrix(static_cast<size_t>(n) * static_cast<size_t>(n));
    for (size_t i = 0; i < alpha_.size(); ++i) {
      const auto width = static_cast<size_t>(n);
      matrix[i * width + i] = alpha_[i];
      if (i + 1 == alpha_.size()) break;
      matrix[i * width + i + 1] = matrix[(i + 1) * width + i] = beta_[i];
    }
    return SymmetricEigen(std::move(matrix), n);
  }

  Vector Direction(const Vector& coefficients) const {
    Vector direction(covariance_.size());
    for (size_t i = 0; i < coefficients.size(); ++i) {
      AddScaled(coefficients[i], basis_[i].data(), direction);
    }
    const double length = std::sqrt(InnerProduct(direction, direction));
    for (double& v : direction) v /= length;
    return direction;
  }

 private:
  // Twice is enough for a double's precision.
  void Orthogonalise(Vector& v) const {
    for (int round = 0; round < 2; ++round) {
      for (const Vector& other : basis_) AddScaled(-InnerProduct(v, other), other.data(), v);
    }
  }

  // A new direction at random, always the same. Without one left the basis
  // gets a zero vector, which ends it.
  void Restart(Vector v) {
    if (basis_.size() < covariance_.size()) {
      for (double& value : v) value = static_cast<double>(random_()) / 4294967296.0 - 0.5;
      Orthogonalise(v);
      const double length = std::sqrt(InnerProduct(v, v));
      for (double& value : v) value /= length;
    }
    basis_.push_back(std::move(v));
  }

  const Covariance& covariance_;
  std::mt19937 random_{1};
  std::vector<Vector> basis_;
  Vector alpha_;
  Vector beta_;
  double scale_ = 0;
};

// The eigenvectors wanted, as exact as rounding allows, or after many steps.
EigenSystem LeadingVectors(const Covariance& covariance, int count) {
  constexpr int kMostSteps = 320;
  constexpr double kExact = 1e-12;
  const int most = std::min(static_cast<int>(covariance.size()), kMostSteps);
  Lanczos lanczos(covariance);
  for (int check = 20;; check *= 2) {
    while (lanczos.size() < std::min(check, most)) lanczos.Step();
    EigenSystem small = lanczos.Solve();
    bool exact = lanczos.rest() > 0;  // a closed span says nothing of what lies outside
    for (int i = 0; i < count && exact; ++i) {
      const double error = std::abs(lanczos.rest() * small.vectors[static_cast<size_t>(i)].back());
      exact = error <= kExact * small.values[0];
    }
    if (!exact && lanczos.size() < most) continue;
    small.values.resize(static_cast<size_t>(count));
    small.vectors.resize(static_cast<size_t>(count));
    for (Vector& vector : small.vectors) vector = lanczos.Direction(vector);
    return small;
  }
}

void FixSign(Vector& direction) {
  const auto largest = std::max_element(direction.begin(), direction.end(), [](double a, double b) {
    return std::abs(a) < std::abs(b);
  });
  if (*largest >= 0) return;
  for (double& loading : direction) loading = -loading;
}

}  // namespace

PrincipalComponents FindComponents(Samples samples, int count) {
  Centre(samples);
  const Covariance covariance(samples);
  const double whole = InnerProduct(samples.values, samples.values);
  EigenSystem leading = LeadingVectors(covariance, std::min(count, static_cast<int>(samples.cols)));
  PrincipalComponents components;
  for (size_t i = 0; i < leading.vectors.size(); ++i) {
    FixSign(leading.vectors[i]);
    components.scores.push_back(covariance.Scores(leading.vectors[i]));
    components.shares.push_back(whole > 0 ? std::max(leading.values[i], 0.0) / whole : 0);
    components.directions.push_back(std::move(leading.vectors[i]));
  }
  return components;
}

}  // namespace attnmap
