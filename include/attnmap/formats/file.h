#ifndef ATTNMAP_FORMATS_FILE_H_
#define ATTNMAP_FORMATS_FILE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace attnmap {

// A read-only file mapped into memory for as long as anyone holds it. A file
// that cannot be mapped (a pipe) is read.
class MappedFile {
 public:
  // Throws Error naming the path and the reason.
  static std::shared_ptr<const MappedFile> Open(const std::string& path);
  // Bytes already in memory; `name` is for messages.
  static std::shared_ptr<const MappedFile> FromBytes(std::vector<uint8_t> bytes, std::string name);

  virtual ~MappedFile() = default;
  std::span<const uint8_t> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }

 protected:
  std::span<const uint8_t> bytes_;
  std::string path_;
};

// The whole of a file or, for "-", of standard input, at most `limit` bytes.
std::vector<uint8_t> ReadFile(const std::string& path, int64_t limit = int64_t{1} << 40);

// Writes beside the target, then renames: a reader never sees half a file, a
// failure leaves nothing behind. Throws Error naming the path and the reason.
void WriteFileAtomically(const std::string& path, std::span<const uint8_t> bytes);

// The same for output that comes in pieces.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();  // removes the piece unless Commit was called
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void Write(std::span<const uint8_t> bytes);
  void Write(std::string_view text);
  void Commit();

 private:
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_FILE_H_
