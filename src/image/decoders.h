#ifndef ATTNMAP_IMAGE_DECODERS_H_
#define ATTNMAP_IMAGE_DECODERS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "attnmap/image/decode.h"

namespace attnmap {

using Bytes = std::span<const uint8_t>;

// One decoder a format, each given a file that starts as its format does. The
// picture comes back as it is stored: DecodeImage turns it upright by the
// `orientation` found. All throw Error.
DecodedImage DecodeJpeg(Bytes bytes, const DecodeOptions& options);
DecodedImage DecodePng(Bytes bytes, const DecodeOptions& options);
DecodedImage DecodeWebp(Bytes bytes, const DecodeOptions& options);
DecodedImage DecodeGif(Bytes bytes, const DecodeOptions& options);

// Refuses a picture without pixels or with more than the limit, before
// anything is allocated for it.
void CheckSize(uint64_t rows, uint64_t cols, const DecodeOptions& options);

// "animated: first of 12 frames"
std::string AnimatedNote(uint64_t frames);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_DECODERS_H_
