#include "attnmap/ops/rotary.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "support/catch.h"

namespace attnmap::ops {
namespace {

constexpr RowsCols kGrid = {2, 3};
constexpr int64_t kPatch = 5;  // row 1, column 2

std::vector<float> OneToSixteen(int heads = 1) {
  std::vector<float> v;
  for (int i = 0; i < 16 * heads; ++i) v.push_back(static_cast<float>(i % 16 + 1));
  return v;
}

void CheckAll(const std::vector<float>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(5e-6));
}

TEST_CASE("DINOv3's rotation turns halves by centred angles, rows first") {
  const RotaryTable table = CenteredRotary(kGrid, RotaryPeriods(100.0F, 16));
  const double angles[] = {3.141593, .993459,  .314159, .099346,
                           4.188790, 1.324612, .418879, .132461};
  for (int m = 0; m < 8; ++m) {
    CHECK(table.cos[kPatch * 8 + m] == Approx(std::cos(angles[m])).margin(2e-6));
    CHECK(table.sin[kPatch * 8 + m] == Approx(std::sin(angles[m])).margin(2e-6));
  }
  std::vector<float> v = OneToSixteen();
  Rotate(table, kPatch, v);
  CheckAll(v,
           {-0.999999, -7.287599, -0.546017, 2.790087, 8.758326, -12.115658, 0.293769, 5.816732,
            -9.000000, 7.133787, 11.388673, 12.337562, -10.830130, 9.230972, 16.550339, 16.916431});
}

TEST_CASE("EVA-02's rotation turns neighbours, positions on a 16 x 16 grid") {
  std::vector<float> v = OneToSixteen();
  Rotate(ReferenceRotary(kGrid, 10000.0F, 16), kPatch, v);
  CheckAll(
      v, {-2.124217, .698358, -.779304, 4.938895, 4.504520, 6.380383, 6.935777, 8.055743, 6.556877,
          -11.747654, -5.193642, 15.428094, 11.435612, 15.304470, 14.828484, 16.159088});
}

TEST_CASE("every head of a token is turned alike, and lengths are kept") {
  const RotaryTable table = CenteredRotary(kGrid, RotaryPeriods(100.0F, 16));
  std::vector<float> one = OneToSixteen();
  std::vector<float> three = OneToSixteen(3);
  Rotate(table, kPatch, one);
  Rotate(table, kPatch, three);
  for (size_t i = 0; i < three.size(); ++i) CHECK(three[i] == one[i % 16]);
  const auto squares = [](const std::vector<float>& v) {
    return std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
  };
  CHECK(squares(one) == Approx(squares(OneToSixteen())).epsilon(1e-6));
}

TEST_CASE("the periods of a DINOv3 head of 64 channels") {
  const std::vector<float> periods = RotaryPeriods(100.0F, 64);
  REQUIRE(periods.size() == 16);
  CHECK(periods[1] == Approx(1.333521).margin(1e-6));
  CHECK(periods[15] == Approx(74.989418).margin(1e-5));
}

}  // namespace
}  // namespace attnmap::ops
