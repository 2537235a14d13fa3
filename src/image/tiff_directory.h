#ifndef ATTNMAP_IMAGE_TIFF_DIRECTORY_H_
#define ATTNMAP_IMAGE_TIFF_DIRECTORY_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "image/decoders.h"

namespace attnmap {

enum class TiffTag : uint16_t {
  kImageWidth = 256,
  kImageLength = 257,
  kBitsPerSample = 258,
  kCompression = 259,
  kPhotometric = 262,
  kStripOffsets = 273,
  kOrientation = 274,
  kSamplesPerPixel = 277,
  kStripByteCounts = 279,
  kTileOffsets = 324,
  kTileByteCounts = 325,
  kExtraSamples = 338,
  kSampleFormat = 339,
};

// A directory of a TIFF file or of EXIF data (TIFF 6.0; BigTIFF too). Nothing
// the file says is believed: an entry or a value that does not lie within the
// bytes is as if it were not there. Valid while the bytes are.
class TiffDirectory {
 public:
  // Nothing where the bytes are no TIFF or the directory lies outside.
  static std::optional<TiffDirectory> First(Bytes bytes);

  bool Has(TiffTag tag) const { return Find(tag) != nullptr; }
  // The first value of an integer entry (BYTE, SHORT, LONG, LONG8).
  std::optional<uint64_t> Integer(TiffTag tag) const;
  // All of them; empty where any lies outside the bytes.
  std::vector<uint64_t> Integers(TiffTag tag) const;
  // Where in the bytes the first value of an entry lies and its type's size, to overwrite it.
  struct Place {
    size_t offset = 0;
    size_t size = 0;
  };
  std::optional<Place> PlaceOf(TiffTag tag) const;

  bool big_endian() const { return big_endian_; }
  // Directories in the file's chain, this one included; stops at the first that
  // is broken or visited before.
  int CountDirectories() const;

 private:
  struct Entry {
    uint16_t tag = 0;
    uint16_t type = 0;
    uint64_t count = 0;
    uint64_t offset = 0;  // of the values
  };

  TiffDirectory(Bytes bytes, bool big_endian, bool big_tiff)
      : bytes_(bytes), big_endian_(big_endian), big_tiff_(big_tiff) {}

  size_t count_size() const { return big_tiff_ ? 8 : 2; }
  size_t entry_size() const { return big_tiff_ ? 20 : 12; }
  size_t word_size() const { return big_tiff_ ? 8 : 4; }
  std::optional<uint64_t> Read(uint64_t offset, size_t size) const;
  bool Load(uint64_t offset);
  // The directory that the one at `offset` points to; 0: it is the last.
  std::optional<uint64_t> Next(uint64_t offset) const;
  std::optional<Entry> ReadEntry(uint64_t offset) const;
  const Entry* Find(TiffTag tag) const;
  std::optional<uint64_t> Value(const Entry& entry, uint64_t index) const;

  Bytes bytes_;
  bool big_endian_;
  bool big_tiff_;
  uint64_t offset_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_TIFF_DIRECTORY_H_
