#ifndef ATTNMAP_FORMATS_FILE_H_
#define ATTNMAP_FORMATS_FILE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnmap {

// A read-only file mapped into memory for as long as anyone holds it. A file
// that cannot be mapped (a pipe) is read. The file must not be made shorter by
// others while it is held: the system then ends the process (SIGBUS).
class MappedFile {
 public:
  // Throws Error naming the path and the reason.
  static std::shared_ptr<const MappedFile> Open(const std::string& path);
  // Bytes already in memory; `name` is for messages.
  static std::shared_ptr<const MappedFile> FromBytes(std::vector<uint8_t> bytes, std::string name);

  virtual ~MappedFile() = default;
  std::span<const uint8_t> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }
  // A hint that bytes [begin, end) will not be looked at again soon: they need
  // not stay in memory. Looking at them all the same is allowed.
  virtual void Forget(size_t /*begin*/, size_t /*end*/) const {}

 protected:
  std::span<const uint8_t> bytes_;
  std::string path_;
};

// The whole of a file or, for "-", of standard input. Throws Error where it
// is longer than `limit` bytes.
std::vector<uint8_t> ReadFile(const std::string& path, int64_t limit = int64_t{1} << 40);

// Writes beside the target, then renames: a reader never sees half a file, a
// failure leaves nothing behind. A link is followed, and what is no ordinary
// file (a pipe, /dev/null) is written to as it is. An existing file's
// permissions are kept. Throws Error naming the path and the reason.
void WriteFileAtomically(const std::string& path, std::span<const uint8_t> bytes);

class Unfinished;

// The same for output that comes in pieces.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();  // removes what was written unless Commit was called
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void Write(std::span<const uint8_t> bytes);
  void Write(std::string_view text);
  void Commit();

 private:
  std::string path_;       // as the caller calls it, for messages
  std::string target_;     // behind any links
  std::string temporary_;  // empty: the target is written to directly
  bool nameless_ = false;  // the temporary file has no name yet (O_TMPFILE)
  int descriptor_ = -1;
  std::unique_ptr<Unfinished> unfinished_;  // of a temporary file that has a name
};

// A name beside a target with the same ending, for a library that must open
// the file itself. What is written under it becomes the target with Commit.
class NamedTemporary {
 public:
  // Makes an empty file. Throws Error naming the target and the reason.
  explicit NamedTemporary(std::string target);
  ~NamedTemporary();  // removes the file unless Commit was called
  NamedTemporary(const NamedTemporary&) = delete;
  NamedTemporary& operator=(const NamedTemporary&) = delete;
  const std::string& path() const { return path_; }
  void Commit();

 private:
  std::string name_;    // as the caller calls it, for messages
  std::string target_;  // behind any links
  std::string path_;
  std::unique_ptr<Unfinished> unfinished_;
};

// Removes the temporary files that have a name and were not committed. For a
// signal handler that ends the process; safe there.
void RemoveUnfinished();

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_FILE_H_
