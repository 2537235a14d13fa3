#ifndef ATTNMAP_IMAGE_GIF_LZW_H_
#define ATTNMAP_IMAGE_GIF_LZW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/decoders.h"

namespace attnmap {

// GIF's LZW (GIF89a, appendix F). `blocks` are the sub-blocks that follow the
// code size, each with its length in front. Returns `count` indices; memory
// grows with what the data yields, not with `count`. Throws Error where the
// data ends early or makes no sense.
std::vector<uint8_t> DecodeGifLzw(Bytes blocks, int code_size, size_t count);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_GIF_LZW_H_
