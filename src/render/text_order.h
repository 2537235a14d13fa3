#ifndef ATTNMAP_RENDER_TEXT_ORDER_H_
#define ATTNMAP_RENDER_TEXT_ORDER_H_

#include <string>
#include <string_view>

namespace attnmap {

inline constexpr char32_t kReplacement = 0xFFFD;

// The next code point of UTF-8 text, which is shortened by it. U+FFFD for what
// is none. REQUIRES: !text.empty().
char32_t NextCodePoint(std::string_view& text);

// The characters of UTF-8 text in the order they are drawn, left to right: runs
// of Hebrew and Arabic turned, Arabic letters in the form their neighbours
// give them (Unicode's presentation forms, lam-alef as one). Enough for names
// in labels; not the whole of Unicode's bidirectional algorithm.
std::u32string VisualOrder(std::string_view text);

std::string Utf8(const std::u32string& codes);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_TEXT_ORDER_H_
