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

namespace attnmap {

// Bytes, and what keeps them in memory.
struct SharedBytes {
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> bytes;
};

struct ZipEntry {
  std::string name;
  bool stored = true;               // else deflated
  uint32_t crc = 0;                 // of the unpacked bytes
  uint64_t size = 0;                // unpacked
  std::span<const uint8_t> packed;  // as it lies in the file
  uint64_t directory_position = 0;  // of its record in the central directory
  uint64_t number = 0;
};

// A ZIP archive in a mapped file, for reading. Everything an archive claims is
// checked on opening (docs/formats/npz.md lists it), so entries lie inside the
// file, apart from each other, and none unpacks to more than the file backs.
// Safe to use from several threads.
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
  // A stored entry where it lies, its checksum compared if asked; a deflated
  // one unpacked into a buffer of its own, its checksum always compared.
  SharedBytes Read(const ZipEntry& entry, Crc crc) const;
  // The first `count` bytes, fewer where the entry is shorter; no checksum.
  std::vector<uint8_t> ReadPrefix(const ZipEntry& entry, size_t count) const;

  const std::shared_ptr<const MappedFile>& file() const { return file_; }

 private:
  void CheckNames();
  void CheckOverlaps() const;
  void CheckExpansion() const;

  std::shared_ptr<const MappedFile> file_;
  std::vector<ZipEntry> entries_;
  std::unordered_map<std::string_view, size_t> by_name_;
};

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_ZIP_ARCHIVE_H_
