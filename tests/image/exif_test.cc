#include "image/exif.h"

#include <random>

#include "attnmap/image/decode.h"
#include "attnmap/image/encode.h"
#include "support/catch.h"
#include "support/picture_files.h"
#include "support/shared.h"

namespace attnmap {
namespace {

using test::ExifData;
using test::FileBytes;

// Where the upright pixel (y, x) lies in the stored picture, written down from
// the table of EXIF's orientations, for a stored picture of rows x cols.
RowsCols StoredPlace(int orientation, int y, int x, int rows, int cols) {
  switch (orientation) {
    case 2:
      return {y, cols - 1 - x};
    case 3:
      return {rows - 1 - y, cols - 1 - x};
    case 4:
      return {rows - 1 - y, x};
    case 5:
      return {x, y};
    case 6:
      return {rows - 1 - x, y};
    case 7:
      return {rows - 1 - x, cols - 1 - y};
    case 8:
      return {x, cols - 1 - y};
    default:
      return {y, x};
  }
}

// The picture that turns into `upright` by `orientation`.
Image StoredFor(const Image& upright, int orientation) {
  const bool turned = orientation >= 5;
  Image stored(turned ? upright.cols : upright.rows, turned ? upright.rows : upright.cols);
  for (int y = 0; y < upright.rows; ++y) {
    for (int x = 0; x < upright.cols; ++x) {
      const RowsCols at = StoredPlace(orientation, y, x, stored.rows, stored.cols);
      std::copy_n(upright.row(y) + x * 3, 3, stored.row(at.rows) + at.cols * 3);
    }
  }
  return stored;
}

Image RowsOfGray(int rows, int cols, const std::vector<int>& values) {
  Image image(rows, cols);
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t c = 0; c < 3; ++c) image.rgb[i * 3 + c] = static_cast<uint8_t>(values[i]);
  }
  return image;
}

FileBytes EncodedWithExif(const Image& stored, PictureFormat format, const FileBytes& exif) {
  const FileBytes file = EncodeImage(stored, format, {.quality = 95, .codec_module = {}});
  switch (format) {
    case PictureFormat::kPng:
      return test::PngWithExif(file, exif);
    case PictureFormat::kJpeg:
      return test::JpegWithExif(file, exif);
    default:
      return test::WebpWithExif(file, stored.size(), exif);
  }
}

TEST_CASE("U-06 each EXIF orientation moves the pixels of a 2 x 3 picture as it should") {
  const Image stored = RowsOfGray(2, 3, {0, 1, 2, 3, 4, 5});
  const struct {
    int orientation;
    Image upright;
  } cases[] = {
      {1, RowsOfGray(2, 3, {0, 1, 2, 3, 4, 5})}, {2, RowsOfGray(2, 3, {2, 1, 0, 5, 4, 3})},
      {3, RowsOfGray(2, 3, {5, 4, 3, 2, 1, 0})}, {4, RowsOfGray(2, 3, {3, 4, 5, 0, 1, 2})},
      {5, RowsOfGray(3, 2, {0, 3, 1, 4, 2, 5})}, {6, RowsOfGray(3, 2, {3, 0, 4, 1, 5, 2})},
      {7, RowsOfGray(3, 2, {5, 2, 4, 1, 3, 0})}, {8, RowsOfGray(3, 2, {2, 5, 1, 4, 0, 3})},
  };
  for (const auto& c : cases) {
    INFO("orientation " << c.orientation);
    const Image turned = Upright(stored, c.orientation);
    CHECK(turned.size() == c.upright.size());
    CHECK(turned.rgb == c.upright.rgb);
  }
}

TEST_CASE("U-06 a picture stored in any of eight orientations decodes to the same upright pixels") {
  const Image upright = test::Painting(72, 120);
  const auto format = GENERATE(PictureFormat::kPng, PictureFormat::kJpeg, PictureFormat::kWebp);
  const double noise = format == PictureFormat::kPng ? 0 : format == PictureFormat::kJpeg ? 1.5 : 3;
  for (int orientation = 1; orientation <= 8; ++orientation) {
    INFO("format " << static_cast<int>(format) << ", orientation " << orientation);
    const FileBytes file = EncodedWithExif(StoredFor(upright, orientation), format,
                                           ExifData(orientation, orientation % 2 == 0));
    const DecodedImage decoded = DecodeImage(file);
    CHECK(decoded.orientation == orientation);
    REQUIRE(decoded.image.size() == upright.size());
    CHECK(test::MeanDifference(decoded.image, upright) <= noise);
  }
}

TEST_CASE("U-06 a TIFF's own orientation is applied once") {
  const Image upright = test::Painting(20, 31);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const Image stored = StoredFor(upright, orientation);
    const FileBytes file = test::MakeTiff(
        {.cols = stored.cols, .rows = stored.rows, .orientation = orientation, .data = stored.rgb});
    DecodeOptions options;
    options.codec_module = ATTNMAP_BINARY_DIR "/attnmap-codecs.so";
    INFO("orientation " << orientation);
    CHECK(DecodeImage(file, options).image.rgb == upright.rgb);
    options.apply_exif = false;
    CHECK(DecodeImage(file, options).image.rgb == stored.rgb);
  }
}

TEST_CASE("without apply_exif the stored pixels come, and the orientation is still told") {
  const Image upright = test::Painting(24, 40);
  const Image stored = StoredFor(upright, 6);
  const FileBytes file = EncodedWithExif(stored, PictureFormat::kPng, ExifData(6, true));
  DecodeOptions options;
  options.apply_exif = false;
  const DecodedImage decoded = DecodeImage(file, options);
  CHECK(decoded.orientation == 6);
  CHECK(decoded.image.rgb == stored.rgb);
}

TEST_CASE("EXIF data is understood with and without its prefix, in both byte orders") {
  for (const bool big : {false, true}) {
    FileBytes exif = ExifData(7, big);
    CHECK(ExifOrientation(exif) == 7);
    const std::string_view prefix("Exif\0\0", 6);
    exif.insert(exif.begin(), prefix.begin(), prefix.end());
    CHECK(ExifOrientation(exif) == 7);
  }
}

TEST_CASE("an orientation outside 1 to 8 counts as upright") {
  for (const int value : {0, 9, 255, 65535}) CHECK(ExifOrientation(ExifData(value, false)) == 1);
}

TEST_CASE("EXIF that is cut off, lies or is noise means upright and harms nothing") {
  const FileBytes whole = ExifData(6, false);
  for (size_t size = 0; size < whole.size(); ++size) {
    const FileBytes part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    const int found = ExifOrientation(part);
    CHECK((found == 1 || found == 6));  // 6 once the entry itself is there
  }
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {
    FileBytes noisy = ExifData(1 + round % 8, round % 3 == 0);
    for (int i = 0; i < 1 + round % 5; ++i) {
      noisy[random() % noisy.size()] = static_cast<uint8_t>(random());
    }
    const int found = ExifOrientation(noisy);
    REQUIRE((found >= 1 && found <= 8));
  }
}

TEST_CASE("an EXIF entry may claim any count or place, and is passed over") {
  FileBytes exif = ExifData(6, false);
  SECTION("a count of 2^32 - 1") { std::fill_n(exif.begin() + 14, 4, uint8_t{0xFF}); }
  SECTION("a directory past the end") { std::fill_n(exif.begin() + 4, 4, uint8_t{0xFF}); }
  SECTION("a directory within the header") { exif[4] = 0; }
  SECTION("values at an impossible place") {
    exif[12] = 4;  // LONG
    exif[14] = 2;  // two of them: the value field is where they lie
    std::fill_n(exif.begin() + 18, 4, uint8_t{0xFE});
  }
  CHECK(ExifOrientation(exif) == 1);
}

TEST_CASE("a directory that claims more entries than there are bytes is read as far as it goes") {
  FileBytes exif = ExifData(8, false);
  exif[8] = exif[9] = 0xFF;
  CHECK(ExifOrientation(exif) == 8);
}

TEST_CASE("U-06 the corpus's nine landscapes and nine portraits agree when upright") {
  const auto folder = test::SharedFolder("corpus/exif");
  if (!folder) return;
  for (const std::string name : {"Landscape_", "Portrait_"}) {
    const Image first = DecodeImage(test::ReadBytes(*folder / (name + "1.jpg"))).image;
    for (int i = 0; i <= 8; ++i) {
      INFO(name << i);
      const Image other =
          DecodeImage(test::ReadBytes(*folder / (name + std::to_string(i) + ".jpg"))).image;
      REQUIRE(other.size() == first.size());
      // The number in the middle of each picture differs; the rest is the same.
      CHECK(test::MeanDifference(other, first) < 6);
      CHECK(test::MeanDifference(Upright(other, 2), first) > 20);
    }
  }
}

}  // namespace
}  // namespace attnmap
