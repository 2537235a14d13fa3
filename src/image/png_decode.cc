#include <png.h>

#include <bit>
#include <cstring>

#include "attnmap/core/error.h"
#include "image/decoders.h"
#include "image/exif.h"
#include "image/pixels.h"
#include "image/png_chunks.h"
#include "image/png_errors.h"

namespace attnmap {
namespace {

// Deflate cannot pack more than 258 bytes into 2 bits.
constexpr uint64_t kMaxDeflateRatio = 1032;

struct Input {
  const uint8_t* next;
  size_t left;
};

void OnRead(png_structp png, png_bytep out, size_t size) {
  auto* input = static_cast<Input*>(png_get_io_ptr(png));
  if (size > input->left) png_error(png, "the pixel data ends too early");
  std::memcpy(out, input->next, size);
  input->next += size;
  input->left -= size;
}

// One libpng reader; each call to libpng is made within Call.
class PngReader {
 public:
  explicit PngReader(Bytes bytes) : input_{bytes.data(), bytes.size()} {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, &errors_, OnPngError, OnPngWarning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw Error("libpng cannot start (another version than it was built with?)");
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  // step(png, info)
  template <typename Step>
  std::invoke_result_t<Step, png_structp, png_infop> Call(Step step) {
    return CallPng(errors_, "broken PNG: ", [this, step] { return step(png_, info_); });
  }
  Input& input() { return input_; }

 private:
  PngErrors errors_ = {};
  Input input_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

void ReadHeader(PngReader& reader) {
  Input* input = &reader.input();
  reader.Call([input](png_structp png, png_infop info) {
    png_set_read_fn(png, input, OnRead);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // CheckSize has looked
    // Of the chunks that libpng knows only those that shape pixels are wanted:
    // no colour profile or text is inflated for nothing.
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
    png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_WARN_DISCARD);  // ReadPngOutline has looked
    png_set_benign_errors(png, 1);
    png_read_info(png, info);
  });
}

// What stands between the header and the first row.
struct Palette {
  uint8_t rgb[256][3];
  uint8_t alpha[256];
  bool transparent = false;
};

Palette ReadPalette(PngReader& reader) {
  Palette palette;
  for (int i = 0; i < 256; ++i) {
    std::memset(palette.rgb[i], i, 3);  // Pillow's colours past the palette's end
    palette.alpha[i] = 255;
  }
  Palette* out = &palette;
  reader.Call([out](png_structp png, png_infop info) {
    png_colorp colors = nullptr;
    int count = 0;
    png_get_PLTE(png, info, &colors, &count);
    for (int i = 0; i < count; ++i) {
      out->rgb[i][0] = colors[i].red;
      out->rgb[i][1] = colors[i].green;
      out->rgb[i][2] = colors[i].blue;
    }
    png_bytep alpha = nullptr;
    int num_alpha = 0;
    if (png_get_tRNS(png, info, &alpha, &num_alpha, nullptr) != 0 && alpha != nullptr) {
      std::memcpy(out->alpha, alpha, static_cast<size_t>(num_alpha));
      out->transparent = num_alpha > 0;
    }
  });
  return palette;
}

bool HasColorKey(PngReader& reader) {
  return reader.Call(
      [](png_structp png, png_infop info) { return png_get_valid(png, info, PNG_INFO_tRNS) != 0; });
}

RowFormat FormatOf(const PngOutline& outline, bool key_to_alpha, const DecodeOptions& options) {
  RowFormat format;
  format.bits = outline.bit_depth == 16 ? 16 : 8;
  switch (outline.color_type) {
    case PNG_COLOR_TYPE_GRAY:
      format.channels = key_to_alpha ? Channels::kGrayAlpha : Channels::kGray;
      // Pillow does so to plain grey alone; grey with alpha loses its low bytes.
      format.saturate = format.bits == 16 && options.gray16 == Gray16::kPillow;
      break;
    case PNG_COLOR_TYPE_GRAY_ALPHA:
      format.channels = Channels::kGrayAlpha;
      break;
    case PNG_COLOR_TYPE_RGB_ALPHA:
      format.channels = Channels::kRgba;
      break;
    default:
      format.channels = key_to_alpha ? Channels::kRgba : Channels::kRgb;
      break;
  }
  return format;
}

int BitsPerPixel(const PngOutline& outline) {
  constexpr int kChannels[] = {1, 0, 3, 1, 2, 0, 4};
  return kChannels[outline.color_type] * outline.bit_depth;
}

void CheckClaim(const PngOutline& outline) {
  const uint64_t pixels = static_cast<uint64_t>(outline.rows) * outline.cols;
  const uint64_t bytes = pixels * static_cast<uint64_t>(BitsPerPixel(outline)) / 8;
  if (bytes / kMaxDeflateRatio > outline.data_bytes) {
    throw Error("broken PNG: " + std::to_string(outline.data_bytes) +
                " bytes of pixel data cannot hold " + std::to_string(outline.cols) + " x " +
                std::to_string(outline.rows) + " pixels");
  }
}

// Hands each row of samples to `use(samples, y)`; an interlaced picture is
// gathered whole first.
template <typename Use>
void ForEachRow(PngReader& reader, const PngOutline& outline, Use use) {
  const size_t row_bytes =
      reader.Call([](png_structp png, png_infop info) { return png_get_rowbytes(png, info); });
  const size_t kept = outline.interlaced ? outline.rows : 1;
  std::vector<uint8_t> samples(row_bytes * kept);
  uint8_t* const data = samples.data();
  const int passes = outline.interlaced ? 7 : 1;
  for (int pass = 0; pass < passes; ++pass) {
    for (uint32_t y = 0; y < outline.rows; ++y) {
      uint8_t* row = data + (kept > 1 ? y * row_bytes : 0);
      reader.Call([row](png_structp png, png_infop) { png_read_row(png, row, nullptr); });
      if (pass == passes - 1) use(row, static_cast<int>(y));
    }
  }
}

void ReadIndexed(PngReader& reader, const PngOutline& outline, const DecodeOptions& options,
                 DecodedImage& decoded) {
  Palette palette = ReadPalette(reader);
  if (options.background) {
    for (int i = 0; i < 256; ++i) {
      for (size_t c = 0; c < 3; ++c) {
        palette.rgb[i][c] = Blend(palette.rgb[i][c], (*options.background)[c], palette.alpha[i]);
      }
    }
  } else if (palette.transparent) {
    decoded.notes.emplace_back("transparency dropped (a background colour would show it)");
  }
  ForEachRow(reader, outline, [&](const uint8_t* samples, int y) {
    uint8_t* rgb = decoded.image.row(y);
    for (int x = 0; x < decoded.image.cols; ++x, rgb += 3) {
      std::memcpy(rgb, palette.rgb[samples[x]], 3);
    }
  });
}

void ReadDirect(PngReader& reader, const PngOutline& outline, bool key_to_alpha,
                const DecodeOptions& options, DecodedImage& decoded) {
  const RowFormat format = FormatOf(outline, key_to_alpha, options);
  RowConverter converter(format, options.background);
  ForEachRow(reader, outline, [&](const uint8_t* samples, int y) {
    converter.Convert(samples, decoded.image.cols, decoded.image.row(y));
  });
  AddConversionNotes(format, converter, options, decoded.notes);
}

// The rows as whole bytes, 16-bit samples in this machine's order.
void SetTransforms(PngReader& reader, const PngOutline& outline, bool key_to_alpha) {
  const bool indexed = outline.color_type == PNG_COLOR_TYPE_PALETTE;
  const bool swap = outline.bit_depth == 16 && std::endian::native == std::endian::little;
  reader.Call([=](png_structp png, png_infop info) {
    if (indexed) {
      png_set_packing(png);
    } else if (key_to_alpha) {
      png_set_tRNS_to_alpha(png);
    }
    if (!indexed) png_set_expand_gray_1_2_4_to_8(png);
    if (swap) png_set_swap(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
  });
}

}  // namespace

DecodedImage DecodePng(Bytes bytes, const DecodeOptions& options) {
  const PngOutline outline = ReadPngOutline(bytes);
  CheckSize(outline.rows, outline.cols, options);
  PngReader reader(bytes);
  ReadHeader(reader);  // refuses colour types and depths that do not exist
  CheckClaim(outline);
  const bool indexed = outline.color_type == PNG_COLOR_TYPE_PALETTE;
  const bool key_to_alpha = options.background && !indexed && HasColorKey(reader);
  SetTransforms(reader, outline, key_to_alpha);

  DecodedImage decoded;
  decoded.orientation = ExifOrientation(outline.exif);
  decoded.image = Image(static_cast<int>(outline.rows), static_cast<int>(outline.cols));
  if (outline.frames > 1) decoded.notes.push_back(AnimatedNote(outline.frames));
  if (indexed) {
    ReadIndexed(reader, outline, options, decoded);
  } else {
    ReadDirect(reader, outline, key_to_alpha, options, decoded);
  }
  if (outline.data_damaged) {
    decoded.notes.emplace_back("damaged PNG, parts may look wrong: a checksum does not match");
  }
  if (outline.cut_off) decoded.notes.emplace_back("the PNG file is cut off after its pixels");
  return decoded;
}

}  // namespace attnmap
