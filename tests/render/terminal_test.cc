#include "attnmap/render/terminal.h"

#include <algorithm>

#include "attnmap/image/decode.h"
#include "render/base64.h"
#include "render/render_support.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using test::Filled;

Image TwoByTwo() {
  Image image(2, 2);
  image.rgb = {255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 255};
  return image;
}

TEST_CASE("half blocks: upper pixel in front, lower behind, a colour said once") {
  CHECK(TerminalText(TwoByTwo(), {TerminalStyle::kTrueColour, 2}) ==
        "\x1b[38;2;255;0;0;48;2;0;0;255m▀\x1b[38;2;0;255;0;48;2;0;0;255m▀\x1b[0m\n");
  CHECK(TerminalText(Filled({1, 2}, {1, 2, 3}), {TerminalStyle::kTrueColour, 2}) ==
        "\x1b[38;2;1;2;3;49m▀▀\x1b[0m\n");  // an odd last row
}

TEST_CASE("256 colours: the cube's corners and the greys of xterm") {
  CHECK(TerminalText(TwoByTwo(), {TerminalStyle::k256, 2}) ==
        "\x1b[38;5;196;48;5;21m▀\x1b[38;5;46;48;5;21m▀\x1b[0m\n");
  const auto code = [](test::Rgb colour) {
    const std::string text = TerminalText(Filled({1, 1}, colour), {TerminalStyle::k256, 1});
    return text.substr(7, text.find(';', 7) - 7);
  };
  CHECK(code({0, 0, 0}) == "16");
  CHECK(code({255, 255, 255}) == "231");
  CHECK(code({8, 8, 8}) == "232");
  CHECK(code({128, 128, 128}) == "244");
  CHECK(code({238, 238, 238}) == "255");
}

TEST_CASE("ASCII: darker to lighter, no colour") {
  Image image(1, 3);
  image.rgb = {0, 0, 0, 128, 128, 128, 255, 255, 255};
  CHECK(TerminalText(image, {TerminalStyle::kAscii, 3}) == " =@\n");
}

TEST_CASE("kitty: a PNG in chunks of 4096 letters that reads back as the picture") {
  Image image(40, 80);
  uint32_t noise = 1;  // does not compress
  for (uint8_t& level : image.rgb) {
    noise = noise * 1664525 + 1013904223;
    level = static_cast<uint8_t>(noise >> 24);
  }
  const std::string text = TerminalText(image, {TerminalStyle::kKitty, 8});
  CHECK(text.starts_with("\x1b_Gf=100,a=T,q=2,c=8,m=1;"));
  std::string data;
  int chunks = 0;
  for (size_t at = 0; (at = text.find("\x1b_G", at)) != std::string::npos; ++chunks) {
    const size_t begin = text.find(';', at) + 1;
    const size_t end = text.find("\x1b\\", begin);
    CHECK(end - begin <= 4096);
    data += text.substr(begin, end - begin);
    at = end;
  }
  CHECK(chunks > 1);
  std::vector<uint8_t> bytes;
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  uint32_t bits = 0;
  int count = 0;
  for (char c : data) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<uint32_t>(letters.find(c));
    count += 6;
    if (count >= 8) bytes.push_back(static_cast<uint8_t>(bits >> (count -= 8)));
  }
  CHECK(DecodeImage(bytes, {}).image.rgb == image.rgb);
}

TEST_CASE("sixel: bands of six rows, every pixel painted once") {
  const std::string text = TerminalText(Filled({7, 5}, {255, 0, 0}), {TerminalStyle::kSixel, 1});
  CHECK(text.starts_with("\x1bPq\"1;1;5;7#0;2;0;0;0#1;2;0;0;20"));
  CHECK(text.ends_with("\x1b\\\n"));
  // 180 is pure red: six rows full ('~'), then one ('@'), five columns each.
  CHECK(text.find("#180!5~$-#180!5@$-") != std::string::npos);
}

TEST_CASE("U-07 pictures keep their aspect in the terminal") {
  CHECK(TerminalPixels({400, 600}, {TerminalStyle::k256, 80}) == RowsCols{53, 80});
  CHECK(TerminalPixels({400, 600}, {TerminalStyle::kAscii, 80}) == RowsCols{27, 80});
  CHECK(TerminalPixels({600, 400}, {TerminalStyle::k256, 80}) == RowsCols{80, 53});
  CHECK(TerminalPixels({400, 600}, {TerminalStyle::kKitty, 80}) == RowsCols{533, 800});
  CHECK(TerminalPixels({1, 5000}, {TerminalStyle::k256, 80}) == RowsCols{1, 80});
  // Letters of 8 x 16 pixels; at most 20 lines.
  CHECK(TerminalPixels({400, 600}, {TerminalStyle::kSixel, 80, 0, {16, 8}}) == RowsCols{427, 640});
  CHECK(TerminalPixels({400, 600}, {TerminalStyle::k256, 80, 20}) == RowsCols{40, 60});
  CHECK(TerminalPixels({400, 600}, {TerminalStyle::kAscii, 80, 20}) == RowsCols{20, 60});
  CHECK(TerminalPixels({400, 600}, {TerminalStyle::kKitty, 80, 20, {16, 8}}) == RowsCols{320, 480});
}

TEST_CASE("base64 as RFC 4648 has it") {
  const auto encode = [](std::string_view text) {
    return Base64({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  };
  CHECK(encode("").empty());
  CHECK(encode("f") == "Zg==");
  CHECK(encode("fo") == "Zm8=");
  CHECK(encode("foo") == "Zm9v");
  CHECK(encode("foobar") == "Zm9vYmFy");
}

}  // namespace
}  // namespace attnmap
