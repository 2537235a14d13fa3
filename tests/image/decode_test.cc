#include "attnmap/image/decode.h"

#include <array>

#include "attnmap/core/error.h"
#include "attnmap/image/encode.h"
#include "image/codec_module_path.h"
#include "support/catch.h"
#include "support/picture_files.h"
#include "support/shared.h"

namespace attnmap {
namespace {

using Catch::Matchers::Contains;
using test::FileBytes;
using test::MakePng;
using test::MakeTiff;

std::string FailureOf(const FileBytes& file, const DecodeOptions& options = test::WithModule()) {
  try {
    DecodeImage(file, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool HasNote(const DecodedImage& decoded, const std::string& part) {
  for (const std::string& note : decoded.notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

FileBytes Text(std::string_view text) { return {text.begin(), text.end()}; }

TEST_CASE("U-21 red, green and blue come in that order from every format") {
  const Image picture = test::Painting(32, 48);
  const auto format = GENERATE(PictureFormat::kPng, PictureFormat::kJpeg, PictureFormat::kWebp,
                               PictureFormat::kTiff);
  EncodeOptions how;
  how.codec_module = test::kCodecModule;
  const DecodedImage decoded = DecodeImage(EncodeImage(picture, format, how), test::WithModule());
  CHECK(test::MeanDifference(decoded.image, picture) < 4);
  CHECK(decoded.notes.empty());
}

TEST_CASE("the format is told by content and named") {
  const Image picture = test::Painting(8, 8);
  CHECK(DecodeImage(EncodeImage(picture, PictureFormat::kPng)).format == "png");
  CHECK(DecodeImage(EncodeImage(picture, PictureFormat::kJpeg)).format == "jpeg");
  CHECK(DecodeImage(EncodeImage(picture, PictureFormat::kWebp)).format == "webp");
  CHECK(DecodeImage(Text("P5 2 1 255\nab"), test::WithModule()).format == "pnm");
}

TEST_CASE("U-23 alpha is dropped and said so, or composited over a background") {
  const FileBytes file = MakePng({.cols = 3,
                                  .rows = 1,
                                  .color_type = 6,
                                  .samples = {200, 100, 50, 0, 200, 100, 50, 255, 200, 100, 50, 51},
                                  .palette = {},
                                  .transparency = {}});
  const DecodedImage dropped = DecodeImage(file);
  CHECK(dropped.image.rgb == FileBytes{200, 100, 50, 200, 100, 50, 200, 100, 50});
  CHECK(HasNote(dropped, "transparency dropped"));

  DecodeOptions options;
  options.background = {0, 100, 250};
  const DecodedImage over = DecodeImage(file, options);
  CHECK(over.image.rgb == FileBytes{0, 100, 250, 200, 100, 50, 40, 100, 210});
  CHECK_FALSE(HasNote(over, "transparency"));
}

TEST_CASE("U-23 grey with alpha is grey thrice") {
  const FileBytes file = MakePng({.cols = 2,
                                  .rows = 1,
                                  .color_type = 4,
                                  .samples = {10, 255, 90, 128},
                                  .palette = {},
                                  .transparency = {}});
  CHECK(DecodeImage(file).image.rgb == FileBytes{10, 10, 10, 90, 90, 90});
  DecodeOptions options;
  options.background = {255, 255, 255};
  // 90 * 128 + 255 * 127 = 43905; / 255 = 172.2
  CHECK(DecodeImage(file, options).image.rgb == FileBytes{10, 10, 10, 172, 172, 172});
}

TEST_CASE("U-23 a palette is looked up, its transparency only with a background") {
  const FileBytes file = MakePng({.cols = 3,
                                  .rows = 1,
                                  .bit_depth = 2,
                                  .color_type = 3,
                                  .samples = {0b00011000},  // 0, 1, 2
                                  .palette = {255, 0, 0, 0, 255, 0, 1, 2, 3},
                                  .transparency = {0, 255}});
  const DecodedImage dropped = DecodeImage(file);
  CHECK(dropped.image.rgb == FileBytes{255, 0, 0, 0, 255, 0, 1, 2, 3});
  CHECK(HasNote(dropped, "transparency dropped"));
  DecodeOptions options;
  options.background = {9, 8, 7};
  CHECK(DecodeImage(file, options).image.rgb == FileBytes{9, 8, 7, 0, 255, 0, 1, 2, 3});
}

TEST_CASE("a PNG's transparent colour is dropped, or shows the background") {
  const FileBytes file = MakePng({.cols = 2,
                                  .rows = 1,
                                  .color_type = 2,
                                  .samples = {1, 2, 3, 4, 5, 6},
                                  .palette = {},
                                  .transparency = {0, 4, 0, 5, 0, 6}});
  CHECK(DecodeImage(file).image.rgb == FileBytes{1, 2, 3, 4, 5, 6});
  DecodeOptions options;
  options.background = {77, 88, 99};
  CHECK(DecodeImage(file, options).image.rgb == FileBytes{1, 2, 3, 77, 88, 99});
}

TEST_CASE("grey of 1, 2 and 4 bits spreads over 0 to 255") {
  const auto decode = [](int bits, uint8_t packed, uint32_t cols) {
    return DecodeImage(MakePng({.cols = cols,
                                .rows = 1,
                                .bit_depth = bits,
                                .color_type = 0,
                                .samples = {packed},
                                .palette = {},
                                .transparency = {}}))
        .image.rgb;
  };
  CHECK(decode(1, 0b01000000, 2) == FileBytes{0, 0, 0, 255, 255, 255});
  CHECK(decode(2, 0b00011011, 4) == FileBytes{0, 0, 0, 85, 85, 85, 170, 170, 170, 255, 255, 255});
  CHECK(decode(4, 0x3F, 2) == FileBytes{51, 51, 51, 255, 255, 255});
}

TEST_CASE("U-23 16-bit grey gives its high byte, or saturates as Pillow does") {
  FileBytes samples;
  for (const int v : {0, 128, 255, 256, 1000, 65535}) test::PutBig(samples, v, 2);
  const FileBytes file = MakePng({.cols = 6,
                                  .rows = 1,
                                  .bit_depth = 16,
                                  .color_type = 0,
                                  .samples = samples,
                                  .palette = {},
                                  .transparency = {}});
  const auto grays = [&file](Gray16 how) {
    DecodeOptions options;
    options.gray16 = how;
    const DecodedImage decoded = DecodeImage(file, options);
    CHECK(HasNote(decoded, "16-bit grey"));
    std::vector<int> values;
    for (size_t i = 0; i < decoded.image.rgb.size(); i += 3) {
      values.push_back(decoded.image.rgb[i]);
    }
    return values;
  };
  CHECK(grays(Gray16::kHighByte) == std::vector<int>{0, 0, 0, 1, 3, 255});
  CHECK(grays(Gray16::kPillow) == std::vector<int>{0, 128, 255, 255, 255, 255});
}

TEST_CASE("U-23 16-bit colour gives its high bytes whatever is asked of grey") {
  FileBytes samples;
  for (const int v : {0x1234, 0x56FF, 0x8080}) test::PutBig(samples, v, 2);
  const FileBytes png = MakePng({.cols = 1,
                                 .rows = 1,
                                 .bit_depth = 16,
                                 .color_type = 2,
                                 .samples = samples,
                                 .palette = {},
                                 .transparency = {}});
  DecodeOptions options;
  options.gray16 = Gray16::kPillow;
  CHECK(DecodeImage(png, options).image.rgb == FileBytes{18, 86, 128});
  CHECK(HasNote(DecodeImage(png, options), "16-bit colour"));

  FileBytes little;
  for (const int v : {0x1234, 0x56FF, 0x8080}) test::PutLittle(little, v, 2);
  const FileBytes tiff = MakeTiff({.cols = 1, .rows = 1, .bits = 16, .data = little});
  CHECK(DecodeImage(tiff, test::WithModule()).image.rgb == FileBytes{18, 86, 128});
}

TEST_CASE("U-23 16-bit grey TIFF, also where 0 is white") {
  FileBytes samples;
  for (const int v : {0, 255, 0x1234, 65535}) test::PutLittle(samples, v, 2);
  test::TiffParts parts = {
      .cols = 4, .rows = 1, .bits = 16, .samples = 1, .photometric = 1, .data = samples};
  CHECK(DecodeImage(MakeTiff(parts), test::WithModule()).image.rgb ==
        FileBytes{0, 0, 0, 0, 0, 0, 18, 18, 18, 255, 255, 255});
  DecodeOptions pillow = test::WithModule();
  pillow.gray16 = Gray16::kPillow;
  CHECK(DecodeImage(MakeTiff(parts), pillow).image.rgb ==
        FileBytes{0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255});
  parts.photometric = 0;
  CHECK(DecodeImage(MakeTiff(parts), test::WithModule()).image.rgb ==
        FileBytes{255, 255, 255, 255, 255, 255, 237, 237, 237, 0, 0, 0});
}

TEST_CASE("U-23 CMYK ink is taken off white as Pillow does") {
  const FileBytes inks = {255, 0, 100, 50, 10, 200, 30, 255, 0, 0, 0, 0};
  const FileBytes file =
      MakeTiff({.cols = 3, .rows = 1, .samples = 4, .photometric = 5, .data = inks});
  const DecodedImage decoded = DecodeImage(file, test::WithModule());
  CHECK(decoded.image.rgb == FileBytes{0, 205, 125, 0, 0, 0, 255, 255, 255});
  CHECK(HasNote(decoded, "CMYK"));

  FileBytes deep;  // the same in 16 bits, with low bytes that do not matter
  for (const uint8_t ink : inks) test::PutLittle(deep, ink * 256u + 77, 2);
  CHECK(DecodeImage(
            MakeTiff(
                {.cols = 3, .rows = 1, .bits = 16, .samples = 4, .photometric = 5, .data = deep}),
            test::WithModule())
            .image.rgb == decoded.image.rgb);
}

TEST_CASE("a TIFF's alpha: premultiplied is divided out, meaningless is ignored") {
  const FileBytes samples = {100, 50, 25, 128};
  test::TiffParts parts = {.cols = 1, .rows = 1, .samples = 4, .data = samples};
  parts.extra = 2;
  CHECK(DecodeImage(MakeTiff(parts), test::WithModule()).image.rgb == FileBytes{100, 50, 25});
  parts.extra = 1;  // 100 * 255 / 128 = 199.2
  CHECK(DecodeImage(MakeTiff(parts), test::WithModule()).image.rgb == FileBytes{199, 99, 49});
  parts.extra = 0;
  DecodeOptions options = test::WithModule();
  options.background = {0, 0, 0};
  CHECK(DecodeImage(MakeTiff(parts), options).image.rgb == FileBytes{100, 50, 25});
}

TEST_CASE("samples that are no unsigned integers are refused in a sentence") {
  const FileBytes file = MakeTiff({.cols = 1,
                                   .rows = 1,
                                   .bits = 32,
                                   .samples = 1,
                                   .photometric = 1,
                                   .format = 3,
                                   .data = FileBytes(4)});
  CHECK(FailureOf(file) ==
        "a TIFF of 32-bit floating-point samples is not read; expected unsigned integers of at "
        "most 16 bits");
}

TEST_CASE("PNM of any largest value is scaled to its whole range") {
  CHECK(DecodeImage(Text("P2 3 1 4\n0 2 4\n"), test::WithModule()).image.rgb ==
        FileBytes{0, 0, 0, 128, 128, 128, 255, 255, 255});
  CHECK(DecodeImage(Text("P1\n# bits\n3 1\n1 0 1\n"), test::WithModule()).image.rgb ==
        FileBytes{0, 0, 0, 255, 255, 255, 0, 0, 0});
  CHECK(DecodeImage(Text(std::string_view("P5 2 1 1023\n\x03\xff\x02\x00", 16)), test::WithModule())
            .image.rgb == FileBytes{255, 255, 255, 128, 128, 128});
}

TEST_CASE("an animation gives its first frame and says how many there are") {
  const auto folder = test::SharedFolder("corpus/misc");
  if (!folder) return;
  const DecodedImage webp = DecodeImage(test::ReadBytes(*folder / "iss634.webp"));
  CHECK(webp.notes == std::vector<std::string>{"animated: first of 42 frames"});
  const DecodedImage gif = DecodeImage(test::ReadBytes(*folder / "dispose_bgnd_rgba.gif"));
  CHECK(HasNote(gif, "animated: first of 5 frames"));
  const DecodedImage tiff =
      DecodeImage(test::ReadBytes(*folder / "multipage.tiff"), test::WithModule());
  CHECK(HasNote(tiff, "first of 3 pages"));
}

// A GIF of 4 x 2 pixels: colours 0 to 3, code size 2, index 3 transparent.
FileBytes TinyGif() {
  FileBytes file = Text("GIF89a");
  for (const int v : {5, 3}) test::PutLittle(file, v, 2);  // the canvas
  for (const int v : {0x81, 0, 0}) file.push_back(static_cast<uint8_t>(v));
  for (const int v : {0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255}) {
    file.push_back(static_cast<uint8_t>(v));
  }
  for (const int v : {0x21, 0xF9, 4, 1, 0, 0, 3, 0}) file.push_back(static_cast<uint8_t>(v));
  file.push_back(0x2C);
  for (const int v : {1, 1, 4, 2}) test::PutLittle(file, v, 2);
  file.push_back(0);
  // Clear, then one code a pixel (4 4 4 would be learnt strings), with a clear
  // between the rows so that codes stay 3 bits: 4 0 1 2 3 4 3 2 1 0 5.
  uint64_t bits = 0;
  int at = 0;
  for (const uint64_t code : {4, 0, 1, 4, 2, 3, 4, 3, 2, 4, 1, 0, 5}) {
    bits |= code << at;
    at += 3;
  }
  file.push_back(2);
  file.push_back(5);
  test::PutLittle(file, bits, 5);
  file.push_back(0);
  file.push_back(0x3B);
  return file;
}

TEST_CASE("a GIF's frame lies on its canvas, transparent around") {
  const DecodedImage decoded = DecodeImage(TinyGif());
  REQUIRE(decoded.image.size() == RowsCols{3, 5});
  const auto pixel = [](const Image& image, int y, int x) {
    const uint8_t* rgb = image.row(y) + x * 3;
    return std::array<int, 3>{rgb[0], rgb[1], rgb[2]};
  };
  CHECK(pixel(decoded.image, 0, 0) == std::array{0, 0, 255});
  CHECK(pixel(decoded.image, 1, 1) == std::array{0, 0, 0});
  CHECK(pixel(decoded.image, 1, 2) == std::array{255, 0, 0});
  CHECK(pixel(decoded.image, 1, 4) == std::array{0, 0, 255});
  CHECK(pixel(decoded.image, 2, 2) == std::array{0, 255, 0});
  CHECK(pixel(decoded.image, 2, 4) == std::array{0, 0, 0});
  CHECK(HasNote(decoded, "transparency dropped"));
  DecodeOptions options;
  options.background = {9, 9, 9};
  const DecodedImage over = DecodeImage(TinyGif(), options);
  CHECK(pixel(over.image, 0, 0) == std::array{9, 9, 9});
  CHECK(pixel(over.image, 1, 4) == std::array{9, 9, 9});
  CHECK(pixel(over.image, 1, 2) == std::array{255, 0, 0});
}

TEST_CASE("what is not read is refused by its name") {
  CHECK(FailureOf({}) == "the file is empty; expected a picture");
  CHECK_THAT(FailureOf(Text("hello, world, not a picture")),
             Contains("not a picture of a known format; expected one of JPEG, PNG, WebP"));
  CHECK_THAT(FailureOf(Text(std::string_view("\0\0\0\x18"
                                             "ftypheic",
                                             12))),
             Contains("HEIC"));
  CHECK_THAT(FailureOf(Text("%PDF-1.7")), Contains("a PDF file"));
  CHECK_THAT(FailureOf(Text("<svg xmlns=''/>")), Contains("an SVG drawing"));
  CHECK_THAT(FailureOf(Text("\x93NUMPY")), Contains("a NumPy array"));
}

TEST_CASE("without the codec module the error says what needs it") {
  const FileBytes file = Text("P5 2 1 255\nab");
  CHECK(FailureOf(file, {}) ==
        "PNM pictures need the codec module, which is not installed (JPEG, PNG, WebP and GIF "
        "pictures do not)");
  DecodeOptions wrong;
  wrong.codec_module = "/nowhere/attnmap-codecs.so";
  CHECK_THAT(FailureOf(file, wrong),
             Contains("PNM pictures need the codec module, which cannot be loaded: ") &&
                 Contains("/nowhere/attnmap-codecs.so"));
  // One that is there but is something else.
  wrong.codec_module = ATTNMAP_TEST_DATA "/corpus/expected.tsv";
  CHECK_THAT(FailureOf(file, wrong), Contains("cannot be loaded"));
}

TEST_CASE("more pixels than the limit are refused before they are decoded") {
  const FileBytes file = EncodeImage(test::Painting(30, 40), PictureFormat::kPng);
  DecodeOptions options;
  options.max_pixels = 1199;
  CHECK(FailureOf(file, options) ==
        "40 x 30 pixels (width x height) are more than the limit of 1199 pixels");
  options.max_pixels = 1200;
  CHECK(DecodeImage(file, options).image.size() == RowsCols{30, 40});
}

TEST_CASE("a damaged checksum of pixel data is a note, of a header an error") {
  FileBytes file = EncodeImage(test::Painting(8, 8), PictureFormat::kPng);
  const std::string_view name = "IDAT";
  const auto data = std::search(file.begin(), file.end(), name.begin(), name.end());
  const auto size = static_cast<ptrdiff_t>(data[-1] + 256 * data[-2]);
  data[4 + size] ^= 1;
  CHECK(HasNote(DecodeImage(file), "checksum"));
  file[18] ^= 1;  // the width
  CHECK_THAT(FailureOf(file), Contains("checksum of its header"));
}

TEST_CASE("an interlaced picture's rows come in order") {
  const auto folder = test::SharedFolder("corpus/png");
  if (!folder) return;
  const Image plain = DecodeImage(test::ReadBytes(*folder / "basn2c08.png")).image;
  const Image interlaced = DecodeImage(test::ReadBytes(*folder / "basi2c08.png")).image;
  CHECK(plain.rgb == interlaced.rgb);
}

}  // namespace
}  // namespace attnmap
