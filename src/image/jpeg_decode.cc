#include <algorithm>
#include <cstring>

#include "attnmap/core/error.h"
#include "image/decoders.h"
#include "image/exif.h"
#include "image/jpeg_errors.h"
#include "image/pixels.h"

namespace attnmap {
namespace {

constexpr int kExifMarker = JPEG_APP0 + 1;
// A progressive file may hold any number of scans, each of which costs a pass
// over the whole picture; real encoders write about ten.
constexpr int kMaxScans = 500;
// A block of 64 pixels costs at least one bit in a Huffman-coded scan, so no
// file holds more pixels a byte than this (twice over, for safety).
constexpr uint64_t kMaxPixelsPerByte = 1024;

void OnProgress(j_common_ptr info) {
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number > kMaxScans) {
    JpegFail(info, "it has more than 500 scans");
  }
}

void DoNothing(j_decompress_ptr) {}

// All bytes are there from the start: whoever asks for more has come to the end
// of a truncated file, and libjpeg returns to us ("suspends").
boolean NoMoreInput(j_decompress_ptr) { return FALSE; }

void SkipInput(j_decompress_ptr info, long count) {
  if (count <= 0) return;
  jpeg_source_mgr& source = *info->src;
  const size_t skip = std::min(static_cast<size_t>(count), source.bytes_in_buffer);
  source.next_input_byte += skip;
  source.bytes_in_buffer -= skip;
}

// One libjpeg decompressor; each call to libjpeg is made within Call.
class JpegReader {
 public:
  explicit JpegReader(Bytes bytes) {
    info_.err = InitJpegErrors(errors_);
    Call([](jpeg_decompress_struct& info) { jpeg_create_decompress(&info); });
    source_.next_input_byte = bytes.data();
    source_.bytes_in_buffer = bytes.size();
    source_.init_source = DoNothing;
    source_.fill_input_buffer = NoMoreInput;
    source_.skip_input_data = SkipInput;
    source_.resync_to_restart = jpeg_resync_to_restart;
    source_.term_source = DoNothing;
    progress_.progress_monitor = OnProgress;
    info_.src = &source_;
    info_.progress = &progress_;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  template <typename Step>
  std::invoke_result_t<Step, jpeg_decompress_struct&> Call(Step step) {
    return CallJpeg(info_, errors_, "broken JPEG: ", step);
  }

  const jpeg_decompress_struct& info() const { return info_; }
  const char* warning() const { return errors_.base.num_warnings > 0 ? errors_.warning : nullptr; }

 private:
  jpeg_decompress_struct info_ = {};
  JpegErrors errors_ = {};
  jpeg_source_mgr source_ = {};
  jpeg_progress_mgr progress_ = {};
};

[[noreturn]] void ThrowTruncated(const char* what) {
  throw Error(std::string("truncated JPEG: the file ends ") + what);
}

void ReadHeader(JpegReader& reader) {
  const int header = reader.Call([](jpeg_decompress_struct& info) {
    jpeg_save_markers(&info, kExifMarker, 0xFFFF);
    return jpeg_read_header(&info, TRUE);
  });
  if (header == JPEG_SUSPENDED) ThrowTruncated("before its picture begins");
}

void CheckClaim(const jpeg_decompress_struct& info, size_t file_size,
                const DecodeOptions& options) {
  CheckSize(info.image_height, info.image_width, options);
  const uint64_t pixels = static_cast<uint64_t>(info.image_height) * info.image_width;
  if (pixels / kMaxPixelsPerByte > file_size) {
    throw Error("broken JPEG: " + std::to_string(info.image_width) + " x " +
                std::to_string(info.image_height) + " pixels claimed by a file of " +
                std::to_string(file_size) + " bytes");
  }
}

int OrientationOf(const jpeg_decompress_struct& info) {
  for (const jpeg_marker_struct* m = info.marker_list; m != nullptr; m = m->next) {
    if (m->marker == kExifMarker && m->data_length > 6 && std::memcmp(m->data, "Exif\0", 5) == 0) {
      return ExifOrientation({m->data, m->data_length});
    }
  }
  return 1;
}

// libjpeg's defaults otherwise: accurate integer DCT, smooth chroma upsampling.
J_COLOR_SPACE OutputSpace(const jpeg_decompress_struct& info) {
  if (info.num_components == 1) return JCS_GRAYSCALE;
  if (info.num_components == 3) return JCS_RGB;
  if (info.num_components == 4) return JCS_CMYK;  // from YCCK too
  throw Error("a JPEG of " + std::to_string(info.num_components) +
              " components; expected 1, 3 or 4");
}

void ReadRow(JpegReader& reader, uint8_t* row) {
  const JDIMENSION got = reader.Call([row](jpeg_decompress_struct& info) {
    JSAMPROW rows[] = {row};
    return jpeg_read_scanlines(&info, rows, 1);
  });
  if (got != 1) {
    const auto& info = reader.info();
    throw Error("truncated JPEG: the file ends after " + std::to_string(info.output_scanline) +
                " of " + std::to_string(info.output_height) + " rows");
  }
}

// Adobe's CMYK is stored inverted, and so, Pillow holds, is everyone's.
void Invert(std::vector<uint8_t>& samples) {
  for (uint8_t& sample : samples) sample = static_cast<uint8_t>(255 - sample);
}

void ReadRows(JpegReader& reader, RowConverter& converter, Image& image) {
  const int components = reader.info().output_components;
  std::vector<uint8_t> samples;
  if (components != 3) samples.resize(static_cast<size_t>(image.cols) * components);
  for (int y = 0; y < image.rows; ++y) {
    if (components == 3) {
      ReadRow(reader, image.row(y));
      continue;
    }
    ReadRow(reader, samples.data());
    if (components == 4) Invert(samples);
    converter.Convert(samples.data(), image.cols, image.row(y));
  }
}

}  // namespace

DecodedImage DecodeJpeg(Bytes bytes, const DecodeOptions& options) {
  JpegReader reader(bytes);
  ReadHeader(reader);
  CheckClaim(reader.info(), bytes.size(), options);
  const J_COLOR_SPACE space = OutputSpace(reader.info());
  const boolean started = reader.Call([space](jpeg_decompress_struct& info) {
    info.out_color_space = space;
    return jpeg_start_decompress(&info);
  });
  if (!started) ThrowTruncated("before its last scan");  // progressive files are read whole here

  DecodedImage decoded;
  decoded.orientation = OrientationOf(reader.info());
  decoded.image = Image(static_cast<int>(reader.info().output_height),
                        static_cast<int>(reader.info().output_width));
  const RowFormat format{space == JCS_CMYK ? Channels::kCmyk : Channels::kGray};
  RowConverter converter(format, options.background);
  ReadRows(reader, converter, decoded.image);
  if (space == JCS_CMYK) AddConversionNotes(format, converter, options, decoded.notes);
  if (reader.warning() != nullptr) {
    decoded.notes.push_back(std::string("damaged JPEG, parts may look wrong: ") + reader.warning());
  }
  return decoded;
}

}  // namespace attnmap
