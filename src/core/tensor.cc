#include "attnmap/core/tensor.h"

#include "attnmap/core/error.h"

namespace attnmap {

int64_t NumElements(const Shape& shape) {
  constexpr int64_t kLimit = int64_t{1} << 62;
  int64_t product = 1;
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0) throw Error("a shape has the negative dimension " + std::to_string(dim));
    if (dim == 0) {
      empty = true;
    } else if (product > kLimit / dim) {
      throw Error("a shape has too many elements: " + ToString(shape));
    } else {
      product *= dim;
    }
  }
  return empty ? 0 : product;
}

std::string ToString(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (int64_t dim : shape) {
    if (!text.empty()) text += " x ";
    text += std::to_string(dim);
  }
  return text;
}

SharedTensor::SharedTensor(Tensor tensor)
    : shape_(std::move(tensor.shape)), size_(NumElements(shape_)) {
  if (size_ != static_cast<int64_t>(tensor.values.size())) {
    throw Error("a tensor of " + ToString(shape_) + " holds " +
                std::to_string(tensor.values.size()) + " numbers");
  }
  auto owner = std::make_shared<std::vector<float>>(std::move(tensor.values));
  // An empty vector has no data; a present tensor needs a pointer all the same.
  if (owner->empty()) owner->reserve(1);
  data_ = std::shared_ptr<const float>(owner, owner->data());
}

MatrixView SharedTensor::matrix() const {
  const int64_t rows = shape_.size() > 1 ? shape_[0] : 1;
  const int64_t cols = rows > 0 ? size_ / rows : 0;
  return {data(), rows, cols, cols};
}

SharedTensor SharedTensor::Reshaped(Shape shape) const {
  if (NumElements(shape) != size_) {
    throw Error("cannot view " + ToString(shape_) + " as " + ToString(shape));
  }
  SharedTensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

SharedTensor SharedTensor::Slice(int64_t begin, Shape shape) const {
  const int64_t count = NumElements(shape);
  if (begin < 0 || begin > size_ || count > size_ - begin) {
    throw Error("slice " + ToString(shape) + " does not lie within " + ToString(shape_));
  }
  return {std::move(shape), std::shared_ptr<const float>(data_, data_.get() + begin)};
}

}  // namespace attnmap
