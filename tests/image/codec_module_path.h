#ifndef ATTNMAP_TESTS_IMAGE_CODEC_MODULE_PATH_H_
#define ATTNMAP_TESTS_IMAGE_CODEC_MODULE_PATH_H_

#include "attnmap/image/decode.h"

namespace attnmap::test {

// The codec module of this build.
inline constexpr const char* kCodecModule = ATTNMAP_BINARY_DIR "/attnmap-codecs.so";

inline DecodeOptions WithModule() {
  DecodeOptions options;
  options.codec_module = kCodecModule;
  return options;
}

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_IMAGE_CODEC_MODULE_PATH_H_
