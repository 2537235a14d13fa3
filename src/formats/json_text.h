#ifndef ATTNMAP_FORMATS_JSON_TEXT_H_
#define ATTNMAP_FORMATS_JSON_TEXT_H_

#include <functional>
#include <span>
#include <string>

#include "attnmap/core/tensor.h"

namespace attnmap {

// Nested arrays appended to `text`. `row_done` is called behind each innermost
// array and may take what is there already. REQUIRES: rank >= 1.
void AppendNestedArray(std::string& text, std::span<const int64_t> shape,
                       std::span<const float> values,
                       const std::function<void(std::string&)>& row_done);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_JSON_TEXT_H_
