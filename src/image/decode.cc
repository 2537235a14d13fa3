#include "attnmap/image/decode.h"

#include <limits>
#include <new>
#include <utility>

#include "attnmap/core/error.h"
#include "image/codec_module.h"
#include "image/decode_sniff.h"
#include "image/decoders.h"
#include "image/exif.h"

namespace attnmap {
namespace {

DecodedImage DecodeAs(FileFormat format, Bytes bytes, const DecodeOptions& options) {
  switch (format) {
    case FileFormat::kJpeg:
      return DecodeJpeg(bytes, options);
    case FileFormat::kPng:
      return DecodePng(bytes, options);
    case FileFormat::kWebp:
      return DecodeWebp(bytes, options);
    case FileFormat::kGif:
      return DecodeGif(bytes, options);
    case FileFormat::kUnknown:
      throw Error(RefusalOf(bytes));
    default:
      return DecodeThroughModule(format, bytes, options);
  }
}

}  // namespace

void CheckSize(uint64_t rows, uint64_t cols, const DecodeOptions& options) {
  constexpr uint64_t kMost = std::numeric_limits<int>::max();
  const std::string size = std::to_string(cols) + " x " + std::to_string(rows) + " pixels";
  if (rows == 0 || cols == 0) throw Error("the picture has no pixels (" + size + ")");
  if (rows > kMost || cols > kMost || options.max_pixels < 0 ||
      rows * cols > static_cast<uint64_t>(options.max_pixels)) {
    throw Error(size + " (width x height) are more than the limit of " +
                std::to_string(options.max_pixels) + " pixels");
  }
}

std::string AnimatedNote(uint64_t frames) {
  return "animated: first of " + std::to_string(frames) + " frames";
}

DecodedImage DecodeImage(std::span<const uint8_t> bytes, const DecodeOptions& options) {
  const FileFormat format = SniffFormat(bytes);
  try {
    DecodedImage decoded = DecodeAs(format, bytes, options);
    decoded.format = FormatKey(format);
    if (options.apply_exif) decoded.image = Upright(std::move(decoded.image), decoded.orientation);
    return decoded;
  } catch (const std::bad_alloc&) {
    throw Error(std::string("not enough memory to decode this ") + FormatTitle(format) +
                " picture");
  }
}

}  // namespace attnmap
