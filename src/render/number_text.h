#ifndef ATTNMAP_RENDER_NUMBER_TEXT_H_
#define ATTNMAP_RENDER_NUMBER_TEXT_H_

#include <string>

#include "attnmap/render/picture.h"

namespace attnmap {

struct RangeText {
  std::string low;
  std::string high;
};

// Both ends with three significant digits, or as many more as tell them apart.
RangeText TextOf(const ValueRange& range);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_NUMBER_TEXT_H_
