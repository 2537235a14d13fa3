// GIF is read here because OpenCV reads it from version 4.11 on only, and its
// first frame is little work.

#include <algorithm>
#include <array>
#include <optional>

#include "attnmap/core/error.h"
#include "image/decoders.h"
#include "image/gif_lzw.h"
#include "image/pixels.h"

namespace attnmap {
namespace {

using Colors = std::array<std::array<uint8_t, 3>, 256>;

// Walks the blocks of a file; throws at its end.
class GifCursor {
 public:
  explicit GifCursor(Bytes bytes) : bytes_(bytes) {}

  uint8_t Byte() { return Take(1)[0]; }
  int Short() {
    const Bytes two = Take(2);
    return two[0] | two[1] << 8;
  }
  Bytes Take(size_t size) {
    if (bytes_.size() - at_ < size) throw Error("truncated GIF: the file ends before its picture");
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }
  void SkipSubBlocks() {
    while (const uint8_t length = Byte()) Take(length);
  }
  Bytes rest() const { return bytes_.subspan(at_); }

 private:
  Bytes bytes_;
  size_t at_ = 0;
};

struct Frame {
  int left = 0;
  int top = 0;
  int cols = 0;
  int rows = 0;
  bool interlaced = false;
  int code_size = 0;
  Bytes blocks;
};

struct GifHeader {
  int rows = 0;  // of the canvas
  int cols = 0;
  Colors colors;
  std::optional<uint8_t> transparent;
  Frame frame;  // the first
};

// Entries past the end of a table are shades of grey, as in Pillow.
Colors ReadColors(GifCursor& cursor, uint8_t flags) {
  Colors colors;
  for (size_t i = 0; i < colors.size(); ++i) colors[i].fill(static_cast<uint8_t>(i));
  if ((flags & 0x80) == 0) return colors;
  const size_t count = size_t{2} << (flags & 7);
  const Bytes table = cursor.Take(count * 3);
  for (size_t i = 0; i < count; ++i) std::copy_n(&table[i * 3], 3, colors[i].begin());
  return colors;
}

void ReadExtension(GifCursor& cursor, GifHeader& header) {
  constexpr uint8_t kGraphicControl = 0xF9;
  const uint8_t label = cursor.Byte();
  if (label == kGraphicControl) {
    const Bytes data = cursor.Take(cursor.Byte());
    if (data.empty()) return;  // that was the end already
    if (data.size() >= 4 && (data[0] & 1) != 0) header.transparent = data[3];
  }
  cursor.SkipSubBlocks();
}

void ReadFrame(GifCursor& cursor, GifHeader& header) {
  Frame& frame = header.frame;
  frame.left = cursor.Short();
  frame.top = cursor.Short();
  frame.cols = cursor.Short();
  frame.rows = cursor.Short();
  const uint8_t flags = cursor.Byte();
  frame.interlaced = (flags & 0x40) != 0;
  if ((flags & 0x80) != 0) header.colors = ReadColors(cursor, flags);
  frame.code_size = cursor.Byte();
  frame.blocks = cursor.rest();
}

// Up to and including the first frame's descriptor.
GifHeader ReadHeader(GifCursor& cursor) {
  constexpr uint8_t kExtension = 0x21;
  constexpr uint8_t kFrame = 0x2C;
  GifHeader header;
  cursor.Take(6);
  header.cols = cursor.Short();
  header.rows = cursor.Short();
  const uint8_t flags = cursor.Byte();
  cursor.Take(2);
  header.colors = ReadColors(cursor, flags);
  while (true) {
    const uint8_t block = cursor.Byte();
    if (block == kExtension) {
      ReadExtension(cursor, header);
    } else if (block == kFrame) {
      ReadFrame(cursor, header);
      break;
    } else if (block == 0x3B) {
      throw Error("broken GIF: there is no picture in it");
    }
  }
  // A frame that passes the canvas's edge widens it.
  header.cols = std::max(header.cols, header.frame.left + header.frame.cols);
  header.rows = std::max(header.rows, header.frame.top + header.frame.rows);
  return header;
}

// Frames from the first one's data on; what is broken behind it does not matter.
uint64_t CountFrames(GifCursor cursor) {
  uint64_t frames = 1;
  try {
    cursor.SkipSubBlocks();
    for (uint8_t block = cursor.Byte(); block != 0x3B; block = cursor.Byte()) {
      if (block == 0x21) {
        cursor.Take(1);
        cursor.SkipSubBlocks();
      } else if (block == 0x2C) {
        GifHeader ignored;
        ReadFrame(cursor, ignored);
        cursor.SkipSubBlocks();
        ++frames;
      }
    }
  } catch (const Error&) {
    return frames;
  }
  return frames;
}

// The row of the picture that the n-th row of the data is.
std::vector<int> RowOrder(const Frame& frame) {
  std::vector<int> order;
  order.reserve(static_cast<size_t>(frame.rows));
  const auto add = [&](int from, int step) {
    for (int y = from; y < frame.rows; y += step) order.push_back(y);
  };
  if (!frame.interlaced) {
    add(0, 1);
    return order;
  }
  add(0, 8);
  add(4, 8);
  add(2, 4);
  add(1, 2);
  return order;
}

// The colour table with the transparent entry composited where that is wanted.
Colors FinalColors(const GifHeader& header, const DecodeOptions& options) {
  Colors colors = header.colors;
  if (header.transparent && options.background) colors[*header.transparent] = *options.background;
  return colors;
}

void Paint(const GifHeader& header, const std::vector<uint8_t>& indices, const Colors& colors,
           Image& image) {
  // Round the frame the canvas shows the transparent colour, else the first.
  const auto& ground = colors[header.transparent.value_or(0)];
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = ground[i % 3];
  const Frame& frame = header.frame;
  const uint8_t* index = indices.data();
  for (const int y : RowOrder(frame)) {
    uint8_t* rgb = image.row(frame.top + y) + static_cast<ptrdiff_t>(frame.left) * 3;
    for (int x = 0; x < frame.cols; ++x, ++index, rgb += 3) {
      std::copy_n(colors[*index].begin(), 3, rgb);
    }
  }
}

}  // namespace

DecodedImage DecodeGif(Bytes bytes, const DecodeOptions& options) {
  GifCursor cursor(bytes);
  const GifHeader header = ReadHeader(cursor);
  CheckSize(static_cast<uint64_t>(header.rows), static_cast<uint64_t>(header.cols), options);
  const Frame& frame = header.frame;
  const std::vector<uint8_t> indices =
      DecodeGifLzw(frame.blocks, frame.code_size,
                   static_cast<size_t>(frame.rows) * static_cast<size_t>(frame.cols));

  DecodedImage decoded;
  decoded.image = Image(header.rows, header.cols);
  const uint64_t frames = CountFrames(cursor);
  if (frames > 1) decoded.notes.push_back(AnimatedNote(frames));
  Paint(header, indices, FinalColors(header, options), decoded.image);
  const bool clear = header.transparent && std::find(indices.begin(), indices.end(),
                                                     *header.transparent) != indices.end();
  if (clear && !options.background) {
    decoded.notes.emplace_back("transparency dropped (a background colour would show it)");
  }
  return decoded;
}

}  // namespace attnmap
