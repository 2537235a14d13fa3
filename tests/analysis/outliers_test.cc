#include "attnmap/analysis/outliers.h"

#include <limits>

#include "attnmap/core/error.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("far above the median, worked by hand") {
  // Median 3, distances 2 1 0 1 97, MAD 1: the limit is 3 + 8.8956.
  CHECK(FarAboveMedian(std::vector<double>{1, 2, 3, 4, 100}) ==
        std::vector<uint8_t>{0, 0, 0, 0, 1});
  CHECK(FarAboveMedian(std::vector<double>{1, 2, 3, 4, 11.89}) ==
        std::vector<uint8_t>{0, 0, 0, 0, 0});
  CHECK(FarAboveMedian(std::vector<double>{1, 2, 3, 4, 11.9}) ==
        std::vector<uint8_t>{0, 0, 0, 0, 1});
  // Even count: median 2.5, distances 1.5 .5 .5 1.5 -> MAD 1.
  CHECK(FarAboveMedian(std::vector<double>{1, 2, 3, 11.5}) == std::vector<uint8_t>{0, 0, 0, 1});
  CHECK(FarAboveMedian(std::vector<double>{1, 2, 3, 11.2}) == std::vector<uint8_t>{0, 0, 0, 0});
  CHECK(FarAboveMedian({}).empty());
}

TEST_CASE("where most are equal, rounding makes no outlier, a large value does") {
  CHECK(FarAboveMedian(std::vector<double>{5, 5, 5, 5.000001, 5}) ==
        std::vector<uint8_t>{0, 0, 0, 0, 0});
  CHECK(FarAboveMedian(std::vector<double>{5, 5, 5, 50, 5}) == std::vector<uint8_t>{0, 0, 0, 1, 0});
}

TEST_CASE("outlier patches are those of large norm; prefix tokens do not count") {
  TokenLayout tokens;
  tokens.has_class_token = true;
  tokens.num_register_tokens = 1;
  Matrix hidden(2 + 5, 2);
  hidden.at(0, 0) = 900;  // the class token's norm is no patch's
  hidden.at(1, 1) = 800;
  const float norms[] = {5, 6, 60, 7, 5};
  for (int i = 0; i < 5; ++i) {
    hidden.at(2 + i, 0) = norms[i] * 0.6F;
    hidden.at(2 + i, 1) = norms[i] * -0.8F;
  }
  CHECK(OutlierPatches(hidden.view(), tokens) == std::vector<uint8_t>{0, 0, 1, 0, 0});
}

TEST_CASE("no patch, or numbers that are none, are refused") {
  TokenLayout tokens;
  tokens.has_class_token = true;
  Matrix hidden(1, 2);
  CHECK_THROWS_WITH(OutlierPatches(hidden.view(), tokens), Contains("hold no patch"));
  Matrix broken(3, 2);
  broken.at(2, 1) = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(OutlierPatches(broken.view(), tokens), Contains("norm of token 2"));
}

}  // namespace
}  // namespace attnmap
