#include "attnmap/ops/softmax.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/support.h"

namespace attnmap::ops {
namespace {

using test::ForEachInstructionSet;
using test::RandomMatrix;

constexpr int64_t kRoom = 16;

// Rows of `cols` columns with room up to a multiple of 16.
struct Rows {
  Matrix storage;
  MutableMatrixView view;
  explicit Rows(const Matrix& values)
      : storage(values.rows(), (values.cols() + kRoom - 1) / kRoom * kRoom),
        view{storage.data(), values.rows(), values.cols(), storage.cols()} {
    for (int64_t i = 0; i < values.rows(); ++i) {
      for (int64_t j = 0; j < values.cols(); ++j) storage.at(i, j) = values.at(i, j);
    }
  }
};

std::vector<float> Softmax(std::vector<float> x) {
  const auto cols = static_cast<int64_t>(x.size());
  x.resize(kRoom);
  SoftmaxRows({x.data(), 1, cols, kRoom}, 1.0F, {});
  x.resize(static_cast<size_t>(cols));
  return x;
}

TEST_CASE("softmax has the worked values, large differences and large scores included") {
  ForEachInstructionSet([] {
    const auto plain = Softmax({2, 1, 0});
    CHECK(plain[0] == Approx(0.6652).margin(5e-5));
    CHECK(plain[1] == Approx(0.2447).margin(5e-5));
    CHECK(plain[2] == Approx(0.0900).margin(5e-5));
    const auto sharp = Softmax({20, 10, 0});
    CHECK(sharp[0] == Approx(0.99995).margin(1e-5));
    CHECK(sharp[1] == Approx(4.54e-5).epsilon(1e-3));
    CHECK(sharp[2] == Approx(2.06e-9).epsilon(1e-3));
    const auto large = Softmax({1e4F, 1e4F, -1e4F});
    CHECK(large[0] == 0.5F);
    CHECK(large[2] == 0.0F);
    CHECK(Softmax({-3e38F}) == std::vector<float>{1.0F});
  });
}

TEST_CASE("what is not a number is not hidden by softmax") {
  ForEachInstructionSet([] {
    for (size_t at = 0; at < 11; ++at) {
      std::vector<float> x(11, 0.5F);
      x[at] = std::nanf("");
      CHECK(std::isnan(Softmax(x)[at]));
    }
  });
}

TEST_CASE("softmax takes scales of either sign, and zero") {
  const Matrix x = RandomMatrix(1, 37, 1);
  for (const float scale : {-2.0F, 0.0F, 0.125F, 300.0F}) {
    ForEachInstructionSet([&] {
      Rows rows(x);
      SoftmaxRows(rows.view, scale, {});
      double largest = -1e30;
      for (const float v : x.values()) largest = std::max(largest, double{scale} * v);
      double total = 0;
      for (const float v : x.values()) total += std::exp(double{scale} * v - largest);
      for (int64_t j = 0; j < 37; ++j) {
        const double expected = std::exp(double{scale} * x.at(0, j) - largest) / total;
        REQUIRE(rows.storage.at(0, j) == Approx(expected).epsilon(2e-4).margin(1e-7));
      }
    });
  }
}

TEST_CASE("softmax scales, adds a bias, and each row sums to 1") {
  const int64_t cols = 197;
  const Matrix x = RandomMatrix(7, cols, 1);
  const Matrix bias = RandomMatrix(7, cols, 2);
  ForEachInstructionSet([&] {
    Rows rows(x);
    SoftmaxRows(rows.view, 3.0F, bias.view());
    for (int64_t i = 0; i < 7; ++i) {
      double total = 0;
      for (int64_t j = 0; j < cols; ++j) total += std::exp(3.0 * x.at(i, j) + bias.at(i, j));
      double sum = 0;
      for (int64_t j = 0; j < cols; ++j) {
        const double expected = std::exp(3.0 * x.at(i, j) + bias.at(i, j)) / total;
        REQUIRE(rows.storage.at(i, j) == Approx(expected).epsilon(2e-6).margin(1e-9));
        sum += rows.storage.at(i, j);
      }
      CHECK(sum == Approx(1.0).margin(1e-6));
    }
  });
}

TEST_CASE("columns in blocks come to the same as all at once") {
  const Matrix x = RandomMatrix(5, 60, 1);
  ForEachInstructionSet([&] {
    Rows whole(x);
    SoftmaxRows(whole.view, 4.0F, {});
    std::vector<RunningSoftmax> running(5);
    std::vector<float> rescale(5);
    Matrix kept(5, 60);  // the weights so far, not yet divided
    for (int64_t begin = 0; begin < 60; begin += 20) {
      Matrix block(5, 32);
      const MutableMatrixView view = {block.data(), 5, 20, 32};
      for (int64_t i = 0; i < 5; ++i) {
        for (int64_t j = 0; j < 20; ++j) block.at(i, j) = x.at(i, begin + j);
      }
      SoftmaxBlock(view, 4.0F, {}, running, rescale);
      ScaleRows(rescale, {kept.data(), 5, begin, 60});
      for (int64_t i = 0; i < 5; ++i) {
        for (int64_t j = 0; j < 20; ++j) kept.at(i, begin + j) = block.at(i, j);
      }
    }
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 60; ++j) {
        const float weight = kept.at(i, j) / running[static_cast<size_t>(i)].sum;
        REQUIRE(weight == Approx(whole.storage.at(i, j)).epsilon(2e-6).margin(1e-12));
      }
    }
  });
}

}  // namespace
}  // namespace attnmap::ops
