#include "image/codec_module.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "attnmap/core/error.h"
#include "attnmap/image/module.h"
#include "image/pixels.h"
#include "image/stored_format.h"

namespace attnmap {
namespace {

// The samples a module handed out.
class Samples {
 public:
  Samples(const AttnmapCodecs& codecs, Bytes bytes, AttnmapReadAs read_as, const char* title)
      : codecs_(codecs) {
    char message[ATTNMAP_CODECS_MESSAGE] = {};
    if (codecs.decode(bytes.data(), bytes.size(), read_as, &samples_, message) != 0) {
      throw Error(std::string("broken or unsupported ") + title + ": " + message);
    }
  }
  ~Samples() { codecs_.release(&samples_); }
  Samples(const Samples&) = delete;
  Samples& operator=(const Samples&) = delete;
  const AttnmapSamples& get() const { return samples_; }

 private:
  const AttnmapCodecs& codecs_;
  AttnmapSamples samples_ = {};
};

RowFormat FormatOf(const AttnmapSamples& samples, const StoredFormat& stored,
                   const DecodeOptions& options) {
  RowFormat format;
  format.bits = samples.bits;
  format.premultiplied = stored.premultiplied;
  switch (samples.channels) {
    case 1:
      format.channels = Channels::kGray;
      format.saturate = samples.bits == 16 && options.gray16 == Gray16::kPillow;
      break;
    case 2:
      format.channels = Channels::kGrayAlpha;
      break;
    case 3:
      format.channels = Channels::kRgb;
      break;
    default:
      format.channels = stored.cmyk ? Channels::kCmyk : Channels::kRgba;
      break;
  }
  return format;
}

void CheckSamples(const AttnmapSamples& samples, const StoredFormat& stored, const char* title) {
  if (samples.rows != static_cast<int64_t>(stored.rows) ||
      samples.cols != static_cast<int64_t>(stored.cols) || samples.channels < 1 ||
      samples.channels > 4 || (samples.bits != 8 && samples.bits != 16)) {
    throw Error(std::string("broken ") + title + ": its header and its pixels do not agree");
  }
}

// As Python rounds, and so Pillow.
int64_t DivideHalfEven(int64_t value, int64_t by) {
  const int64_t quotient = value / by;
  const int64_t twice_rest = value % by * 2;
  return quotient + (twice_rest > by || (twice_rest == by && quotient % 2 != 0) ? 1 : 0);
}

template <typename Sample>
void Rescale(int largest, std::vector<uint8_t>& row) {
  constexpr int64_t kFull = std::numeric_limits<Sample>::max();
  for (size_t at = 0; at + sizeof(Sample) <= row.size(); at += sizeof(Sample)) {
    Sample value;
    std::memcpy(&value, &row[at], sizeof value);
    value = static_cast<Sample>(std::min(kFull, DivideHalfEven(value * kFull, largest)));
    std::memcpy(&row[at], &value, sizeof value);
  }
}

// A fourth channel that means nothing is made opaque; darkness becomes light.
void Amend(const StoredFormat& stored, const RowFormat& format, std::vector<uint8_t>& row) {
  if (stored.inverted) {
    for (uint8_t& byte : row) byte = static_cast<uint8_t>(~byte);
  }
  if (stored.largest > 0) {
    format.bits == 16 ? Rescale<uint16_t>(stored.largest, row)
                      : Rescale<uint8_t>(stored.largest, row);
  }
  if (!stored.fourth_is_padding || format.channels != Channels::kRgba) return;
  const size_t sample = static_cast<size_t>(format.bits) / 8;
  for (size_t at = 3 * sample; at < row.size(); at += 4 * sample) {
    for (size_t i = 0; i < sample; ++i) row[at + i] = 0xFF;
  }
}

void Convert(const AttnmapSamples& samples, const StoredFormat& stored,
             const DecodeOptions& options, DecodedImage& decoded) {
  const RowFormat format = FormatOf(samples, stored, options);
  RowConverter converter(format, options.background);
  const size_t row_bytes = static_cast<size_t>(samples.cols) *
                           static_cast<size_t>(samples.channels) *
                           static_cast<size_t>(samples.bits / 8);
  const auto* data = static_cast<const uint8_t*>(samples.data);
  std::vector<uint8_t> row(row_bytes);
  for (int y = 0; y < samples.rows; ++y, data += row_bytes) {
    row.assign(data, data + row_bytes);
    Amend(stored, format, row);
    converter.Convert(row.data(), samples.cols, decoded.image.row(y));
  }
  AddConversionNotes(format, converter, options, decoded.notes);
}

}  // namespace

const AttnmapCodecs& LoadCodecs(const std::string& path, const std::string& what) {
  if (path.empty()) {
    throw Error(what +
                " need the codec module, which is not installed (JPEG, PNG, WebP and GIF "
                "pictures do not)");
  }
  return LoadModule<AttnmapCodecs>(path, ATTNMAP_CODECS_SYMBOL, ATTNMAP_CODECS_VERSION,
                                   what + " need the codec module, which");
}

DecodedImage DecodeThroughModule(FileFormat format, Bytes bytes, const DecodeOptions& options) {
  const char* title = FormatTitle(format);
  const StoredFormat stored = ReadStoredFormat(format, bytes);
  CheckSize(stored.rows, stored.cols, options);
  if (stored.least_bytes > bytes.size()) {
    throw Error(std::string("truncated ") + title + ": " + std::to_string(bytes.size()) +
                " bytes cannot hold " + std::to_string(stored.cols) + " x " +
                std::to_string(stored.rows) + " pixels");
  }
  const AttnmapCodecs& codecs = LoadCodecs(options.codec_module, std::string(title) + " pictures");
  const Bytes file = stored.amended.empty() ? bytes : Bytes(stored.amended);
  const Samples samples(codecs, file, stored.read_as, title);
  CheckSamples(samples.get(), stored, title);

  DecodedImage decoded;
  decoded.orientation = stored.orientation;
  decoded.image = Image(samples.get().rows, samples.get().cols);
  decoded.notes = stored.notes;
  Convert(samples.get(), stored, options, decoded);
  return decoded;
}

}  // namespace attnmap
