#ifndef ATTNMAP_IMAGE_STORED_FORMAT_H_
#define ATTNMAP_IMAGE_STORED_FORMAT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "image/codecs/codec_abi.h"
#include "image/decode_sniff.h"
#include "image/decoders.h"

namespace attnmap {

// What a header says of a picture that the codec module will decode. OpenCV
// offers no look at the header alone, and these things must be known before:
// the size (nothing is allocated for a picture over the limit) and what the
// samples mean (OpenCV does not tell).
struct StoredFormat {
  uint64_t rows = 0;
  uint64_t cols = 0;
  uint64_t least_bytes = 0;  // the file cannot be smaller than that
  AttnmapReadAs read_as = kAttnmapReadColor;
  bool cmyk = false;
  bool premultiplied = false;
  bool fourth_is_padding = false;
  bool inverted = false;  // 16-bit grey where 0 is white
  int largest = 0;        // the sample value that is white; 0: all bits set
  int orientation = 1;
  std::vector<std::string> notes;
  std::vector<uint8_t> amended;  // the file to decode instead; empty: the file itself
};

// Throws Error where the header is broken or says what is not supported.
StoredFormat ReadStoredFormat(FileFormat format, Bytes bytes);

// The part for TIFF, which takes a file of its own.
StoredFormat ReadStoredTiff(Bytes bytes);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_STORED_FORMAT_H_
