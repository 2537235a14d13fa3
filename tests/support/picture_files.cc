#include "support/picture_files.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace attnmap::test {
namespace {

// Byte by byte: gcc 12 sees overflows in insert() where there are none.
void Append(FileBytes& file, const FileBytes& more) {
  for (const uint8_t byte : more) file.push_back(byte);
}

void PutText(FileBytes& file, std::string_view text) {
  for (const char c : text) file.push_back(static_cast<uint8_t>(c));
}

FileBytes Part(const FileBytes& file, size_t begin, size_t end) {
  return {file.begin() + static_cast<ptrdiff_t>(begin), file.begin() + static_cast<ptrdiff_t>(end)};
}

void PutRiffChunk(FileBytes& file, std::string_view name, const FileBytes& data) {
  PutText(file, name);
  PutLittle(file, data.size(), 4);
  Append(file, data);
  if (data.size() % 2 != 0) file.push_back(0);
}

size_t PngRowBytes(const PngParts& parts) {
  const int channels[] = {1, 0, 3, 1, 2, 0, 4};
  return (static_cast<size_t>(parts.cols) * channels[parts.color_type] * parts.bit_depth + 7) / 8;
}

FileBytes Deflate(const FileBytes& bytes) {
  uLongf size = compressBound(bytes.size());
  FileBytes packed(size);
  if (compress(packed.data(), &size, bytes.data(), bytes.size()) != Z_OK) {
    throw std::runtime_error("zlib");
  }
  packed.resize(size);
  return packed;
}

}  // namespace

FileBytes ReadBytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

Image Painting(int rows, int cols) {
  Image image(rows, cols);
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < cols; ++x) {
      uint8_t* rgb = image.row(y) + static_cast<ptrdiff_t>(x) * 3;
      rgb[0] = static_cast<uint8_t>(255 * x / cols);
      rgb[1] = static_cast<uint8_t>(200 * y / rows);
      rgb[2] = static_cast<uint8_t>(3 * x < cols && 2 * y < rows ? 220 : 40);
    }
  }
  return image;
}

namespace {

// A difference that says "another size" would pass for a small one.
void CheckSameSize(const Image& a, const Image& b) {
  if (a.size() == b.size() && !a.rgb.empty()) return;
  throw std::invalid_argument("pictures of " + std::to_string(a.cols) + " x " +
                              std::to_string(a.rows) + " and " + std::to_string(b.cols) + " x " +
                              std::to_string(b.rows) + " pixels");
}

}  // namespace

double MeanDifference(const Image& a, const Image& b) {
  CheckSameSize(a, b);
  double sum = 0;
  for (size_t i = 0; i < a.rgb.size(); ++i) sum += std::abs(a.rgb[i] - b.rgb[i]);
  return sum / static_cast<double>(a.rgb.size());
}

int LargestDifference(const Image& a, const Image& b) {
  CheckSameSize(a, b);
  int largest = 0;
  for (size_t i = 0; i < a.rgb.size(); ++i) {
    largest = std::max(largest, std::abs(a.rgb[i] - b.rgb[i]));
  }
  return largest;
}

std::string Fnv1a(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3;
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[hash >> shift & 15];
  return text;
}

void PutBig(FileBytes& file, uint64_t value, int size) {
  for (int i = size - 1; i >= 0; --i) file.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void PutLittle(FileBytes& file, uint64_t value, int size) {
  for (int i = 0; i < size; ++i) file.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

FileBytes ExifData(int orientation, bool big_endian) {
  FileBytes exif;
  PutText(exif, big_endian ? "MM" : "II");
  const auto put = big_endian ? PutBig : PutLittle;
  put(exif, 42, 2);
  put(exif, 8, 4);       // where the directory is
  put(exif, 1, 2);       // its entries
  put(exif, 0x0112, 2);  // orientation
  put(exif, 3, 2);       // of type SHORT
  put(exif, 1, 4);
  put(exif, static_cast<uint64_t>(orientation), 2);
  put(exif, 0, 2);
  put(exif, 0, 4);  // no further directory
  return exif;
}

FileBytes JpegWithExif(const FileBytes& jpeg, const FileBytes& exif) {
  FileBytes file = Part(jpeg, 0, 2);
  PutBig(file, 0xFFE1, 2);
  PutBig(file, exif.size() + 8, 2);
  PutText(file, std::string_view("Exif\0\0", 6));
  Append(file, exif);
  Append(file, Part(jpeg, 2, jpeg.size()));
  return file;
}

FileBytes PngWithExif(const FileBytes& png, const FileBytes& exif) {
  constexpr size_t kHeaderEnd = 8 + 25;
  FileBytes file = Part(png, 0, kHeaderEnd);
  PutPngChunk(file, "eXIf", exif);
  Append(file, Part(png, kHeaderEnd, png.size()));
  return file;
}

FileBytes WebpWithExif(const FileBytes& webp, RowsCols size, const FileBytes& exif) {
  FileBytes extended;
  PutLittle(extended, 0x08, 4);  // there is EXIF
  PutLittle(extended, static_cast<uint64_t>(size.cols) - 1, 3);
  PutLittle(extended, static_cast<uint64_t>(size.rows) - 1, 3);
  FileBytes body;
  PutText(body, "WEBP");
  PutRiffChunk(body, "VP8X", extended);
  Append(body, Part(webp, 12, webp.size()));
  PutRiffChunk(body, "EXIF", exif);
  FileBytes file;
  PutText(file, "RIFF");
  PutLittle(file, body.size(), 4);
  Append(file, body);
  return file;
}

void PutPngChunk(FileBytes& file, std::string_view name, const FileBytes& data) {
  PutBig(file, data.size(), 4);
  const size_t begin = file.size();
  PutText(file, name);
  Append(file, data);
  PutBig(file, crc32(crc32(0, nullptr, 0), &file[begin], static_cast<uInt>(file.size() - begin)),
         4);
}

FileBytes MakePng(const PngParts& parts) {
  FileBytes file;
  PutText(file, "\x89PNG\r\n\x1a\n");
  FileBytes header;
  PutBig(header, parts.cols, 4);
  PutBig(header, parts.rows, 4);
  PutBig(header, static_cast<uint64_t>(parts.bit_depth), 1);
  PutBig(header, static_cast<uint64_t>(parts.color_type), 1);
  PutBig(header, 0, 3);
  PutPngChunk(file, "IHDR", header);
  if (!parts.palette.empty()) PutPngChunk(file, "PLTE", parts.palette);
  if (!parts.transparency.empty()) PutPngChunk(file, "tRNS", parts.transparency);
  FileBytes rows;
  const size_t row_bytes = PngRowBytes(parts);
  for (size_t at = 0; at < parts.samples.size(); at += row_bytes) {
    rows.push_back(0);  // no filter
    Append(rows, Part(parts.samples, at, at + row_bytes));
  }
  PutPngChunk(file, "IDAT", Deflate(rows));
  PutPngChunk(file, "IEND", {});
  return file;
}

FileBytes MakeTiff(const TiffParts& parts) {
  struct Entry {
    int tag;
    int type;  // 3: SHORT, 4: LONG
    uint64_t count;
    uint64_t value;
  };
  const auto number = [](int value) { return static_cast<uint64_t>(value); };
  // The bits of each sample lie behind the header, the pixels behind them.
  constexpr uint64_t kBitsAt = 8;
  const uint64_t pixels_at = kBitsAt + 2 * number(parts.samples);
  const bool one = parts.samples == 1;
  const uint64_t bits = one                  ? number(parts.bits)
                        : parts.samples == 2 ? number(parts.bits) * 0x10001
                                             : kBitsAt;
  std::vector<Entry> entries = {
      {256, 4, 1, number(parts.cols)},        {257, 4, 1, number(parts.rows)},
      {258, 3, number(parts.samples), bits},  {259, 3, 1, 1},
      {262, 3, 1, number(parts.photometric)}, {273, 4, 1, pixels_at},
      {274, 3, 1, number(parts.orientation)}, {277, 3, 1, number(parts.samples)},
      {278, 4, 1, number(parts.rows)},        {279, 4, 1, parts.data.size()}};
  if (parts.extra >= 0) entries.push_back({338, 3, 1, number(parts.extra)});
  if (parts.format != 1) entries.push_back({339, 3, 1, number(parts.format)});

  FileBytes file;
  PutText(file, "II");
  PutLittle(file, 42, 2);
  PutLittle(file, pixels_at + parts.data.size() + parts.data.size() % 2, 4);
  for (int i = 0; i < parts.samples; ++i) PutLittle(file, number(parts.bits), 2);
  Append(file, parts.data);
  if (parts.data.size() % 2 != 0) file.push_back(0);
  PutLittle(file, entries.size(), 2);
  for (const Entry& entry : entries) {
    PutLittle(file, number(entry.tag), 2);
    PutLittle(file, number(entry.type), 2);
    PutLittle(file, entry.count, 4);
    PutLittle(file, entry.value, 4);
  }
  PutLittle(file, 0, 4);
  return file;
}

}  // namespace attnmap::test
