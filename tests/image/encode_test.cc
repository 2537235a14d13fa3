#include "attnmap/image/encode.h"

#include "attnmap/core/error.h"
#include "attnmap/image/decode.h"
#include "image/codec_module_path.h"
#include "support/catch.h"
#include "support/picture_files.h"

namespace attnmap {
namespace {

using Catch::Matchers::Contains;

Image Back(const std::vector<uint8_t>& file) { return DecodeImage(file, test::WithModule()).image; }

TEST_CASE("PNG and TIFF give back every pixel, whatever the size") {
  const auto format = GENERATE(PictureFormat::kPng, PictureFormat::kTiff);
  EncodeOptions options;
  options.codec_module = test::kCodecModule;
  for (const RowsCols size : {RowsCols{1, 1}, {1, 500}, {500, 1}, {37, 91}, {300, 200}}) {
    const Image picture = test::Painting(size.rows, size.cols);
    INFO(size.rows << " x " << size.cols);
    CHECK(Back(EncodeImage(picture, format, options)).rgb == picture.rgb);
  }
}

TEST_CASE("JPEG keeps colour at full resolution") {
  Image stripes(16, 32);  // red and blue columns, one pixel wide
  for (int y = 0; y < stripes.rows; ++y) {
    for (int x = 0; x < stripes.cols; ++x) stripes.row(y)[x * 3 + (x % 2 == 0 ? 0 : 2)] = 255;
  }
  const Image back = Back(EncodeImage(stripes, PictureFormat::kJpeg));
  // With halved colour both columns would become the same purple.
  CHECK(test::MeanDifference(back, stripes) < 12);
}

TEST_CASE("quality trades bytes for likeness in JPEG and WebP") {
  const auto format = GENERATE(PictureFormat::kJpeg, PictureFormat::kWebp);
  const Image picture = test::Painting(90, 120);
  const auto low = EncodeImage(picture, format, {.quality = 20, .codec_module = {}});
  const auto high = EncodeImage(picture, format, {.quality = 95, .codec_module = {}});
  CHECK(low.size() < high.size());
  CHECK(test::MeanDifference(Back(high), picture) < test::MeanDifference(Back(low), picture));
  CHECK(test::MeanDifference(Back(high), picture) < 2.5);
}

TEST_CASE("a quality outside 1 to 100 is refused") {
  const Image picture = test::Painting(4, 4);
  for (const int quality : {0, 101, -5}) {
    CHECK_THROWS_WITH(
        EncodeImage(picture, PictureFormat::kJpeg, {.quality = quality, .codec_module = {}}),
        Contains("expected 1 to 100"));
  }
}

TEST_CASE("a picture that does not fit the format is refused, naming the limit") {
  const Image wide(1, 70000);
  CHECK_THROWS_WITH(EncodeImage(wide, PictureFormat::kJpeg), Contains("at most 65500 pixels"));
  CHECK_THROWS_WITH(EncodeImage(wide, PictureFormat::kWebp), Contains("at most 16383 pixels"));
  CHECK(Back(EncodeImage(wide, PictureFormat::kPng)).size() == RowsCols{1, 70000});
}

TEST_CASE("a picture without pixels, or with too few samples, is refused") {
  CHECK_THROWS_AS(EncodeImage(Image(), PictureFormat::kPng), Error);
  Image short_of_samples(4, 4);
  short_of_samples.rgb.pop_back();
  CHECK_THROWS_AS(EncodeImage(short_of_samples, PictureFormat::kWebp), Error);
}

TEST_CASE("TIFF without the codec module says what is missing") {
  CHECK_THROWS_WITH(EncodeImage(test::Painting(4, 4), PictureFormat::kTiff),
                    Contains("TIFF pictures need the codec module"));
}

TEST_CASE("the same picture gives the same bytes") {
  const Image picture = test::Painting(40, 50);
  for (const auto format : {PictureFormat::kPng, PictureFormat::kJpeg, PictureFormat::kWebp}) {
    CHECK(EncodeImage(picture, format) == EncodeImage(picture, format));
  }
}

}  // namespace
}  // namespace attnmap
