#ifndef ATTNMAP_CORE_ONE_LINE_H_
#define ATTNMAP_CORE_ONE_LINE_H_

#include <string>
#include <string_view>

namespace attnmap {

// The text on one line that moves no cursor: control characters (C0, DEL, and
// C1 as UTF-8 has them) become blanks. For what may hold a file's name.
inline std::string OneLine(std::string_view text) {
  std::string line;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool c1 = byte >= 0x80 && byte < 0xA0 && !line.empty() && line.back() == '\xC2';
    if (c1) line.back() = ' ';
    if (!c1) line += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  return line;
}

}  // namespace attnmap

#endif  // ATTNMAP_CORE_ONE_LINE_H_
