#include "render/number_text.h"

#include "attnmap/core/number_text.h"

namespace attnmap {

RangeText TextOf(const ValueRange& range) {
  constexpr int kFewest = 3;
  constexpr int kMost = 9;  // float32 needs no more
  RangeText text;
  for (int digits = kFewest; digits <= kMost; ++digits) {
    text = {Significant(range.low, digits), Significant(range.high, digits)};
    if (text.low != text.high || range.low == range.high) break;
  }
  return text;
}

}  // namespace attnmap
