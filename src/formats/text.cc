#include "formats/text.h"

#include <cstdint>

namespace attnmap {

size_t Utf8Length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  // Overlong forms, surrogates and what lies beyond U+10FFFF.
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F)) return 0;
  if ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) return 0;
  return length;
}

bool IsPlainText(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text.substr(i));
    const auto byte = static_cast<uint8_t>(text[i]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) return false;
    i += length;
  }
  return true;
}

std::string Shown(std::string_view text) {
  constexpr size_t kLimit = 100;
  std::string shown = "'";
  for (size_t i = 0; i < text.size();) {
    if (shown.size() > kLimit) {
      shown += "...";
      break;
    }
    const size_t length = Utf8Length(text.substr(i));
    const auto byte = static_cast<uint8_t>(text[i]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      shown += '?';
      ++i;
    } else {
      shown += text.substr(i, length);
      i += length;
    }
  }
  return shown + "'";
}

std::string JsonString(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string json = "\"";
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text.substr(i));
    const auto byte = static_cast<uint8_t>(text[i]);
    if (length == 0) {
      json += "\xEF\xBF\xBD";
    } else if (byte == '"' || byte == '\\') {
      json += {'\\', text[i]};
    } else if (byte < 0x20) {
      json += std::string("\\u00") + kHex[byte >> 4] + kHex[byte & 15U];
    } else {
      json += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return json + '"';
}

}  // namespace attnmap
