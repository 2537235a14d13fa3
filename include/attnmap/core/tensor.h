#ifndef ATTNMAP_CORE_TENSOR_H_
#define ATTNMAP_CORE_TENSOR_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace attnmap {

// Row-major, outermost dimension first; {} is a scalar.
using Shape = std::vector<int64_t>;

// Product of the dimensions. Throws Error on a negative dimension or where the
// product passes 2^62.
int64_t NumElements(const Shape& shape);

// "2 x 3 x 4"; "scalar" for {}.
std::string ToString(const Shape& shape);

// A matrix of float32 someone else owns; valid while the owner lives. Rows are
// `stride` floats apart, stride >= cols.
struct MatrixView {
  const float* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;

  const float* row(int64_t i) const { return data + i * stride; }
  float at(int64_t i, int64_t j) const { return data[i * stride + j]; }
  // Parts of it. REQUIRES: within range.
  MatrixView Rows(int64_t begin, int64_t count) const { return {row(begin), count, cols, stride}; }
  MatrixView Cols(int64_t begin, int64_t count) const {
    return {data + begin, rows, count, stride};
  }
};

// The same, to be written through.
struct MutableMatrixView {
  float* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;

  float* row(int64_t i) const { return data + i * stride; }
  MutableMatrixView Rows(int64_t begin, int64_t count) const {
    return {row(begin), count, cols, stride};
  }
  MutableMatrixView Cols(int64_t begin, int64_t count) const {
    return {data + begin, rows, count, stride};
  }
  operator MatrixView() const {  // NOLINT(google-explicit-constructor)
    return {data, rows, cols, stride};
  }
};

// Owns a dense matrix of float32, zero at the start.
class Matrix {
 public:
  Matrix() = default;
  Matrix(int64_t rows, int64_t cols)
      : rows_(rows), cols_(cols), values_(static_cast<size_t>(NumElements({rows, cols}))) {}

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  float* data() { return values_.data(); }
  const float* data() const { return values_.data(); }
  float& at(int64_t i, int64_t j) { return values_[static_cast<size_t>(i * cols_ + j)]; }
  float at(int64_t i, int64_t j) const { return values_[static_cast<size_t>(i * cols_ + j)]; }
  MatrixView view() const { return {data(), rows_, cols_, cols_}; }
  MutableMatrixView view() { return {data(), rows_, cols_, cols_}; }
  std::vector<float>& values() { return values_; }
  const std::vector<float>& values() const { return values_; }

 private:
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  std::vector<float> values_;
};

// Owns a dense float32 array of any rank.
struct Tensor {
  Shape shape;
  std::vector<float> values;

  Tensor() = default;
  // Zero-filled.
  explicit Tensor(Shape s) : shape(std::move(s)), values(static_cast<size_t>(NumElements(shape))) {}
  Tensor(Shape s, std::vector<float> v) : shape(std::move(s)), values(std::move(v)) {}
};

// A dense, immutable float32 array that keeps alive whatever its numbers lie
// in: an owned buffer or a mapped file. Cheap to copy. Default: absent.
class SharedTensor {
 public:
  SharedTensor() = default;
  // `data` may alias an owner (std::shared_ptr's aliasing constructor).
  SharedTensor(Shape shape, std::shared_ptr<const float> data)
      : shape_(std::move(shape)), size_(NumElements(shape_)), data_(std::move(data)) {}
  // Takes the tensor's numbers over without copying them. Throws Error where
  // they are not as many as the shape says.
  explicit SharedTensor(Tensor tensor);

  bool present() const { return data_ != nullptr; }
  const Shape& shape() const { return shape_; }
  int64_t size() const { return size_; }
  const float* data() const { return data_.get(); }
  std::span<const float> values() const { return {data(), static_cast<size_t>(size_)}; }

  // The tensor as rows x the rest. REQUIRES: rank >= 1. Rank 1 is one row.
  MatrixView matrix() const;
  // The same numbers under another shape of as many elements.
  SharedTensor Reshaped(Shape shape) const;
  // Elements [begin, begin + NumElements(shape)), sharing the owner.
  SharedTensor Slice(int64_t begin, Shape shape) const;

 private:
  Shape shape_;
  int64_t size_ = 0;
  std::shared_ptr<const float> data_;
};

// A tensor and what it is called.
struct NamedTensor {
  std::string name;
  SharedTensor tensor;
};

}  // namespace attnmap

#endif  // ATTNMAP_CORE_TENSOR_H_
