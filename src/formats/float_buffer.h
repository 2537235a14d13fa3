#ifndef ATTNMAP_FORMATS_FLOAT_BUFFER_H_
#define ATTNMAP_FORMATS_FLOAT_BUFFER_H_

#include <cstddef>
#include <cstdlib>

#include "attnmap/core/tensor.h"

namespace attnmap {

// Numbers that come one by one, how many is not known. Grown with realloc,
// which moves the pages of a large block instead of copying them: a vector
// would need room for the old and the new block at once.
class FloatBuffer {
 public:
  FloatBuffer() = default;
  ~FloatBuffer() { std::free(data_); }  // NOLINT(cppcoreguidelines-no-malloc)
  FloatBuffer(const FloatBuffer&) = delete;
  FloatBuffer& operator=(const FloatBuffer&) = delete;

  void Push(float value) {
    if (size_ == capacity_) Grow();
    data_[size_++] = value;
  }
  int64_t size() const { return static_cast<int64_t>(size_); }

  // The numbers as a tensor, to which they belong from then on; the buffer is
  // empty again. REQUIRES: NumElements(shape) == size().
  SharedTensor Take(Shape shape);
  void Clear() { size_ = 0; }

 private:
  void Grow();
  void Resize(size_t capacity);

  float* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_FLOAT_BUFFER_H_
