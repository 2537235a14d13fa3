#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "attnmap/core/error.h"
#include "attnmap/image/decode.h"
#include "attnmap/image/encode.h"
#include "image/codec_module_path.h"
#include "support/catch.h"
#include "support/picture_files.h"
#include "support/shared.h"

namespace attnmap {
namespace {

using test::FileBytes;

// The error's text, or nothing for a picture.
std::string WhyBroken(const FileBytes& file) {
  try {
    const DecodedImage decoded = DecodeImage(file, test::WithModule());
    const Image& image = decoded.image;
    REQUIRE(image.rgb.size() == static_cast<size_t>(image.rows) * image.cols * 3);
    REQUIRE(image.rows > 0);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

bool IsOneSentence(const std::string& text) {
  return text.size() > 10 && text.size() < 300 && text.find('\n') == std::string::npos &&
         text.back() != '.';
}

// Gathers what is written to file descriptor 2 while it lives.
class StderrToFile {
 public:
  StderrToFile() : file_(std::tmpfile()), saved_(dup(2)) {
    std::fflush(stderr);
    dup2(fileno(file_), 2);
  }
  ~StderrToFile() {
    if (saved_ >= 0) Restore();
    std::fclose(file_);
  }
  StderrToFile(const StderrToFile&) = delete;
  StderrToFile& operator=(const StderrToFile&) = delete;
  long Restore() {
    std::fflush(stderr);
    dup2(saved_, 2);
    close(saved_);
    saved_ = -1;
    return static_cast<long>(lseek(fileno(file_), 0, SEEK_END));
  }

 private:
  std::FILE* file_;
  int saved_;
};

long PeakKilobytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST_CASE("every broken file of the corpus gives a picture or one sentence, and prints nothing") {
  for (const char* name : {"corpus/broken", "corpus/fuzz-seeds"}) {
    const auto folder = test::SharedFolder(name);
    if (!folder) return;
    int pictures = 0;
    int errors = 0;
    StderrToFile watch;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(*folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string failure = WhyBroken(test::ReadBytes(entry.path()));
      INFO(entry.path().filename().string() << ": " << failure);
      if (!failure.empty()) REQUIRE(IsOneSentence(failure));
      ++(failure.empty() ? pictures : errors);
    }
    CHECK(watch.Restore() == 0);
    CHECK(pictures > 5);
    CHECK(errors > 10);
  }
}

FileBytes Encoded(const std::string& format) {
  const Image picture = test::Painting(61, 83);
  EncodeOptions how;
  how.codec_module = test::WithModule().codec_module;
  if (format == "png") return EncodeImage(picture, PictureFormat::kPng, how);
  if (format == "jpeg") return EncodeImage(picture, PictureFormat::kJpeg, how);
  if (format == "webp") return EncodeImage(picture, PictureFormat::kWebp, how);
  if (format == "tiff") return EncodeImage(picture, PictureFormat::kTiff, how);
  FileBytes pnm = {'P', '6', '\n', '8', '3', ' ', '6', '1', '\n', '2', '5', '5', '\n'};
  pnm.insert(pnm.end(), picture.rgb.begin(), picture.rgb.end());
  return pnm;
}

// What a file cut off at each 32nd part gives: an error, or every pixel of it
// (a PNG whose pixels are all there); never half a picture.
void CheckCutOff(const FileBytes& whole, const std::string& name) {
  const Image picture = DecodeImage(whole, test::WithModule()).image;
  for (size_t part = 0; part < 32; ++part) {
    const auto size = static_cast<ptrdiff_t>(whole.size() * part / 32);
    const FileBytes cut(whole.begin(), whole.begin() + size);
    const std::string failure = WhyBroken(cut);
    INFO(name << " cut to " << part << "/32: " << failure);
    if (failure.empty()) {
      const DecodedImage decoded = DecodeImage(cut, test::WithModule());
      CHECK(decoded.format == "png");
      CHECK(decoded.image.rgb == picture.rgb);
      CHECK(decoded.notes.back() == "the PNG file is cut off after its pixels");
    } else {
      CHECK(IsOneSentence(failure));
    }
  }
}

TEST_CASE("a file cut off anywhere is an error, never half a picture") {
  const std::string format = GENERATE("png", "jpeg", "webp", "tiff", "pnm");
  StderrToFile watch;
  CheckCutOff(Encoded(format), format);
  CHECK(watch.Restore() == 0);
}

TEST_CASE("photos of the corpus cut off anywhere are errors as well") {
  const auto folder = test::SharedFolder("corpus");
  if (!folder) return;
  const std::string name =
      GENERATE("jpeg/progressive3.jpg", "jpeg/ycck.jpg", "png/basi6a16.png", "misc/flower.webp",
               "misc/transparent.webp", "misc/iss634.webp", "misc/tiff_tiled_planar_lzw.tiff",
               "misc/hopper_16bit.pgm", "misc/hopper_rle8_grayscale.bmp");
  CheckCutOff(test::ReadBytes(*folder / name), name);
}

TEST_CASE("several threads decode good and broken files at once, each with its own outcome") {
  const Image picture = test::Painting(61, 83);
  EncodeOptions how;
  how.codec_module = test::WithModule().codec_module;
  const FileBytes tiff = EncodeImage(picture, PictureFormat::kTiff, how);
  FileBytes broken = tiff;
  std::fill(broken.begin() + 8, broken.begin() + 200, uint8_t{0xA5});  // within the pixels
  const FileBytes jpeg = EncodeImage(picture, PictureFormat::kJpeg);
  std::atomic<int> wrong{0};
  StderrToFile watch;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        try {
          const bool spoilt = (i + t) % 2 == 0;
          const Image image = DecodeImage(spoilt ? broken : tiff, test::WithModule()).image;
          wrong += spoilt || image.rgb != picture.rgb ? 1 : 0;
        } catch (const Error&) {
          wrong += (i + t) % 2 == 0 ? 0 : 1;
        }
        if (DecodeImage(jpeg).image.size() != picture.size()) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(watch.Restore() == 0);
  CHECK(wrong == 0);
}

TEST_CASE("a PNG without its end chunk still has all its pixels") {
  FileBytes file = Encoded("png");
  const Image whole = DecodeImage(file).image;
  file.resize(file.size() - 12);
  const DecodedImage decoded = DecodeImage(file);
  CHECK(decoded.image.rgb == whole.rgb);
  CHECK(decoded.notes == std::vector<std::string>{"the PNG file is cut off after its pixels"});
}

// Sizes whose pixels would be some hundred megabytes, within the limit.
TEST_CASE("huge sizes claimed by small files are refused without the memory for them") {
  FileBytes file;
  SECTION("PNG") {
    file = test::MakePng({.cols = 13000,
                          .rows = 13000,
                          .color_type = 2,
                          .samples = FileBytes(39000),
                          .palette = {},
                          .transparency = {}});
  }
  SECTION("JPEG") {
    file = Encoded("jpeg");
    const FileBytes marker = {0xFF, 0xC0};
    const auto frame = std::search(file.begin(), file.end(), marker.begin(), marker.end());
    REQUIRE(frame != file.end());
    frame[5] = frame[7] = 13000 >> 8;
    frame[6] = frame[8] = 13000 & 255;
  }
  SECTION("WebP") {
    file = Encoded("webp");
    const size_t size_at = 20 + 6;  // in the frame's header
    file[size_at] = file[size_at + 2] = 13000 & 255;
    file[size_at + 1] = file[size_at + 3] = 13000 >> 8;
  }
  SECTION("GIF") {
    file = {'G', 'I', 'F', '8', '9', 'a', 0xC8, 0x32, 0xC8, 0x32, 0, 0, 0, 0x2C, 0, 0, 0, 0};
    for (const int v : {0xC8, 0x32, 0xC8, 0x32, 0, 2, 1, 4, 0, 0x3B}) {
      file.push_back(static_cast<uint8_t>(v));
    }
  }
  SECTION("TIFF") {
    file = test::MakeTiff({.cols = 13000, .rows = 13000, .data = FileBytes(3000)});
  }
  SECTION("PNM") {
    const std::string_view text = "P6 13000 13000 255\nxyz";
    file.assign(text.begin(), text.end());
  }
  SECTION("BMP") {
    file = {'B', 'M'};
    test::PutLittle(file, 1000, 4);
    test::PutLittle(file, 0, 4);
    test::PutLittle(file, 54, 4);
    test::PutLittle(file, 40, 4);
    test::PutLittle(file, 13000, 4);
    test::PutLittle(file, 13000, 4);
    test::PutLittle(file, 1, 2);
    test::PutLittle(file, 24, 2);
    file.resize(1000);
  }
  WhyBroken({'P', '5', ' ', '1', ' ', '1', ' ', '9', '\n', 'x'});  // the module is loaded
  const long before = PeakKilobytes();
  const std::string failure = WhyBroken(file);
  INFO(failure);
  CHECK(IsOneSentence(failure));
  CHECK(PeakKilobytes() - before < 64 * 1024);
}

TEST_CASE("sizes over the limit are refused whatever the format") {
  FileBytes png = test::MakePng({.cols = 70000,
                                 .rows = 70000,
                                 .bit_depth = 1,
                                 .color_type = 0,
                                 .samples = FileBytes(8750),
                                 .palette = {},
                                 .transparency = {}});
  CHECK_THAT(WhyBroken(png), Catch::Matchers::Contains("more than the limit of 178956970"));
  CHECK_THAT(WhyBroken(test::MakeTiff({.cols = 70000, .rows = 70000, .data = FileBytes(3)})),
             Catch::Matchers::Contains("more than the limit of 178956970"));
}

}  // namespace
}  // namespace attnmap
