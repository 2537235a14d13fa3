#include "attnmap/ops/aligned_buffer.h"

#include <sys/mman.h>

#include <new>

namespace attnmap::ops {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kHugePage = size_t{2} << 20;

// Weights are read from end to end for every picture: with pages of 4 KB the
// look-ups of their addresses cost as much as a tenth of that.
bool Huge(size_t bytes) { return bytes >= 2 * kHugePage; }

}  // namespace

void AlignedBuffer::Free::operator()(float* data) const {
  ::operator delete (data, std::align_val_t{alignment});
}

float* AlignedBuffer::Reserve(int64_t size) {
  if (size > size_) {
    data_.reset();  // first, so that both are not held at once
    size_ = 0;
    const size_t bytes = static_cast<size_t>(size) * sizeof(float);
    const size_t alignment = Huge(bytes) ? kHugePage : kCacheLine;
    void* const data = ::operator new (bytes, std::align_val_t{alignment});
    data_ = {static_cast<float*>(data), Free{alignment}};
#ifdef MADV_HUGEPAGE
    if (Huge(bytes)) ::madvise(data, bytes, MADV_HUGEPAGE);  // a wish: nothing depends on it
#endif
    size_ = size;
  }
  return data_.get();
}

}  // namespace attnmap::ops
