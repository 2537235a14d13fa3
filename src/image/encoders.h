#ifndef ATTNMAP_IMAGE_ENCODERS_H_
#define ATTNMAP_IMAGE_ENCODERS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attnmap/image/encode.h"

namespace attnmap {

// Throws Error where a side has more pixels than the format, named in it, can say.
void CheckSides(const Image& image, std::string_view format, int most);

// One encoder a format. EncodeImage has seen that the picture is whole. All
// throw Error.
std::vector<uint8_t> EncodePng(const Image& image);
std::vector<uint8_t> EncodeJpeg(const Image& image, int quality);
std::vector<uint8_t> EncodeWebp(const Image& image, int quality);
std::vector<uint8_t> EncodeTiff(const Image& image, const std::string& codec_module);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_ENCODERS_H_
