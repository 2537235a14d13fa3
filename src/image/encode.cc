#include "attnmap/image/encode.h"

#include <cstddef>

#include "attnmap/core/error.h"
#include "image/codec_module.h"
#include "image/encoders.h"

namespace attnmap {
namespace {

void CheckPicture(const Image& image) {
  const size_t samples = static_cast<size_t>(image.rows) * static_cast<size_t>(image.cols) * 3;
  if (image.rows < 1 || image.cols < 1 || image.rgb.size() != samples) {
    throw Error("a picture of " + std::to_string(image.cols) + " x " + std::to_string(image.rows) +
                " pixels with " + std::to_string(image.rgb.size()) +
                " samples cannot be written; expected 3 samples a pixel");
  }
}

void CheckQuality(int quality) {
  if (quality < 1 || quality > 100) {
    throw Error("a quality of " + std::to_string(quality) + "; expected 1 to 100");
  }
}

}  // namespace

std::vector<uint8_t> EncodeImage(const Image& image, PictureFormat format,
                                 const EncodeOptions& options) {
  CheckPicture(image);
  switch (format) {
    case PictureFormat::kPng:
      return EncodePng(image);
    case PictureFormat::kJpeg:
      CheckQuality(options.quality);
      return EncodeJpeg(image, options.quality);
    case PictureFormat::kWebp:
      CheckQuality(options.quality);
      return EncodeWebp(image, options.quality);
    case PictureFormat::kTiff:
      return EncodeTiff(image, options.codec_module);
  }
  throw Error("an unknown picture format");
}

void CheckSides(const Image& image, std::string_view format, int most) {
  if (image.rows <= most && image.cols <= most) return;
  throw Error("a " + std::string(format) + " picture has at most " + std::to_string(most) +
              " pixels a side; this one is " + std::to_string(image.cols) + " x " +
              std::to_string(image.rows) + " (PNG holds it)");
}

std::vector<uint8_t> EncodeTiff(const Image& image, const std::string& codec_module) {
  const AttnmapCodecs& codecs = LoadCodecs(codec_module, "TIFF pictures");
  AttnmapEncoded encoded = {};
  char message[ATTNMAP_CODECS_MESSAGE] = {};
  if (codecs.encode_tiff(image.rgb.data(), image.rows, image.cols, &encoded, message) != 0) {
    throw Error(std::string("the TIFF picture cannot be written: ") + message);
  }
  std::vector<uint8_t> file;
  try {
    file.assign(encoded.data, encoded.data + encoded.size);
  } catch (...) {
    codecs.release_encoded(&encoded);
    throw;
  }
  codecs.release_encoded(&encoded);
  return file;
}

}  // namespace attnmap
