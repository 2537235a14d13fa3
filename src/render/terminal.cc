#include "attnmap/render/terminal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "attnmap/image/encode.h"
#include "render/base64.h"
#include "render/paint_heads.h"

namespace attnmap {
namespace {

constexpr std::array<int, 6> kCubeLevels = {0, 95, 135, 175, 215, 255};

int NearestLevel(int value) {
  const auto nearer = [&](int a, int b) { return std::abs(a - value) < std::abs(b - value); };
  return static_cast<int>(std::min_element(kCubeLevels.begin(), kCubeLevels.end(), nearer) -
                          kCubeLevels.begin());
}

int Distance(const uint8_t* rgb, int r, int g, int b) {
  return (rgb[0] - r) * (rgb[0] - r) + (rgb[1] - g) * (rgb[1] - g) + (rgb[2] - b) * (rgb[2] - b);
}

// xterm's palette: 16 + a cube of six levels, then 24 greys.
int NearestOf256(const uint8_t* rgb) {
  const std::array<int, 3> cube = {NearestLevel(rgb[0]), NearestLevel(rgb[1]),
                                   NearestLevel(rgb[2])};
  const auto level = [&](size_t c) { return kCubeLevels[static_cast<size_t>(cube[c])]; };
  const int grey = std::clamp((rgb[0] + rgb[1] + rgb[2] - 24 + 15) / 30, 0, 23);
  const int shade = 8 + 10 * grey;
  if (Distance(rgb, shade, shade, shade) < Distance(rgb, level(0), level(1), level(2))) {
    return 232 + grey;
  }
  return 16 + 36 * cube[0] + 6 * cube[1] + cube[2];
}

// The escape code's colour part, "38;..." in front, "48;..." behind.
std::string ColourCode(bool front, const uint8_t* rgb, bool true_colour) {
  const std::string which = front ? "38;" : "48;";
  if (!true_colour) return which + "5;" + std::to_string(NearestOf256(rgb));
  return which + "2;" + std::to_string(rgb[0]) + ";" + std::to_string(rgb[1]) + ";" +
         std::to_string(rgb[2]);
}

// An upper half block shows the upper pixel in front and the lower one behind.
std::string HalfBlocks(const Image& image, bool true_colour) {
  std::string text;
  for (int y = 0; y < image.rows; y += 2) {
    std::string front, back;
    for (int x = 0; x < image.cols; ++x) {
      const std::ptrdiff_t at = std::ptrdiff_t{3} * x;
      const std::string upper = ColourCode(true, image.row(y) + at, true_colour);
      const bool below = y + 1 < image.rows;
      const std::string lower =
          below ? ColourCode(false, image.row(y + 1) + at, true_colour) : std::string("49");
      if (upper != front || lower != back) text += "\x1b[" + upper + ";" + lower + "m";
      front = upper;
      back = lower;
      text += "▀";
    }
    text += "\x1b[0m\n";
  }
  return text;
}

std::string AsciiShades(const Image& image) {
  constexpr std::string_view kShades = " .:-=+*#%@";
  std::string text;
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.cols; ++x) {
      const size_t grey = Grey(image.row(y) + std::ptrdiff_t{3} * x);
      text += kShades[grey * (kShades.size() - 1) / 255];
    }
    text += '\n';
  }
  return text;
}

std::string Kitty(const Image& image, int letter_cols) {
  const int cols = std::max(1, image.cols / std::max(1, letter_cols));
  constexpr size_t kChunk = 4096;
  const std::string data = Base64(EncodeImage(image, PictureFormat::kPng));
  std::string text;
  for (size_t at = 0; at < data.size(); at += kChunk) {
    const bool more = at + kChunk < data.size();
    text += "\x1b_G";
    // A PNG, transmitted and shown at once, over so many letters; no answer wanted.
    if (at == 0) text += "f=100,a=T,q=2,c=" + std::to_string(cols) + ",";
    text += std::string("m=") + (more ? "1" : "0") + ";" + data.substr(at, kChunk) + "\x1b\\";
  }
  return text + "\n";
}

// Six levels a channel, dithered with a 4 x 4 Bayer matrix.
int SixelColour(const uint8_t* rgb, int y, int x) {
  constexpr int kBayer[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
  const double threshold = (kBayer[y % 4][x % 4] + 0.5) / 16;
  int index = 0;
  for (int c = 0; c < 3; ++c) {
    index = index * 6 + std::min(5, static_cast<int>(rgb[c] / 255.0 * 5 + threshold));
  }
  return index;
}

void AddRun(char letter, int count, std::string& text) {
  if (count > 3) {
    text += "!" + std::to_string(count) + letter;
  } else {
    text.append(static_cast<size_t>(count), letter);
  }
}

// One colour's pixels of a band of six rows.
void AddBandColour(const std::vector<std::vector<int>>& band, int colour, std::string& text) {
  text += "#" + std::to_string(colour);
  char last = 0;
  int count = 0;
  for (size_t x = 0; x < band[0].size(); ++x) {
    int bits = 0;
    for (size_t k = 0; k < band.size(); ++k) bits |= (band[k][x] == colour ? 1 : 0) << k;
    const char letter = static_cast<char>(63 + bits);
    if (letter != last && count > 0) AddRun(last, count, text);
    count = letter == last ? count + 1 : 1;
    last = letter;
  }
  if (last != 63) AddRun(last, count, text);
  text += "$";
}

std::string Sixel(const Image& image) {
  std::string text = "\x1bPq\"1;1;" + std::to_string(image.cols) + ";" + std::to_string(image.rows);
  for (int i = 0; i < 216; ++i) {
    text += "#" + std::to_string(i) + ";2;" + std::to_string(i / 36 * 20) + ";" +
            std::to_string(i / 6 % 6 * 20) + ";" + std::to_string(i % 6 * 20);
  }
  for (int top = 0; top < image.rows; top += 6) {
    std::vector<std::vector<int>> band;
    std::array<bool, 216> used = {};
    for (int y = top; y < std::min(top + 6, image.rows); ++y) {
      band.emplace_back();
      for (int x = 0; x < image.cols; ++x) {
        band.back().push_back(SixelColour(image.row(y) + std::ptrdiff_t{3} * x, y, x));
        used[static_cast<size_t>(band.back().back())] = true;
      }
    }
    for (int i = 0; i < 216; ++i) {
      if (used[static_cast<size_t>(i)]) AddBandColour(band, i, text);
    }
    text += "-";
  }
  return text + "\x1b\\\n";
}

}  // namespace

RowsCols TerminalPixels(RowsCols picture, const TerminalOptions& options) {
  const bool graphics =
      options.style == TerminalStyle::kKitty || options.style == TerminalStyle::kSixel;
  // Pixels of a letter, and how high one is, measured in its width.
  const RowsCols letter =
      graphics ? RowsCols{std::max(1, options.letter.rows), std::max(1, options.letter.cols)}
               : RowsCols{options.style == TerminalStyle::kAscii ? 1 : 2, 1};
  const double height = options.style == TerminalStyle::kAscii ? 2 : 1;
  const int side = std::max(1, options.cols) * letter.cols;
  double scale = static_cast<double>(side) / std::max(picture.rows, picture.cols);
  if (options.rows > 0) {
    scale = std::min(scale, height * options.rows * letter.rows / picture.rows);
  }
  return {std::max(1, static_cast<int>(std::lround(picture.rows * scale / height))),
          std::max(1, static_cast<int>(std::lround(picture.cols * scale)))};
}

std::string TerminalText(const Image& image, const TerminalOptions& options) {
  switch (options.style) {
    case TerminalStyle::kTrueColour:
      return HalfBlocks(image, true);
    case TerminalStyle::k256:
      return HalfBlocks(image, false);
    case TerminalStyle::kAscii:
      return AsciiShades(image);
    case TerminalStyle::kKitty:
      return Kitty(image, options.letter.cols);
    case TerminalStyle::kSixel:
      return Sixel(image);
  }
  return {};
}

}  // namespace attnmap
