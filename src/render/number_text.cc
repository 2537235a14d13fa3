#include "render/number_text.h"

#include <charconv>

namespace attnmap {
namespace {

std::string NumberText(double value, int digits) {
  char text[64];
  const auto [end, code] =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::general, digits);
  return code == std::errc() ? std::string(text, end) : std::string("?");
}

}  // namespace

RangeText TextOf(const ValueRange& range) {
  constexpr int kFewest = 3;
  constexpr int kMost = 9;  // float32 needs no more
  RangeText text;
  for (int digits = kFewest; digits <= kMost; ++digits) {
    text = {NumberText(range.low, digits), NumberText(range.high, digits)};
    if (text.low != text.high || range.low == range.high) break;
  }
  return text;
}

}  // namespace attnmap
