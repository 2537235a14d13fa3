#ifndef ATTNMAP_FORMATS_TEXT_H_
#define ATTNMAP_FORMATS_TEXT_H_

#include <string>
#include <string_view>

#include "attnmap/formats/shown.h"  // Shown

namespace attnmap {

// The text as a JSON string, quotes included; what is no UTF-8 becomes U+FFFD.
std::string JsonString(std::string_view text);

// Length of the valid UTF-8 sequence at the start of `text`; 0: there is none.
size_t Utf8Length(std::string_view text);

// Whether the text is valid UTF-8 without control characters, as names are.
bool IsPlainText(std::string_view text);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_TEXT_H_
