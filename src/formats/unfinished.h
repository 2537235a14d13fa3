#ifndef ATTNMAP_FORMATS_UNFINISHED_H_
#define ATTNMAP_FORMATS_UNFINISHED_H_

#include <cstddef>
#include <string>

namespace attnmap {

// Remembers the name of a temporary file, so that RemoveUnfinished
// (attnmap/formats/file.h) can take it away where a process ends at once.
class Unfinished {
 public:
  Unfinished() = default;
  ~Unfinished() { Release(); }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  // Where there are too many, or the name is too long, it is not remembered.
  void Remember(const std::string& path);
  void Release();

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  size_t slot_ = kNone;
};

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_UNFINISHED_H_
