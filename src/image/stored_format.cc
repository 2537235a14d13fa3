#include "image/stored_format.h"

#include <cstdlib>
#include <limits>
#include <string>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

// Reads integers off a header; past its end it throws.
class Header {
 public:
  Header(Bytes bytes, const char* title) : bytes_(bytes), title_(title) {}

  uint64_t Little(size_t at, size_t size) const {
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) value = value << 8 | At(at + i);
    return value;
  }
  uint64_t Big(size_t at, size_t size) const {
    uint64_t value = 0;
    for (size_t i = 0; i < size; ++i) value = value << 8 | At(at + i);
    return value;
  }
  uint8_t At(size_t at) const {
    if (at >= bytes_.size()) {
      throw Error(std::string("truncated ") + title_ + ": the file ends within its header");
    }
    return bytes_[at];
  }

 private:
  Bytes bytes_;
  const char* title_;
};

uint64_t Magnitude(uint64_t low32) {
  return static_cast<uint64_t>(std::llabs(static_cast<int32_t>(static_cast<uint32_t>(low32))));
}

// A product that stays at the top instead of wrapping.
uint64_t Times(uint64_t a, uint64_t b) {
  constexpr uint64_t kTop = std::numeric_limits<uint64_t>::max();
  return a != 0 && b > kTop / a ? kTop : a * b;
}

StoredFormat ReadBmp(Bytes bytes) {
  const Header header(bytes, "BMP");
  StoredFormat stored;
  const bool core = header.Little(14, 4) == 12;
  stored.cols = core ? header.Little(18, 2) : Magnitude(header.Little(18, 4));
  stored.rows = core ? header.Little(20, 2) : Magnitude(header.Little(22, 4));
  const uint64_t bits = header.Little(core ? 24 : 28, 2);
  const uint64_t compression = core ? 0 : header.Little(30, 4);
  if (compression == 0 || compression == 3) {  // plain rows, each a multiple of four bytes
    stored.least_bytes = Times(stored.rows, Times(stored.cols, bits) / 8);
  }
  return stored;
}

// The next number of a PNM header, past space and comments.
uint64_t PnmNumber(const Header& header, size_t& at) {
  const auto is_digit = [](uint8_t c) { return c >= '0' && c <= '9'; };
  while (!is_digit(header.At(at))) {
    if (header.At(at) == '#') {
      while (header.At(at) != '\n' && header.At(at) != '\r') ++at;
    } else if (header.At(at) > ' ') {
      throw Error("broken PNM: its header has something else where a number is expected");
    }
    ++at;
  }
  uint64_t value = 0;
  for (; is_digit(header.At(at)); ++at) {
    value = value * 10 + static_cast<uint64_t>(header.At(at) - '0');
    if (value > std::numeric_limits<uint32_t>::max()) {
      throw Error("broken PNM: a number in its header is too large");
    }
  }
  return value;
}

// OpenCV scales some kinds of PNM to all bits and others not. Told that the
// largest value is all bits set it leaves samples as they are. `at` is where the
// header ends.
void RaiseLargest(Bytes bytes, size_t at, uint64_t most, StoredFormat& stored) {
  const std::string header = std::string("P") + static_cast<char>(bytes[1]) + "\n" +
                             std::to_string(stored.cols) + " " + std::to_string(stored.rows) +
                             (most > 255 ? "\n65535" : "\n255");
  stored.largest = static_cast<int>(most);
  stored.amended.assign(header.begin(), header.end());
  stored.amended.insert(stored.amended.end(), bytes.begin() + static_cast<ptrdiff_t>(at),
                        bytes.end());
}

StoredFormat ReadPnm(Bytes bytes) {
  const Header header(bytes, "PNM");
  const char kind = static_cast<char>(header.At(1));
  StoredFormat stored;
  size_t at = 2;
  stored.cols = PnmNumber(header, at);
  stored.rows = PnmNumber(header, at);
  const bool bits = kind == '1' || kind == '4';
  const uint64_t most = bits ? 1 : PnmNumber(header, at);
  if (most == 0 || most > 65535) throw Error("broken PNM: its largest value is not 1 to 65535");
  stored.read_as = kAttnmapReadStored;
  const uint64_t pixels = Times(stored.rows, stored.cols);
  const uint64_t samples = kind == '3' || kind == '6' ? Times(pixels, 3) : pixels;
  if (kind == '4') {
    stored.least_bytes = Times(stored.rows, (stored.cols + 7) / 8);
  } else if (kind >= '5') {
    stored.least_bytes = Times(samples, most > 255 ? 2 : 1);
  } else {
    stored.least_bytes = samples;  // a digit each at least
  }
  if (!bits && most != 255 && most != 65535) RaiseLargest(bytes, at, most, stored);
  return stored;
}

StoredFormat ReadSun(Bytes bytes) {
  const Header header(bytes, "Sun raster");
  StoredFormat stored;
  stored.cols = header.Big(4, 4);
  stored.rows = header.Big(8, 4);
  if (header.Big(20, 4) <= 1) {  // not run-length encoded
    stored.least_bytes = Times(stored.rows, Times(stored.cols, header.Big(12, 4)) / 8);
  }
  return stored;
}

// Where the codestream starts: at once, or within the box "jp2c".
size_t FindCodestream(const Header& header) {
  if (header.At(0) == 0xFF) return 0;
  size_t at = 0;
  while (true) {
    const uint64_t length = header.Big(at, 4);
    if (header.Big(at + 4, 4) == 0x6A703263) return at + (length == 1 ? 16 : 8);
    const uint64_t whole = length == 1 ? header.Big(at + 8, 8) : length;
    if (whole < 8 || whole > std::numeric_limits<uint32_t>::max()) break;
    at += static_cast<size_t>(whole);
  }
  throw Error("broken JPEG 2000: there is no picture in it");
}

StoredFormat ReadJpeg2000(Bytes bytes) {
  const Header header(bytes, "JPEG 2000");
  const size_t at = FindCodestream(header);
  if (header.Big(at, 4) != 0xFF4FFF51) {
    throw Error("broken JPEG 2000: its picture has no header");
  }
  StoredFormat stored;
  const auto extent = [&header](size_t whole, size_t offset) {
    const uint64_t end = header.Big(whole, 4);
    const uint64_t begin = header.Big(offset, 4);
    return end > begin ? end - begin : 0;
  };
  stored.cols = extent(at + 8, at + 16);
  stored.rows = extent(at + 12, at + 20);
  stored.read_as = kAttnmapReadStored;
  return stored;
}

}  // namespace

StoredFormat ReadStoredFormat(FileFormat format, Bytes bytes) {
  switch (format) {
    case FileFormat::kBmp:
      return ReadBmp(bytes);
    case FileFormat::kTiff:
      return ReadStoredTiff(bytes);
    case FileFormat::kPnm:
      return ReadPnm(bytes);
    case FileFormat::kJpeg2000:
      return ReadJpeg2000(bytes);
    case FileFormat::kSunRaster:
      return ReadSun(bytes);
    default:
      throw Error("no codec reads this format");
  }
}

}  // namespace attnmap
