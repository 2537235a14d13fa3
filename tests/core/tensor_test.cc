#include "attnmap/core/tensor.h"

#include <numeric>

#include "attnmap/core/error.h"
#include "support/catch.h"

namespace attnmap {
namespace {

Tensor Counting(Shape shape) {
  Tensor tensor(std::move(shape));
  std::iota(tensor.values.begin(), tensor.values.end(), 0.0F);
  return tensor;
}

}  // namespace

TEST_CASE("NumElements multiplies, a scalar counting as one") {
  CHECK(NumElements({}) == 1);
  CHECK(NumElements({7}) == 7);
  CHECK(NumElements({2, 3, 4}) == 24);
  CHECK(NumElements({5, 0, 4}) == 0);
  CHECK(NumElements({int64_t{1} << 31, int64_t{1} << 31}) == int64_t{1} << 62);
}

TEST_CASE("NumElements refuses negative dimensions and products that overflow") {
  CHECK_THROWS_WITH(NumElements({2, -1}), "a shape has the negative dimension -1");
  CHECK_THROWS_AS(NumElements({0, -5}), Error);
  CHECK_THROWS_WITH(NumElements({int64_t{1} << 40, int64_t{1} << 40}),
                    "a shape has too many elements: 1099511627776 x 1099511627776");
  CHECK_THROWS_AS(NumElements({(int64_t{1} << 31) + 1, int64_t{1} << 31}), Error);
}

TEST_CASE("ToString of a shape reads as people write it") {
  CHECK(ToString(Shape{}) == "scalar");
  CHECK(ToString(Shape{3}) == "3");
  CHECK(ToString(Shape{2, 3, 4}) == "2 x 3 x 4");
}

TEST_CASE("A Matrix starts at zero and its views look at the same numbers") {
  Matrix matrix(2, 3);
  CHECK(matrix.values() == std::vector<float>(6, 0.0F));
  matrix.at(1, 2) = 5;
  matrix.view().row(0)[1] = 4;
  const MatrixView view = static_cast<const Matrix&>(matrix).view();
  CHECK(view.rows == 2);
  CHECK(view.cols == 3);
  CHECK(view.at(0, 1) == 4);
  CHECK(view.at(1, 2) == 5);
  const MutableMatrixView mutable_view = matrix.view();
  const MatrixView converted = mutable_view;
  CHECK(converted.row(1) == matrix.data() + 3);
  CHECK_THROWS_AS(Matrix(-1, 3), Error);
}

TEST_CASE("A view's rows lie a stride apart") {
  const Tensor tensor = Counting({4, 5});
  const MatrixView part{tensor.values.data() + 1, 3, 2, 5};
  CHECK(part.at(0, 0) == 1);
  CHECK(part.at(2, 1) == 12);
  CHECK(part.row(1)[0] == 6);
}

TEST_CASE("A SharedTensor takes numbers over and keeps them alive") {
  Tensor tensor = Counting({2, 3});
  const float* numbers = tensor.values.data();
  SharedTensor copy;
  CHECK_FALSE(copy.present());
  {
    const SharedTensor shared(std::move(tensor));
    CHECK(shared.data() == numbers);
    copy = shared;
  }
  CHECK(copy.present());
  CHECK(copy.data() == numbers);
  CHECK(copy.shape() == Shape{2, 3});
  CHECK(copy.size() == 6);
  CHECK(copy.values()[5] == 5);
}

TEST_CASE("A SharedTensor without elements is present all the same") {
  const SharedTensor empty(Tensor({3, 0}));
  CHECK(empty.present());
  CHECK(empty.size() == 0);
  CHECK(empty.values().empty());
}

TEST_CASE("A SharedTensor of more or fewer numbers than its shape says is refused") {
  CHECK_THROWS_WITH(SharedTensor(Tensor({2, 3}, {1, 2})), "a tensor of 2 x 3 holds 2 numbers");
  CHECK_THROWS_AS(SharedTensor(Tensor({}, {})), Error);
}

TEST_CASE("A SharedTensor as a matrix is its first axis by the rest") {
  const SharedTensor cube(Counting({2, 3, 4}));
  CHECK(cube.matrix().rows == 2);
  CHECK(cube.matrix().cols == 12);
  CHECK(cube.matrix().at(1, 0) == 12);
  const SharedTensor line(Counting({4}));
  CHECK(line.matrix().rows == 1);
  CHECK(line.matrix().cols == 4);
  const SharedTensor none(Tensor({0, 4}));
  CHECK(none.matrix().rows == 0);
}

TEST_CASE("Reshaped keeps the numbers, Slice shares a part of them") {
  const SharedTensor cube(Counting({2, 3, 4}));
  const SharedTensor table = cube.Reshaped({6, 4});
  CHECK(table.data() == cube.data());
  CHECK(table.shape() == Shape{6, 4});
  CHECK_THROWS_WITH(cube.Reshaped({5, 5}), "cannot view 2 x 3 x 4 as 5 x 5");

  SharedTensor part;
  {
    const SharedTensor whole(Counting({10}));
    part = whole.Slice(4, {2, 3});
  }
  CHECK(part.shape() == Shape{2, 3});
  CHECK(part.values()[0] == 4);
  CHECK(part.values()[5] == 9);
  CHECK_NOTHROW(cube.Slice(24, {0}));
  CHECK_THROWS_AS(cube.Slice(23, {2}), Error);
  CHECK_THROWS_AS(cube.Slice(-1, {2}), Error);
  CHECK_THROWS_AS(cube.Slice(25, {0}), Error);
}

}  // namespace attnmap
