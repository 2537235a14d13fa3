#ifndef ATTNMAP_IMAGE_DECODE_SNIFF_H_
#define ATTNMAP_IMAGE_DECODE_SNIFF_H_

#include <string>

#include "image/decoders.h"

namespace attnmap {

enum class FileFormat {
  kUnknown,
  kJpeg,
  kPng,
  kWebp,
  kGif,
  kBmp,  // from here on through the codec module
  kTiff,
  kPnm,
  kJpeg2000,
  kSunRaster,
};

// By the first bytes, never by a name.
FileFormat SniffFormat(Bytes bytes);

// As in DecodedImage::format ("jpeg") and as in a sentence ("JPEG").
const char* FormatKey(FileFormat format);
const char* FormatTitle(FileFormat format);

// The sentence that refuses what SniffFormat does not know: by its name where
// it is something people do pass.
std::string RefusalOf(Bytes bytes);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_DECODE_SNIFF_H_
