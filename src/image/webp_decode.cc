#include <webp/decode.h>
#include <webp/demux.h>

#include <memory>

#include "attnmap/core/error.h"
#include "image/decoders.h"
#include "image/exif.h"
#include "image/pixels.h"

namespace attnmap {
namespace {

struct DeleteDemuxer {
  void operator()(WebPDemuxer* demuxer) const { WebPDemuxDelete(demuxer); }
};
using Demuxer = std::unique_ptr<WebPDemuxer, DeleteDemuxer>;

Demuxer OpenWhole(const WebPData& data) {
  Demuxer demuxer(WebPDemux(&data));
  if (demuxer != nullptr) return demuxer;
  WebPDemuxState state = WEBP_DEMUX_PARSE_ERROR;
  demuxer.reset(WebPDemuxPartial(&data, &state));
  const bool cut = state == WEBP_DEMUX_PARSING_HEADER || state == WEBP_DEMUX_PARSED_HEADER;
  throw Error(cut ? "truncated WebP: the file ends before its picture does"
                  : "broken WebP: its chunks make no sense");
}

int OrientationOf(const Demuxer& demuxer) {
  WebPChunkIterator chunk = {};
  int orientation = 1;
  if (WebPDemuxGetChunk(demuxer.get(), "EXIF", 1, &chunk) != 0) {
    orientation = ExifOrientation({chunk.chunk.bytes, chunk.chunk.size});
  }
  WebPDemuxReleaseChunkIterator(&chunk);
  return orientation;
}

// The first frame, which a still picture has too.
class FirstFrame {
 public:
  explicit FirstFrame(const Demuxer& demuxer) {
    if (WebPDemuxGetFrame(demuxer.get(), 1, &it_) == 0 || it_.complete == 0) {
      WebPDemuxReleaseIterator(&it_);
      throw Error("truncated WebP: its first frame is not whole");
    }
  }
  ~FirstFrame() { WebPDemuxReleaseIterator(&it_); }
  FirstFrame(const FirstFrame&) = delete;
  FirstFrame& operator=(const FirstFrame&) = delete;
  const WebPIterator& it() const { return it_; }

 private:
  WebPIterator it_ = {};
};

[[noreturn]] void ThrowBroken() { throw Error("broken WebP: its pixel data cannot be decoded"); }

bool CoversOnlyPart(const WebPIterator& frame, const Image& canvas) {
  return frame.width != canvas.cols || frame.height != canvas.rows;
}

// What a frame leaves free of the canvas is transparent black.
void FillCanvas(const DecodeOptions& options, DecodedImage& decoded) {
  if (!options.background) return;
  std::vector<uint8_t>& rgb = decoded.image.rgb;
  for (size_t i = 0; i < rgb.size(); ++i) rgb[i] = (*options.background)[i % 3];
}

uint8_t* PlaceOf(const WebPIterator& frame, int y, Image& canvas) {
  return canvas.row(frame.y_offset + y) + static_cast<ptrdiff_t>(frame.x_offset) * 3;
}

void ReadOpaque(const WebPIterator& frame, Image& canvas) {
  uint8_t* out = PlaceOf(frame, 0, canvas);
  const size_t room = canvas.rgb.size() - static_cast<size_t>(out - canvas.rgb.data());
  if (WebPDecodeRGBInto(frame.fragment.bytes, frame.fragment.size, out, room, canvas.cols * 3) ==
      nullptr) {
    ThrowBroken();
  }
}

void ReadTransparent(const WebPIterator& frame, const DecodeOptions& options,
                     DecodedImage& decoded) {
  const size_t stride = static_cast<size_t>(frame.width) * 4;
  std::vector<uint8_t> rgba(stride * static_cast<size_t>(frame.height));
  if (WebPDecodeRGBAInto(frame.fragment.bytes, frame.fragment.size, rgba.data(), rgba.size(),
                         static_cast<int>(stride)) == nullptr) {
    ThrowBroken();
  }
  const RowFormat format{Channels::kRgba};
  RowConverter converter(format, options.background);
  for (int y = 0; y < frame.height; ++y) {
    converter.Convert(rgba.data() + static_cast<size_t>(y) * stride, frame.width,
                      PlaceOf(frame, y, decoded.image));
  }
  AddConversionNotes(format, converter, options, decoded.notes);
}

void CheckFrame(const WebPIterator& frame, uint32_t rows, uint32_t cols) {
  const auto fits = [](int offset, int length, uint32_t whole) {
    return offset >= 0 && length > 0 &&
           static_cast<uint64_t>(offset) + static_cast<uint64_t>(length) <= whole;
  };
  if (!fits(frame.y_offset, frame.height, rows) || !fits(frame.x_offset, frame.width, cols)) {
    throw Error("broken WebP: its first frame does not lie within the picture");
  }
}

// A lossy frame spends more than a bit on each block of 256 pixels. (A lossless
// one may say "all the same" once for any number, and means it.)
void CheckClaim(const WebPIterator& frame) {
  constexpr uint64_t kMaxPixelsPerByte = 8192;
  WebPBitstreamFeatures features = {};
  if (WebPGetFeatures(frame.fragment.bytes, frame.fragment.size, &features) != VP8_STATUS_OK) {
    ThrowBroken();
  }
  const uint64_t pixels = static_cast<uint64_t>(frame.width) * static_cast<uint64_t>(frame.height);
  if (features.format == 1 && pixels / kMaxPixelsPerByte > frame.fragment.size) {
    throw Error("broken WebP: " + std::to_string(frame.fragment.size) + " bytes cannot hold " +
                std::to_string(frame.width) + " x " + std::to_string(frame.height) + " pixels");
  }
}

}  // namespace

DecodedImage DecodeWebp(Bytes bytes, const DecodeOptions& options) {
  const WebPData data{bytes.data(), bytes.size()};
  const Demuxer demuxer = OpenWhole(data);
  const uint32_t rows = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_HEIGHT);
  const uint32_t cols = WebPDemuxGetI(demuxer.get(), WEBP_FF_CANVAS_WIDTH);
  const uint32_t frames = WebPDemuxGetI(demuxer.get(), WEBP_FF_FRAME_COUNT);
  CheckSize(rows, cols, options);
  const FirstFrame first(demuxer);
  CheckFrame(first.it(), rows, cols);
  CheckClaim(first.it());

  DecodedImage decoded;
  decoded.orientation = OrientationOf(demuxer);
  decoded.image = Image(static_cast<int>(rows), static_cast<int>(cols));
  if (frames > 1) decoded.notes.push_back(AnimatedNote(frames));
  if (CoversOnlyPart(first.it(), decoded.image)) FillCanvas(options, decoded);
  if (first.it().has_alpha != 0) {
    ReadTransparent(first.it(), options, decoded);
  } else {
    ReadOpaque(first.it(), decoded.image);
  }
  return decoded;
}

}  // namespace attnmap
