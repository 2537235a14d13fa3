#ifndef ATTNMAP_IMAGE_DECODE_H_
#define ATTNMAP_IMAGE_DECODE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnmap/core/image.h"

namespace attnmap {

enum class Gray16 {
  kHighByte,  // v >> 8
  kPillow,    // min(v, 255), as Pillow's convert("RGB")
};

struct DecodeOptions {
  bool apply_exif = true;
  Gray16 gray16 = Gray16::kHighByte;
  // Composite alpha over this colour; without it alpha is dropped.
  std::optional<std::array<uint8_t, 3>> background;
  int64_t max_pixels = 178956970;  // Pillow's own limit
  // Where the codec module lies; empty: only JPEG, PNG, WebP and GIF are read.
  std::string codec_module;
};

struct DecodedImage {
  Image image;
  std::string format;              // "jpeg", "png", "webp", "gif", "bmp", "tiff", "pnm", ...
  int orientation = 1;             // the EXIF orientation found (1..8), applied or not
  std::vector<std::string> notes;  // "animated: first of 12 frames", ...
};

// Any picture format, told apart by content: the first frame, upright, as Pillow's
// convert("RGB") has it. Sizes over the limit, and those that a file of so few
// bytes cannot hold, are refused before there is memory for them; a truncated
// file is an error, never half a picture. Nothing is printed. Safe to call from
// several threads. Throws Error with what is wrong, without the file's name (the
// caller knows it).
DecodedImage DecodeImage(std::span<const uint8_t> bytes, const DecodeOptions& options = {});

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_DECODE_H_
