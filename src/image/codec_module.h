#ifndef ATTNMAP_IMAGE_CODEC_MODULE_H_
#define ATTNMAP_IMAGE_CODEC_MODULE_H_

#include <string>

#include "image/codecs/codec_abi.h"
#include "image/decode_sniff.h"
#include "image/decoders.h"

namespace attnmap {

// The table of the module at `path`, loaded once and kept. Throws Error where
// it is missing or does not fit, saying that `what` ("TIFF pictures") needs it.
const AttnmapCodecs& LoadCodecs(const std::string& path, const std::string& what);

// Decodes the formats from FileFormat::kBmp on.
DecodedImage DecodeThroughModule(FileFormat format, Bytes bytes, const DecodeOptions& options);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_CODEC_MODULE_H_
