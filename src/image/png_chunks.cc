#include "image/png_chunks.h"

#include <zlib.h>

#include <string_view>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

constexpr size_t kSignature = 8;
constexpr size_t kFrame = 12;  // length, name and checksum around a chunk's data

uint32_t BigEndian(Bytes bytes, size_t at) {
  return static_cast<uint32_t>(bytes[at]) << 24 | static_cast<uint32_t>(bytes[at + 1]) << 16 |
         static_cast<uint32_t>(bytes[at + 2]) << 8 | bytes[at + 3];
}

struct Chunk {
  std::string_view name;
  Bytes data;
  bool sound = true;  // the checksum is right
};

// The chunk at `at`; false where the file ends before it does.
bool ReadChunk(Bytes bytes, size_t at, Chunk& chunk) {
  if (bytes.size() - at < kFrame) return false;
  const uint32_t length = BigEndian(bytes, at);
  if (bytes.size() - at - kFrame < length) return false;
  chunk.name = {reinterpret_cast<const char*>(bytes.data()) + at + 4, 4};
  chunk.data = bytes.subspan(at + 8, length);
  const uLong sum = crc32(crc32(0, nullptr, 0), bytes.data() + at + 4, length + 4);
  chunk.sound = sum == BigEndian(bytes, at + 8 + length);
  return true;
}

void ReadImageHeader(const Chunk& chunk, PngOutline& outline) {
  if (chunk.name != "IHDR" || chunk.data.size() != 13) {
    throw Error("broken PNG: the first chunk is not a header");
  }
  outline.cols = BigEndian(chunk.data, 0);
  outline.rows = BigEndian(chunk.data, 4);
  outline.bit_depth = chunk.data[8];
  outline.color_type = chunk.data[9];
  outline.interlaced = chunk.data[12] != 0;
}

void Note(const Chunk& chunk, PngOutline& outline) {
  if (chunk.name == "IDAT") {
    outline.data_bytes += chunk.data.size();
    outline.data_damaged |= !chunk.sound;
  } else if (!chunk.sound) {
    if (chunk.name == "PLTE") throw Error("broken PNG: the checksum of its palette is wrong");
  } else if (chunk.name == "eXIf") {
    outline.exif = chunk.data;
  } else if (chunk.name == "acTL" && chunk.data.size() == 8) {
    outline.frames = BigEndian(chunk.data, 0);
  }
}

}  // namespace

PngOutline ReadPngOutline(Bytes bytes) {
  PngOutline outline;
  Chunk chunk;
  size_t at = kSignature;
  if (!ReadChunk(bytes, at, chunk)) throw Error("truncated PNG: the file ends within its header");
  ReadImageHeader(chunk, outline);
  if (!chunk.sound) throw Error("broken PNG: the checksum of its header is wrong");
  while (chunk.name != "IEND") {
    at += kFrame + chunk.data.size();
    const bool in_data = chunk.name == "IDAT";
    if (!ReadChunk(bytes, at, chunk)) {
      // Cut between chunks the pixel data may still be all there.
      const bool another =
          in_data && bytes.size() - at >= 8 &&
          std::string_view(reinterpret_cast<const char*>(&bytes[at + 4]), 4) == "IDAT";
      if (outline.data_bytes == 0 || another) {
        throw Error("truncated PNG: the file ends before its pixel data does");
      }
      outline.cut_off = true;
      return outline;
    }
    Note(chunk, outline);
  }
  if (outline.data_bytes == 0) throw Error("broken PNG: there is no pixel data");
  return outline;
}

}  // namespace attnmap
