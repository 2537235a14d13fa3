#ifndef ATTNMAP_PIPELINE_TEXT_TABLE_H_
#define ATTNMAP_PIPELINE_TEXT_TABLE_H_

#include <algorithm>
#include <string>

namespace attnmap {

// Filled with blanks to so many bytes; longer text stays as it is.
inline std::string Right(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}
inline std::string Left(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_TEXT_TABLE_H_
