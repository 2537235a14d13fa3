#include "render/font.h"

#include "attnmap/core/error.h"
#include "render/render_support.h"
#include "render/text_order.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using test::kFont;

// The smallest box around all that is not white; empty: rows 0.
Box InkBox(const Image& image) {
  Box box{image.rows, image.cols, 0, 0};
  int bottom = 0, right = 0;
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.cols; ++x) {
      if (test::At(image, y, x) == test::Rgb{255, 255, 255}) continue;
      box.top = std::min(box.top, y);
      box.left = std::min(box.left, x);
      bottom = std::max(bottom, y + 1);
      right = std::max(right, x + 1);
    }
  }
  box.rows = std::max(bottom - box.top, 0);
  box.cols = std::max(right - box.left, 0);
  return box;
}

Image Drawn(Font& font, std::string_view text, Colour ink = {0, 0, 0}) {
  Image image = test::Filled({60, 400}, {255, 255, 255});
  font.Draw(image, 40, 10, text, ink);
  return image;
}

TEST_CASE("code points of UTF-8, and the replacement for what is none") {
  const auto all = [](std::string_view text) {
    std::u32string codes;
    while (!text.empty()) codes += NextCodePoint(text);
    return codes;
  };
  CHECK(all("aé€😀") == U"aé€😀");
  CHECK(all("\xC3") == U"\uFFFD");            // cut short
  CHECK(all("\xC3z") == U"\uFFFDz");          // cut short, then a letter
  CHECK(all("\xC0\xAF") == U"\uFFFD\uFFFD");  // a longer form than needed
  CHECK(all("\xE0\x80\xAFz") == U"\uFFFD\uFFFD\uFFFDz");
  CHECK(all("\xED\xA0\x80").front() == 0xFFFD);  // half a pair
  CHECK(all("\xF5\x80\x80\x80").front() == 0xFFFD);
  CHECK(all("\xFF").front() == 0xFFFD);
}

TEST_CASE("text stays within the width and height that were measured") {
  Font font(kFont, 12);
  for (int pixels : {9, 12, 17, 24}) {
    font.SetSize(pixels);
    for (const char* text : {"layer 3 head 2", "0.000412", "jQÅgß", "Привет", "W", "fj"}) {
      INFO(text << " at " << pixels);
      const Box ink = InkBox(Drawn(font, text));
      CHECK(ink.rows > 0);
      CHECK(ink.left >= 10 - 1);
      CHECK(ink.right() <= 10 + font.Width(text));
      CHECK(ink.top >= 40 - font.ascent());
      CHECK(ink.bottom() <= 40 - font.ascent() + font.line_height());
    }
  }
}

TEST_CASE("the font that ships has the letters labels are made of") {
  Font font(kFont, 16);
  const Image box = Drawn(font, "\uE000");
  CHECK(InkBox(box).rows > 0);  // a missing character shows as a box
  CHECK(Drawn(font, "\U0010FFFD").rgb == box.rgb);
  for (const char* text : {"é", "ß", "Ω", "Ж", "ا", "ש", "–", "…", "1"}) {
    INFO(text);
    CHECK(Drawn(font, text).rgb != box.rgb);
    CHECK(InkBox(Drawn(font, text)).rows > 0);
  }
}

TEST_CASE("letters are antialiased in the colour asked for") {
  Font font(kFont, 20);
  const Image image = Drawn(font, "Sonne", {200, 0, 0});
  int solid = 0, between = 0;
  for (size_t i = 0; i < image.rgb.size(); i += 3) {
    CHECK(image.rgb[i] >= 200);
    CHECK(image.rgb[i + 1] == image.rgb[i + 2]);
    solid += image.rgb[i + 1] == 0 ? 1 : 0;
    between += image.rgb[i + 1] > 0 && image.rgb[i + 1] < 255 ? 1 : 0;
  }
  CHECK(solid > 20);
  CHECK(between > 20);
}

TEST_CASE("text beyond the picture is left out") {
  Font font(kFont, 20);
  Image image = test::Filled({8, 8}, {255, 255, 255});
  font.Draw(image, 4, -5, "Mg", {0, 0, 0});
  font.Draw(image, 300, 300, "Mg", {0, 0, 0});
  font.Draw(image, -300, -300, "Mg", {0, 0, 0});
  CHECK(InkBox(image).rows > 0);
}

TEST_CASE("long text is shortened to fit, at whole characters") {
  Font font(kFont, 12);
  const std::string text = "ein sehr langer Name für ein Bild – größer als der Platz";
  CHECK(font.Shortened(text, 10000) == text);
  std::string previous;
  for (int width : {20, 60, 100, 200}) {
    const std::string shorter = font.Shortened(text, width);
    CHECK(font.Width(shorter) <= width);
    CHECK(shorter.size() > previous.size());
    CHECK(shorter.ends_with("…"));
    for (std::string_view rest = shorter; !rest.empty();) CHECK(NextCodePoint(rest) != 0xFFFD);
    previous = shorter;
  }
  CHECK(font.Shortened(text, 2).empty());
}

TEST_CASE("U-07 names in any script: joined Arabic, a box and a word where there is no letter") {
  Font font(kFont, 20);
  for (const char* text : {"кошка", "γάτα", "חתול", "قطة", "größe.png"}) {
    INFO(text);
    CHECK(font.Has(text));
    CHECK(InkBox(Drawn(font, text)).rows > 0);
  }
  for (const char* text : {"猫", "ねこ", "고양이", "\xFF"}) {
    INFO(text);
    CHECK_FALSE(font.Has(text));
    CHECK(InkBox(Drawn(font, text)).rows > 0);
  }
  // A font that is asked only for what the first lacks; one that is not there is passed over.
  Font other(kFont, 20, {"/nowhere/a.ttf", ATTNMAP_SOURCE_DIR "/data/fonts/README.md"});
  CHECK_FALSE(other.Has("猫"));
  CHECK(Drawn(other, "猫").rgb == Drawn(font, "猫").rgb);
}

TEST_CASE("runs: a piece for each font, where the glyphs are drawn") {
  Font font(kFont, 20, {test::kCatCff, test::kCatTrueType});
  const auto runs = font.Runs("ab猫c");
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].file == kFont);
  CHECK(runs[0].text == "ab");
  CHECK(runs[0].left == 0);
  CHECK(runs[1].file == test::kCatCff);
  CHECK(runs[1].text == "猫");
  CHECK(runs[2].text == "c");
  CHECK(runs[2].left == runs[1].left + 20);  // the cat is an em wide
  // The cat's ink begins a tenth of an em behind its pen.
  CHECK(InkBox(Drawn(font, "猫")).left == 12);
}

TEST_CASE("a font that is missing or none is a clear error") {
  CHECK_THROWS_WITH(Font("/nowhere/a.ttf", 12),
                    "the font /nowhere/a.ttf is missing or is not a font");
  CHECK_THROWS_AS(Font(ATTNMAP_SOURCE_DIR "/data/fonts/README.md", 12), Error);
  CHECK_THROWS_AS(Font("", 12), Error);
}

}  // namespace
}  // namespace attnmap
