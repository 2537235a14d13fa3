#ifndef ATTNMAP_IMAGE_PIXELS_H_
#define ATTNMAP_IMAGE_PIXELS_H_

#include <array>
#include <cstdint>
#include <optional>

#include "attnmap/image/decode.h"

namespace attnmap {

// What a row of decoded samples holds, in this order.
enum class Channels { kGray, kGrayAlpha, kRgb, kRgba, kCmyk };

int NumChannels(Channels channels);

struct RowFormat {
  Channels channels = Channels::kRgb;
  int bits = 8;                // 8, or 16 in this machine's byte order
  bool saturate = false;       // 16-bit grey: min(v, 255) instead of the high byte
  bool premultiplied = false;  // colour already times alpha
};

// (a * b) / 255, rounded: Pillow's MULDIV255.
inline uint8_t MulDiv255(int a, int b) {
  const int t = a * b + 128;
  return static_cast<uint8_t>(((t >> 8) + t) >> 8);
}

// value over background, covered by alpha: Pillow's BLEND.
inline uint8_t Blend(int value, int background, int alpha) {
  const int t = value * alpha + background * (255 - alpha) + 128;
  return static_cast<uint8_t>(((t >> 8) + t) >> 8);
}

// Rows of any format to R G B rows, as Pillow's convert("RGB") does it, except
// that alpha is composited where a background is given.
class RowConverter {
 public:
  RowConverter(const RowFormat& format, const std::optional<std::array<uint8_t, 3>>& background)
      : format_(format), background_(background) {}

  // samples: cols * NumChannels, 8 or 16 bits each; rgb: cols * 3.
  void Convert(const void* samples, int cols, uint8_t* rgb);

  // Whether a pixel so far was not opaque.
  bool saw_transparency() const { return saw_transparency_; }

 private:
  template <typename Sample>
  void ConvertAs(const Sample* in, int cols, uint8_t* rgb);
  void StoreAlpha(std::array<uint8_t, 3> colour, uint8_t alpha, uint8_t* rgb);

  RowFormat format_;
  std::optional<std::array<uint8_t, 3>> background_;
  bool saw_transparency_ = false;
};

// What the conversion loses, for the notes of a DecodedImage.
void AddConversionNotes(const RowFormat& format, const RowConverter& converter,
                        const DecodeOptions& options, std::vector<std::string>& notes);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_PIXELS_H_
