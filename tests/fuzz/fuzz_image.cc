// Any bytes as a picture: a picture comes out, or one Error. The codec module is
// left out, so of the formats it reads only the headers are looked at.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "attnmap/core/error.h"
#include "attnmap/image/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  attnmap::DecodeOptions options;
  options.max_pixels = 1 << 20;
  // The last byte chooses among the options, so that all are met.
  const uint8_t choice = size > 0 ? data[size - 1] : 0;
  if ((choice & 1) != 0) options.background = {10, 20, 30};
  if ((choice & 2) != 0) options.gray16 = attnmap::Gray16::kPillow;
  options.apply_exif = (choice & 4) == 0;
  try {
    const attnmap::DecodedImage decoded = attnmap::DecodeImage({data, size}, options);
    const attnmap::Image& image = decoded.image;
    const auto samples = static_cast<size_t>(image.rows) * static_cast<size_t>(image.cols) * 3;
    if (image.rows < 1 || image.cols < 1 || image.rgb.size() != samples) std::abort();
    if (decoded.orientation < 1 || decoded.orientation > 8) std::abort();
  } catch (const attnmap::Error&) {
    return 0;
  }
  return 0;
}
