#include "formats/array_checks.h"

#include <string_view>
#include <unordered_set>

#include "attnmap/core/error.h"
#include "attnmap/formats/shown.h"

namespace attnmap {

void RequireCount(const Shape& shape, std::span<const float> values) {
  if (NumElements(shape) != static_cast<int64_t>(values.size())) {
    throw Error("cannot write " + std::to_string(values.size()) + " numbers as " + ToString(shape));
  }
}

void RequireWritable(std::span<const ArrayToWrite> arrays) {
  std::unordered_set<std::string_view> names;
  for (const ArrayToWrite& array : arrays) {
    RequireCount(array.shape, array.values);
    if (!names.insert(array.name).second) {
      throw Error("cannot write two arrays of the name " + Shown(array.name));
    }
  }
}

}  // namespace attnmap
