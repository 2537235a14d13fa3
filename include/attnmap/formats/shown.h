#ifndef ATTNMAP_FORMATS_SHOWN_H_
#define ATTNMAP_FORMATS_SHOWN_H_

#include <string>
#include <string_view>

namespace attnmap {

// Text from a file as a message can show it: in quotes, on one line, at most
// 100 characters; what is no printable UTF-8 becomes '?'.
std::string Shown(std::string_view text);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_SHOWN_H_
