#include "attnmap/ops/grid_resize.h"

#include <vector>

#include "support/catch.h"

namespace attnmap::ops {
namespace {

// 5 x 5, value ((7 i + 3 j) mod 11) / 10.
Matrix Golden() {
  Matrix table(25, 1);
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 5; ++j) {
      table.at(i * 5 + j, 0) = static_cast<float>((7 * i + 3 * j) % 11) / 10.0F;
    }
  }
  return table;
}

constexpr RowsCols kFrom = {5, 5};

void CheckRow(const Matrix& found, int64_t begin, const std::vector<double>& expected) {
  for (size_t j = 0; j < expected.size(); ++j) {
    CHECK(found.at(begin + static_cast<int64_t>(j), 0) == Approx(expected[j]).margin(2e-6));
  }
}

TEST_CASE("position tables are enlarged as the reference libraries do") {
  struct Case {
    GridFilter filter;
    std::vector<double> first, last;
  };
  const Case cases[] = {
      {GridFilter::kBicubic,
       {-0.070857, 0.136156, 0.465209, 0.861898, 0.762260, -0.001664},
       {0.548210, 0.961023, 0.426409, 0.066834, 0.487740, 0.775405}},
      {GridFilter::kBicubicOffset,
       {-0.073168, 0.127317, 0.453917, 0.838339, 0.813796, 0.038252},
       {0.560383, 0.939020, 0.459270, 0.069322, 0.466521, 0.736755}},
      {GridFilter::kBicubicAntialias,
       {-0.051851, 0.167798, 0.472900, 0.811788, 0.752627, 0.027328},
       {0.563260, 0.919544, 0.416398, 0.115932, 0.477907, 0.754216}},
  };
  for (const Case& c : cases) {
    INFO("filter " << static_cast<int>(c.filter));
    const Matrix resized = ResizeGrid(Golden().view(), kFrom, {7, 6}, c.filter);
    REQUIRE(resized.rows() == 42);
    CheckRow(resized, 0, c.first);
    CheckRow(resized, 36, c.last);
  }
}

TEST_CASE("position tables are reduced as the reference libraries do") {
  struct Case {
    GridFilter filter;
    std::vector<double> all;
  };
  const Case cases[] = {
      {GridFilter::kBicubic, {.485952, .731590, .500391, .083594, .729593, .578566}},
      {GridFilter::kBicubicOffset, {.440456, .793746, .521884, .072882, .661077, .647404}},
      {GridFilter::kBicubicAntialias, {.463277, .556135, .605086, .436066, .582784, .431358}},
      {GridFilter::kBilinearAntialias, {.471429, .55, .583333, .444444, .578571, .45}},
  };
  for (const Case& c : cases) {
    INFO("filter " << static_cast<int>(c.filter));
    CheckRow(ResizeGrid(Golden().view(), kFrom, {3, 2}, c.filter), 0, c.all);
  }
}

TEST_CASE("corners stay on corners where they are aligned") {
  const Matrix table = Golden();
  const Matrix resized = ResizeGrid(table.view(), kFrom, {9, 13}, GridFilter::kBicubicCorners);
  CHECK(resized.at(0, 0) == Approx(table.at(0, 0)).margin(1e-6));
  CHECK(resized.at(12, 0) == Approx(table.at(4, 0)).margin(1e-6));
  CHECK(resized.at(8 * 13, 0) == Approx(table.at(20, 0)).margin(1e-6));
  CHECK(resized.at(8 * 13 + 12, 0) == Approx(table.at(24, 0)).margin(1e-6));
  // 9 = 2 * 5 - 1: every other row is an old one.
  CHECK(resized.at(2 * 13, 0) == Approx(table.at(5, 0)).margin(1e-6));
  // One row has no corners to align: the first is taken.
  const Matrix one = ResizeGrid(table.view(), kFrom, {1, 1}, GridFilter::kBicubicCorners);
  CHECK(one.at(0, 0) == Approx(table.at(0, 0)).margin(1e-6));
}

TEST_CASE("bilinear without antialias interpolates between the two neighbours") {
  Matrix table(2, 2);
  table.at(0, 0) = 0;
  table.at(1, 0) = 4;
  table.at(0, 1) = 1;
  table.at(1, 1) = 1;
  const Matrix resized = ResizeGrid(table.view(), {1, 2}, {2, 4}, GridFilter::kBilinear);
  const float expected[] = {0, 1, 3, 4};
  for (int row = 0; row < 2; ++row) {
    for (int col = 0; col < 4; ++col) {
      CHECK(resized.at(row * 4 + col, 0) == Approx(expected[col]).margin(1e-6));
      CHECK(resized.at(row * 4 + col, 1) == Approx(1).margin(1e-6));
    }
  }
}

TEST_CASE("the same grid leaves a table as it is, to the bit, with every filter") {
  const Matrix table = Golden();
  for (GridFilter filter :
       {GridFilter::kBicubicAntialias, GridFilter::kBicubic, GridFilter::kBicubicOffset,
        GridFilter::kBicubicCorners, GridFilter::kBilinear, GridFilter::kBilinearAntialias}) {
    CHECK(ResizeGrid(table.view(), kFrom, kFrom, filter).values() == table.values());
  }
}

}  // namespace
}  // namespace attnmap::ops
