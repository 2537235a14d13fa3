#ifndef ATTNMAP_CORE_NUMBER_TEXT_H_
#define ATTNMAP_CORE_NUMBER_TEXT_H_

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace attnmap {

// Numbers as text for people, the same in any locale.

// Up to `digits` significant digits, none of them idle: 12, 0.5, 33.3333, 1e-05.
inline std::string Significant(double value, int digits) {
  char text[64];
  const auto end =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::general, digits).ptr;
  return {text, end};
}

// So many decimals: 12.50.
inline std::string Fixed(double value, int decimals) {
  char text[400];  // the largest double has 309 digits
  const auto end =
      std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed, decimals).ptr;
  return {text, end};
}

// "1 head", "4 heads".
inline std::string Counted(int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace attnmap

#endif  // ATTNMAP_CORE_NUMBER_TEXT_H_
