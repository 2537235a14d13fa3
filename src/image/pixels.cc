#include "image/pixels.h"

#include <algorithm>
#include <cstring>

namespace attnmap {
namespace {

uint8_t High(uint8_t value) { return value; }
uint8_t High(uint16_t value) { return static_cast<uint8_t>(value >> 8); }

void StoreGray(uint8_t gray, uint8_t* rgb) { rgb[0] = rgb[1] = rgb[2] = gray; }

// Pillow's cmyk2rgb: no colour profile, just ink taken off white.
void StoreCmyk(int c, int m, int y, int k, uint8_t* rgb) {
  const int white = 255 - k;
  rgb[0] = static_cast<uint8_t>(std::max(0, white - MulDiv255(c, white)));
  rgb[1] = static_cast<uint8_t>(std::max(0, white - MulDiv255(m, white)));
  rgb[2] = static_cast<uint8_t>(std::max(0, white - MulDiv255(y, white)));
}

uint8_t Unmultiply(int value, int alpha) {
  if (alpha == 0) return 0;
  return static_cast<uint8_t>(std::min(255, value * 255 / alpha));
}

}  // namespace

int NumChannels(Channels channels) {
  switch (channels) {
    case Channels::kGray:
      return 1;
    case Channels::kGrayAlpha:
      return 2;
    case Channels::kRgb:
      return 3;
    case Channels::kRgba:
      return 4;
    case Channels::kCmyk:
      return 4;
  }
  return 0;
}

void RowConverter::StoreAlpha(std::array<uint8_t, 3> colour, uint8_t alpha, uint8_t* rgb) {
  saw_transparency_ |= alpha != 255;
  for (size_t i = 0; i < 3; ++i) {
    const uint8_t value = format_.premultiplied ? Unmultiply(colour[i], alpha) : colour[i];
    rgb[i] = background_ ? Blend(value, (*background_)[i], alpha) : value;
  }
}

template <typename Sample>
void RowConverter::ConvertAs(const Sample* in, int cols, uint8_t* rgb) {
  const auto gray = [this](Sample v) {
    return format_.saturate ? static_cast<uint8_t>(std::min<int>(v, 255)) : High(v);
  };
  uint8_t* const end = rgb + static_cast<ptrdiff_t>(cols) * 3;
  switch (format_.channels) {
    case Channels::kGray:
      for (; rgb != end; rgb += 3, in += 1) StoreGray(gray(in[0]), rgb);
      break;
    case Channels::kGrayAlpha:
      for (; rgb != end; rgb += 3, in += 2) {
        const uint8_t value = gray(in[0]);
        StoreAlpha({value, value, value}, High(in[1]), rgb);
      }
      break;
    case Channels::kRgb:
      for (; rgb != end; rgb += 3, in += 3) {
        for (int i = 0; i < 3; ++i) rgb[i] = High(in[i]);
      }
      break;
    case Channels::kRgba:
      for (; rgb != end; rgb += 3, in += 4) {
        StoreAlpha({High(in[0]), High(in[1]), High(in[2])}, High(in[3]), rgb);
      }
      break;
    case Channels::kCmyk:
      for (; rgb != end; rgb += 3, in += 4) {
        StoreCmyk(High(in[0]), High(in[1]), High(in[2]), High(in[3]), rgb);
      }
      break;
  }
}

void RowConverter::Convert(const void* samples, int cols, uint8_t* rgb) {
  if (format_.bits == 16) {
    ConvertAs(static_cast<const uint16_t*>(samples), cols, rgb);
  } else {
    ConvertAs(static_cast<const uint8_t*>(samples), cols, rgb);
  }
}

void AddConversionNotes(const RowFormat& format, const RowConverter& converter,
                        const DecodeOptions& options, std::vector<std::string>& notes) {
  if (format.bits == 16) {
    const bool gray = format.channels == Channels::kGray || format.channels == Channels::kGrayAlpha;
    notes.push_back(std::string(gray ? "16-bit grey" : "16-bit colour") +
                    (format.saturate ? ": values above 255 became 255, as in Pillow"
                                     : ": the high byte of each sample was taken"));
  }
  if (format.channels == Channels::kCmyk) {
    notes.emplace_back("CMYK: turned to RGB without a colour profile");
  }
  if (converter.saw_transparency() && !options.background) {
    notes.emplace_back("transparency dropped (a background colour would show it)");
  }
}

}  // namespace attnmap
