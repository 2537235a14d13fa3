#include "attnmap/ops/normalize.h"

#include <cmath>
#include <vector>

#include "ops/support.h"

namespace attnmap::ops {
namespace {

using test::ForEachInstructionSet;
using test::RandomMatrix;

void CheckRow(const std::vector<float>& x, float eps, const std::vector<double>& expected) {
  const auto cols = static_cast<int64_t>(x.size());
  Matrix out(1, cols);
  LayerNorm({x.data(), 1, cols, cols}, nullptr, nullptr, eps, out.view());
  for (int64_t j = 0; j < cols; ++j) {
    CHECK(out.at(0, j) == Approx(expected[static_cast<size_t>(j)]).margin(5e-5));
  }
}

TEST_CASE("layer norm has the worked values, and eps matters where activations are small") {
  ForEachInstructionSet([] {
    const std::vector<double> plain = {-1.0258, -0.6528, 0.0933, 1.5853};
    CheckRow({1, 2, 4, 8}, 1e-6F, plain);
    CheckRow({1e-3F, 2e-3F, 4e-3F, 8e-3F}, 1e-5F, {-0.6633, -0.4221, 0.0603, 1.0251});
    CheckRow({1e-3F, 2e-3F, 4e-3F, 8e-3F}, 1e-12F, plain);
  });
}

TEST_CASE("layer norm agrees with double precision, in place, at odd widths") {
  for (int64_t cols : {1, 3, 16, 31, 33, 768}) {
    Matrix x = RandomMatrix(4, cols, 1);
    for (float& v : x.values()) v += 10;  // a mean well away from zero
    const Matrix weight = RandomMatrix(1, cols, 2);
    const Matrix bias = RandomMatrix(1, cols, 3);
    ForEachInstructionSet([&] {
      Matrix out = x;
      LayerNorm(out.view(), weight.data(), bias.data(), 1e-6F, out.view());
      for (int64_t i = 0; i < 4; ++i) {
        double mean = 0;
        double variance = 0;
        for (int64_t j = 0; j < cols; ++j) mean += x.at(i, j) / static_cast<double>(cols);
        for (int64_t j = 0; j < cols; ++j) {
          variance += std::pow(x.at(i, j) - mean, 2) / static_cast<double>(cols);
        }
        for (int64_t j = 0; j < cols; ++j) {
          const double expected =
              (x.at(i, j) - mean) / std::sqrt(variance + 1e-6) * weight.at(0, j) + bias.at(0, j);
          REQUIRE(out.at(i, j) == Approx(expected).margin(2e-5));
        }
      }
    });
  }
}

}  // namespace
}  // namespace attnmap::ops
