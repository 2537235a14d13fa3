#ifndef ATTNMAP_FORMATS_ZIP_ARCHIVE_H_
#define ATTNMAP_FORMATS_ZIP_ARCHIVE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attnmap/formats/file.h"
#include "formats/zip_directory.h"

namespace attnmap {

// Bytes, and what keeps them in memory.
struct SharedBytes {
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> bytes;
};

// A ZIP archive in a mapped file, for reading. Entries lie inside the file,
// apart from each other, and none unpacks to more than the file backs. Safe to
// use from several threads.
class ZipArchive {
 public:
  // Throws Error naming the entry; whoever opened the file adds its path.
  explicit ZipArchive(std::shared_ptr<const MappedFile> file);
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  std::span<const ZipEntry> entries() const { return entries_; }
  // Null where there is none. `name` must match whole.
  const ZipEntry* Find(std::string_view name) const;

  enum class Crc { kCheck, kTrust };
  // A stored entry where it lies, a deflated one unpacked into a buffer of its
  // own; its checksum compared if asked.
  SharedBytes Read(const ZipEntry& entry, Crc crc) const;
  // The first `count` bytes, fewer where the entry is shorter; no checksum.
  std::vector<uint8_t> ReadPrefix(const ZipEntry& entry, size_t count) const;

 private:
  std::shared_ptr<const MappedFile> file_;
  std::vector<ZipEntry> entries_;
  std::unordered_map<std::string_view, size_t> by_name_;
};

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_ZIP_ARCHIVE_H_
