#ifndef ATTNMAP_TESTS_SUPPORT_PICTURE_FILES_H_
#define ATTNMAP_TESTS_SUPPORT_PICTURE_FILES_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "attnmap/core/image.h"

namespace attnmap::test {

using FileBytes = std::vector<uint8_t>;

FileBytes ReadBytes(const std::filesystem::path& path);

// A picture of many hues that looks like none of its own mirror images.
Image Painting(int rows, int cols);

// The mean and the largest absolute difference of a sample. Throws where the sizes differ.
double MeanDifference(const Image& a, const Image& b);
int LargestDifference(const Image& a, const Image& b);

// FNV-1a, 64 bits, 16 hex digits.
std::string Fnv1a(const std::vector<uint8_t>& bytes);

// Appends integers in either byte order.
void PutBig(FileBytes& file, uint64_t value, int size);
void PutLittle(FileBytes& file, uint64_t value, int size);

// A TIFF structure with one directory of nothing but the orientation.
FileBytes ExifData(int orientation, bool big_endian);

// The file with EXIF data put where its format wants it.
FileBytes JpegWithExif(const FileBytes& jpeg, const FileBytes& exif);
FileBytes PngWithExif(const FileBytes& png, const FileBytes& exif);
// `webp` of the simple kind that EncodeImage writes.
FileBytes WebpWithExif(const FileBytes& webp, RowsCols size, const FileBytes& exif);

// A PNG file of a single IDAT from rows of packed samples (16-bit: big-endian).
struct PngParts {
  uint32_t cols = 0;
  uint32_t rows = 0;
  int bit_depth = 8;
  int color_type = 2;
  FileBytes samples;       // rows without filter bytes
  FileBytes palette;       // PLTE
  FileBytes transparency;  // tRNS
};
FileBytes MakePng(const PngParts& parts);
void PutPngChunk(FileBytes& file, std::string_view name, const FileBytes& data);

// An uncompressed little-endian TIFF of one strip.
struct TiffParts {
  int cols = 0;
  int rows = 0;
  int bits = 8;
  int samples = 3;  // a pixel
  int photometric = 2;
  int orientation = 1;
  int extra = -1;  // meaning of the last sample; -1: no such tag
  int format = 1;
  FileBytes data;
};
FileBytes MakeTiff(const TiffParts& parts);

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_SUPPORT_PICTURE_FILES_H_
