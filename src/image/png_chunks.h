#ifndef ATTNMAP_IMAGE_PNG_CHUNKS_H_
#define ATTNMAP_IMAGE_PNG_CHUNKS_H_

#include <cstdint>

#include "image/decoders.h"

namespace attnmap {

// What the chunks of a PNG file say, before libpng sees them.
struct PngOutline {
  uint32_t cols = 0;
  uint32_t rows = 0;
  int bit_depth = 0;
  int color_type = 0;
  bool interlaced = false;
  uint64_t data_bytes = 0;    // of all IDAT chunks
  uint32_t frames = 0;        // of an animation, else 0
  Bytes exif;                 // within the file's bytes
  bool data_damaged = false;  // a checksum of the pixel data is wrong
  bool cut_off = false;       // the pixel data is all there, the end chunk is not
};

// Throws Error where the chunks up to the end of the pixel data are not whole,
// or the checksum of a chunk that describes the picture is wrong. Wrong
// checksums of the pixel data itself are only told, as Pillow lets them pass.
PngOutline ReadPngOutline(Bytes bytes);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_PNG_CHUNKS_H_
