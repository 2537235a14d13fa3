#include "attnmap/ops/aligned_buffer.h"

#include <new>

namespace attnmap::ops {
namespace {
constexpr std::align_val_t kAlignment{64};
}  // namespace

void AlignedBuffer::Free::operator()(float* data) const { ::operator delete(data, kAlignment); }

float* AlignedBuffer::Reserve(int64_t size) {
  if (size > size_) {
    data_.reset();  // first, so that both are not held at once
    size_ = 0;
    data_.reset(
        static_cast<float*>(::operator new(static_cast<size_t>(size) * sizeof(float), kAlignment)));
    size_ = size;
  }
  return data_.get();
}

}  // namespace attnmap::ops
