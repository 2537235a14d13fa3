#ifndef ATTNMAP_IMAGE_ENCODE_H_
#define ATTNMAP_IMAGE_ENCODE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attnmap/core/image.h"

namespace attnmap {

enum class PictureFormat { kPng, kJpeg, kWebp, kTiff };

struct EncodeOptions {
  int quality = 92;          // JPEG and WebP
  std::string codec_module;  // TIFF is written through it
};

// The file's bytes. Throws Error where the picture does not fit the format.
std::vector<uint8_t> EncodeImage(const Image& image, PictureFormat format,
                                 const EncodeOptions& options = {});

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_ENCODE_H_
