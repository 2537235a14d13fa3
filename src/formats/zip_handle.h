#ifndef ATTNMAP_FORMATS_ZIP_HANDLE_H_
#define ATTNMAP_FORMATS_ZIP_HANDLE_H_

#include <cstdint>
#include <span>

namespace attnmap {

// minizip over bytes in memory. One thread a handle; opening one costs a look
// at the archive's end, so each read may have its own. The bytes must outlive it.
class ZipHandle {
 public:
  explicit ZipHandle(std::span<const uint8_t> bytes);
  ~ZipHandle();
  ZipHandle(const ZipHandle&) = delete;
  ZipHandle& operator=(const ZipHandle&) = delete;

  bool is_open() const { return handle_ != nullptr; }
  // An unzFile.
  void* get() const { return handle_; }

  // What minizip reads from.
  struct Stream {
    std::span<const uint8_t> bytes;
    uint64_t position = 0;
  };

 private:
  Stream stream_;
  void* handle_ = nullptr;
};

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_ZIP_HANDLE_H_
