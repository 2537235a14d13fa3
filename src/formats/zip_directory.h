#ifndef ATTNMAP_FORMATS_ZIP_DIRECTORY_H_
#define ATTNMAP_FORMATS_ZIP_DIRECTORY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace attnmap {

struct ZipEntry {
  std::string name;
  bool stored = true;               // else deflated
  uint32_t crc = 0;                 // of the unpacked bytes
  uint64_t size = 0;                // unpacked
  std::span<const uint8_t> packed;  // as it lies in the file
  uint64_t begin = 0;               // of its local header
};

// The entries of a ZIP archive, in the directory's order, everything checked
// that can be known without unpacking: docs/formats/npz.md lists it. Sizes come
// from the directory, the data's begin from the local header. Throws Error
// (without a path) naming the entry.
std::vector<ZipEntry> ReadZipDirectory(std::span<const uint8_t> bytes);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_ZIP_DIRECTORY_H_
