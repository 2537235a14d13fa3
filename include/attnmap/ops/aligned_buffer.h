#ifndef ATTNMAP_OPS_ALIGNED_BUFFER_H_
#define ATTNMAP_OPS_ALIGNED_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace attnmap::ops {

// Owns floats that begin on a cache line; not initialised. Large ones lie in
// large pages where the system has them.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(int64_t size) { Reserve(size); }

  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  int64_t size() const { return size_; }

  // Holds at least `size` floats afterwards; what was in it is lost where it
  // had to grow. Returns data().
  float* Reserve(int64_t size);

 private:
  struct Free {
    size_t alignment;
    void operator()(float* data) const;
  };
  std::unique_ptr<float, Free> data_;
  int64_t size_ = 0;
};

}  // namespace attnmap::ops

#endif  // ATTNMAP_OPS_ALIGNED_BUFFER_H_
