#include "image/decode_sniff.h"

#include <array>
#include <cstring>
#include <string_view>

namespace attnmap {
namespace {

using std::string_view_literals::operator""sv;  // NOLINT(misc-unused-using-decls)

std::string_view Head(Bytes bytes, size_t from, size_t length) {
  if (from >= bytes.size()) return {};
  return {reinterpret_cast<const char*>(bytes.data()) + from,
          std::min(length, bytes.size() - from)};
}

bool StartsWith(Bytes bytes, std::string_view magic, size_t at = 0) {
  return Head(bytes, at, magic.size()) == magic;
}

bool IsPnm(Bytes bytes) {
  return bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
         std::strchr(" \t\r\n#", bytes[2]) != nullptr && bytes[2] != 0;
}

// "BM" alone starts many a text; the header's own size follows at byte 14.
bool IsBmp(Bytes bytes) {
  if (!StartsWith(bytes, "BM") || bytes.size() < 18) return false;
  return bytes[14] >= 12 && bytes[14] <= 128 && bytes[15] == 0 && bytes[16] == 0 && bytes[17] == 0;
}

struct Magic {
  std::string_view bytes;
  size_t at;
  const char* name;
};

constexpr std::array kRefused = {
    Magic{"ftypavif"sv, 4, "an AVIF picture"},
    Magic{"ftyphei"sv, 4, "a HEIC picture"},
    Magic{"ftyphev"sv, 4, "a HEIC picture"},
    Magic{"ftypmif1"sv, 4, "a HEIF picture"},
    Magic{"ftypmsf1"sv, 4, "a HEIF picture"},
    Magic{"ftyp"sv, 4, "a video file"},
    Magic{"\xff\x0a"sv, 0, "a JPEG XL picture"},
    Magic{"\0\0\0\x0cJXL "sv, 0, "a JPEG XL picture"},
    Magic{"8BPS"sv, 0, "a Photoshop file"},
    Magic{"%PDF"sv, 0, "a PDF file"},
    Magic{"\x76\x2f\x31\x01"sv, 0, "an OpenEXR picture"},
    Magic{"#?RADIANCE"sv, 0, "a Radiance picture"},
    Magic{"#?RGBE"sv, 0, "a Radiance picture"},
    Magic{"PF\n"sv, 0, "a floating-point PFM picture"},
    Magic{"Pf\n"sv, 0, "a floating-point PFM picture"},
    Magic{"P7\n"sv, 0, "a PAM picture"},
    Magic{"DDS "sv, 0, "a DDS texture"},
    Magic{"qoif"sv, 0, "a QOI picture"},
    Magic{"\0\0\1\0"sv, 0, "an icon"},
    Magic{"<svg"sv, 0, "an SVG drawing"},
    Magic{"<?xml"sv, 0, "an XML file"},
    Magic{"<!DOCTYPE"sv, 0, "a web page"},
    Magic{"<html"sv, 0, "a web page"},
    Magic{"\x93NUMPY"sv, 0, "a NumPy array"},
    Magic{"PK\x03\x04"sv, 0, "a zip archive"},
    Magic{"\x1f\x8b"sv, 0, "gzip data"},
};

constexpr const char* kRead = "JPEG, PNG, WebP, GIF, BMP, TIFF, PNM, JPEG 2000, Sun raster";

}  // namespace

FileFormat SniffFormat(Bytes bytes) {
  if (StartsWith(bytes, "\xff\xd8\xff")) return FileFormat::kJpeg;
  if (StartsWith(bytes, "\x89PNG\r\n\x1a\n")) return FileFormat::kPng;
  if (StartsWith(bytes, "RIFF") && StartsWith(bytes, "WEBP", 8)) return FileFormat::kWebp;
  if (StartsWith(bytes, "GIF87a") || StartsWith(bytes, "GIF89a")) return FileFormat::kGif;
  if (StartsWith(bytes, "II*\0"sv) || StartsWith(bytes, "MM\0*"sv) ||
      StartsWith(bytes, "II+\0"sv) || StartsWith(bytes, "MM\0+"sv)) {
    return FileFormat::kTiff;
  }
  if (StartsWith(bytes, "\0\0\0\x0cjP  \r\n\x87\n"sv) || StartsWith(bytes, "\xff\x4f\xff\x51")) {
    return FileFormat::kJpeg2000;
  }
  if (StartsWith(bytes, "\x59\xa6\x6a\x95")) return FileFormat::kSunRaster;
  if (IsPnm(bytes)) return FileFormat::kPnm;
  if (IsBmp(bytes)) return FileFormat::kBmp;
  return FileFormat::kUnknown;
}

const char* FormatKey(FileFormat format) {
  switch (format) {
    case FileFormat::kJpeg:
      return "jpeg";
    case FileFormat::kPng:
      return "png";
    case FileFormat::kWebp:
      return "webp";
    case FileFormat::kGif:
      return "gif";
    case FileFormat::kBmp:
      return "bmp";
    case FileFormat::kTiff:
      return "tiff";
    case FileFormat::kPnm:
      return "pnm";
    case FileFormat::kJpeg2000:
      return "jpeg2000";
    case FileFormat::kSunRaster:
      return "sun-raster";
    case FileFormat::kUnknown:
      break;
  }
  return "unknown";
}

const char* FormatTitle(FileFormat format) {
  switch (format) {
    case FileFormat::kJpeg:
      return "JPEG";
    case FileFormat::kPng:
      return "PNG";
    case FileFormat::kWebp:
      return "WebP";
    case FileFormat::kGif:
      return "GIF";
    case FileFormat::kBmp:
      return "BMP";
    case FileFormat::kTiff:
      return "TIFF";
    case FileFormat::kPnm:
      return "PNM";
    case FileFormat::kJpeg2000:
      return "JPEG 2000";
    case FileFormat::kSunRaster:
      return "Sun raster";
    case FileFormat::kUnknown:
      break;
  }
  return "unknown";
}

std::string RefusalOf(Bytes bytes) {
  if (bytes.empty()) return "the file is empty; expected a picture";
  for (const Magic& magic : kRefused) {
    if (StartsWith(bytes, magic.bytes, magic.at)) {
      return std::string(magic.name) + ", which is not read; expected one of " + kRead;
    }
  }
  return std::string("not a picture of a known format; expected one of ") + kRead;
}

}  // namespace attnmap
