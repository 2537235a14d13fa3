#ifndef ATTNMAP_FORMATS_ZIP_WRITER_H_
#define ATTNMAP_FORMATS_ZIP_WRITER_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace attnmap {

// Writes a ZIP archive of stored entries, front to back, without seeking.
// Every entry's bytes start at a multiple of 64 so that a reader can map them;
// entries and archives beyond 4 GiB get ZIP64 records.
class ZipWriter {
 public:
  using Sink = std::function<void(std::span<const uint8_t>)>;
  using Parts = std::initializer_list<std::span<const uint8_t>>;

  // `sink` gets the archive in pieces. Sizes and offsets from `zip64_from` on
  // are written in 64 bits (a test sets it low).
  explicit ZipWriter(Sink sink, uint64_t zip64_from = 0xFFFFFFFF);

  // One entry: the parts one after the other. Throws Error where the name is
  // longer than the format allows.
  void Add(const std::string& name, Parts parts);
  // The directory. Call once, last.
  void Finish();

 private:
  struct Entry {
    std::string name;
    uint32_t crc = 0;
    uint64_t size = 0;
    uint64_t offset = 0;
  };
  void Put(std::span<const uint8_t> bytes);
  void PutLocalHeader(const Entry& entry);
  void PutDirectoryEntry(const Entry& entry);
  void PutZip64End(uint64_t directory_begin, uint64_t directory_end);

  Sink sink_;
  uint64_t zip64_from_;
  uint64_t position_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_ZIP_WRITER_H_
