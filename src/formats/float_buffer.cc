#include "formats/float_buffer.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

namespace attnmap {

void FloatBuffer::Grow() { Resize(std::max<size_t>(64, capacity_ + capacity_ / 2)); }

void FloatBuffer::Resize(size_t capacity) {
  if (capacity > SIZE_MAX / sizeof(float)) throw std::bad_alloc();
  // NOLINTNEXTLINE(cppcoreguidelines-no-malloc)
  void* moved = std::realloc(data_, capacity * sizeof(float));
  if (moved == nullptr) throw std::bad_alloc();
  data_ = static_cast<float*>(moved);
  capacity_ = capacity;
}

SharedTensor FloatBuffer::Take(Shape shape) {
  Resize(std::max<size_t>(size_, 1));  // a present tensor has an address
  // NOLINTNEXTLINE(cppcoreguidelines-no-malloc)
  std::shared_ptr<const float> owner(std::exchange(data_, nullptr), [](const float* data) {
    std::free(const_cast<float*>(data));  // NOLINT
  });
  size_ = 0;
  capacity_ = 0;
  return {std::move(shape), std::move(owner)};
}

}  // namespace attnmap
