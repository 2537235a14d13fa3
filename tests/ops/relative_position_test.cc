#include "attnmap/ops/relative_position.h"

#include <string>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/ops/grid_resize.h"
#include "support/catch.h"

namespace attnmap::ops {
namespace {

// (rows, 2): head 0 has the row's number, head 1 minus a hundred times it.
Matrix Numbered(int64_t rows) {
  Matrix table(rows, 2);
  for (int64_t i = 0; i < rows; ++i) {
    table.at(i, 0) = static_cast<float>(i);
    table.at(i, 1) = static_cast<float>(-100 * i);
  }
  return table;
}

TEST_CASE("the index matrix of a 2 x 2 grid behind a class token") {
  const int expected[5][5] = {
      {11, 9, 9, 9, 9}, {10, 4, 3, 1, 0}, {10, 5, 4, 2, 1}, {10, 7, 6, 4, 3}, {10, 8, 7, 5, 4}};
  const RowsCols grid = {2, 2};
  const RelativePositionBias bias(Numbered(12).view(), grid, 1);
  for (int64_t query = 0; query < 5; ++query) {
    std::vector<float> first(5);
    std::vector<float> second(5);
    bias.Row(0, query, first);
    bias.Row(1, query, second);
    for (int64_t key = 0; key < 5; ++key) {
      const auto k = static_cast<size_t>(key);
      CHECK(RelativePositionIndex(grid, 1, query, key) == expected[query][key]);
      CHECK(first[k] == static_cast<float>(expected[query][key]));
      CHECK(second[k] == static_cast<float>(-100 * expected[query][key]));
    }
  }
}

TEST_CASE("U-01 rows and columns are kept apart on a grid that is not square") {
  const RowsCols grid = {2, 3};
  const RelativePositionBias bias(Numbered(RelativePositionRows(grid)).view(), grid, 1);
  for (int64_t query = 0; query < 7; ++query) {
    std::vector<float> row(7);
    bias.Row(0, query, row);
    for (int64_t key = 0; key < 7; ++key) {
      CHECK(row[static_cast<size_t>(key)] ==
            static_cast<float>(RelativePositionIndex(grid, 1, query, key)));
    }
  }
}

TEST_CASE("a square table is brought to another grid by bilinear interpolation") {
  const Matrix table = Numbered(12);  // 2 x 2: offsets 3 x 3
  const RowsCols grid = {2, 3};
  const RelativePositionBias bias(table.view(), grid, 1);
  const Matrix offsets = ResizeGrid({table.data(), 9, 2, 2}, {3, 3}, {3, 5}, GridFilter::kBilinear);
  std::vector<float> row(7);
  bias.Row(1, 6, row);  // the last patch, row 1, column 2
  CHECK(row[0] == -1000.0F);
  for (int64_t key = 1; key < 7; ++key) {
    const int64_t index = RelativePositionIndex(grid, 1, 6, key);
    CHECK(row[static_cast<size_t>(key)] == Approx(offsets.at(index, 1)));
  }
}

TEST_CASE("a table that fits no grid is refused with both counts") {
  try {
    const RelativePositionBias bias(Numbered(13).view(), {2, 2}, 1);
    FAIL("no error");
  } catch (const Error& error) {
    const std::string message = error.what();
    CHECK(message.find("expected 12") != std::string::npos);
    CHECK(message.find("found 13") != std::string::npos);
  }
}

}  // namespace
}  // namespace attnmap::ops
