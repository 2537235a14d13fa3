#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "attnmap/core/error.h"
#include "attnmap/image/decode.h"
#include "support/catch.h"
#include "support/picture_files.h"
#include "support/shared.h"

// What Pillow makes of the corpus was written down by
// scripts/make-corpus-expectations, which explains the columns.

namespace attnmap {
namespace {

namespace fs = std::filesystem;
using test::ReadBytes;

struct Expectation {
  std::string file;
  std::string kind;
  int rows = 0;
  int cols = 0;
  std::string hash;
  int box = 1;
};

std::vector<Expectation> Expectations() {
  std::ifstream in(ATTNMAP_TEST_DATA "/corpus/expected.tsv");
  std::vector<Expectation> all;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    Expectation e;
    fields >> e.file >> e.kind >> e.rows >> e.cols >> e.hash >> e.box;
    all.push_back(e);
  }
  return all;
}

DecodeOptions AsPillow() {
  DecodeOptions options;
  options.gray16 = Gray16::kPillow;
  options.codec_module = ATTNMAP_BINARY_DIR "/attnmap-codecs.so";
  return options;
}

Image Averages(const Image& image, int side) {
  Image small(image.rows / side, image.cols / side);
  for (int y = 0; y < small.rows; ++y) {
    for (int x = 0; x < small.cols; ++x) {
      for (int c = 0; c < 3; ++c) {
        int sum = 0;
        for (int i = 0; i < side * side; ++i) {
          sum += image.row(y * side + i / side)[(x * side + i % side) * 3 + c];
        }
        const int count = side * side;
        small.row(y)[x * 3 + c] = static_cast<uint8_t>((2 * sum + count) / (2 * count));
      }
    }
  }
  return small;
}

Image Centre(const Image& image, RowsCols size) {
  Image part(size.rows, size.cols);
  const int top = (image.rows - size.rows) / 2;
  const int left = (image.cols - size.cols) / 2;
  for (int y = 0; y < size.rows; ++y) {
    std::copy_n(image.row(top + y) + left * 3, size.cols * 3, part.row(y));
  }
  return part;
}

void CheckLossy(const Expectation& e, const Image& image) {
  const std::string base = std::string(ATTNMAP_TEST_DATA "/corpus/") + e.file;
  const Image reference = DecodeImage(ReadBytes(base + ".png")).image;
  REQUIRE(Averages(image, e.box).size() == reference.size());
  CHECK(test::LargestDifference(Averages(image, e.box), reference) <= 2);
  if (e.box == 1) return;
  const Image centre = DecodeImage(ReadBytes(base + ".centre.png")).image;
  CHECK(test::LargestDifference(Centre(image, centre.size()), centre) <= 2);
}

TEST_CASE("U-23 every readable picture of the corpus decodes to what Pillow gives") {
  const auto corpus = test::SharedFolder("corpus");
  if (!corpus) return;
  const std::vector<Expectation> all = Expectations();
  REQUIRE(all.size() > 200);
  int identical = 0;
  int lossy = 0;
  for (const Expectation& e : all) {
    INFO(e.file);
    const test::FileBytes file = ReadBytes(*corpus / e.file);
    if (e.kind == "unreadable") continue;
    const Image image = DecodeImage(file, AsPillow()).image;
    REQUIRE(image.size() == RowsCols{e.rows, e.cols});
    if (e.kind == "lossless") {
      CHECK(test::Fnv1a(image.rgb) == e.hash);
      continue;
    }
    REQUIRE(e.kind == "lossy");
    CheckLossy(e, image);
    ++lossy;
    identical += test::Fnv1a(image.rgb) == e.hash ? 1 : 0;
  }
  if (identical < lossy) {
    WARN(identical << " of " << lossy << " lossy pictures are Pillow's to the last bit");
  }
}

TEST_CASE("what Pillow refuses ends in one clear error or a whole picture") {
  const auto corpus = test::SharedFolder("corpus");
  if (!corpus) return;
  for (const Expectation& e : Expectations()) {
    if (e.kind != "unreadable") continue;
    INFO(e.file);
    CHECK_THROWS_AS(DecodeImage(ReadBytes(*corpus / e.file), AsPillow()), Error);
  }
}

TEST_CASE("the corpus holds no picture that is not written down") {
  const auto corpus = test::SharedFolder("corpus");
  if (!corpus) return;
  std::map<std::string, int> known;
  for (const Expectation& e : Expectations()) ++known[e.file];
  for (const char* folder : {"png", "jpeg", "exif", "misc"}) {
    for (const auto& entry : fs::directory_iterator(*corpus / folder)) {
      const std::string name = entry.path().filename().string();
      if (name.rfind("LICENSE", 0) == 0) continue;
      if (known[std::string(folder) + "/" + name] != 1) {
        WARN(folder << "/" << name << " is new: run scripts/make-corpus-expectations");
      }
    }
  }
}

}  // namespace
}  // namespace attnmap
