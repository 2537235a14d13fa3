#include <zlib.h>

#include <new>

#include "image/encoders.h"
#include "image/png_errors.h"

namespace attnmap {
namespace {

// Called from C: nothing may be thrown here, so running out of memory becomes
// one of libpng's own errors, after the exception is gone.
void OnWrite(png_structp png, png_bytep data, size_t size) {
  auto* file = static_cast<std::vector<uint8_t>*>(png_get_io_ptr(png));
  bool stored = true;
  try {
    file->insert(file->end(), data, data + size);
  } catch (const std::bad_alloc&) {
    stored = false;
  }
  if (!stored) png_error(png, "out of memory");
}

void OnFlush(png_structp) {}

class PngWriter {
 public:
  PngWriter() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, &errors_, OnPngError, OnPngWarning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_write_struct(&png_, nullptr);
      throw Error("libpng cannot start (another version than it was built with?)");
    }
  }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  // step(png, info); it must own nothing.
  template <typename Step>
  void Call(Step step) {
    CallPng(errors_, "the PNG picture cannot be written: ", [this, step] { step(png_, info_); });
  }

 private:
  PngErrors errors_ = {};
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace

// Paeth's filter and run lengths instead of matches: on maps over photos both
// smaller and faster than zlib's level 1, and a tenth of the time of libpng's
// own choice (the numbers are in docs/decisions/001-image-decoders.md).
std::vector<uint8_t> EncodePng(const Image& image) {
  std::vector<uint8_t> file;
  PngWriter writer;
  const auto rows = static_cast<png_uint_32>(image.rows);
  const auto cols = static_cast<png_uint_32>(image.cols);
  writer.Call([&file, rows, cols](png_structp png, png_infop info) {
    png_set_write_fn(png, &file, OnWrite, OnFlush);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(png, info, cols, rows, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_filter(png, PNG_FILTER_TYPE_DEFAULT, PNG_FILTER_PAETH);
    png_set_compression_level(png, 1);
    png_set_compression_strategy(png, Z_RLE);
    png_set_compression_buffer_size(png, size_t{1} << 16);
    png_write_info(png, info);
  });
  for (int y = 0; y < image.rows; ++y) {
    const uint8_t* row = image.row(y);
    writer.Call([row](png_structp png, png_infop) { png_write_row(png, row); });
  }
  writer.Call([](png_structp png, png_infop info) { png_write_end(png, info); });
  return file;
}

}  // namespace attnmap
