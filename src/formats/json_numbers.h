#ifndef ATTNMAP_FORMATS_JSON_NUMBERS_H_
#define ATTNMAP_FORMATS_JSON_NUMBERS_H_

#include <string>

#include "attnmap/core/tensor.h"
#include "attnmap/formats/file.h"
#include "formats/float_buffer.h"
#include "formats/json_events.h"

namespace attnmap {

inline constexpr size_t kMaxJsonRank = 8;

// What is wrong with an array of numbers, the cursor being at the place.
struct NumbersError {
  std::string element;  // "[3][0]", "" for the array itself
  std::string what;
};

// Reads nested arrays of JSON numbers. The cursor stands behind the first "["
// and is left just before the "]" that belongs to it. Each number is rounded
// once, from its text, to the nearest float32 and appended to `numbers`; all
// rows of a level must be of one length. Pages of `file` that were read are
// given back. Returns the shape. Throws NumbersError.
Shape ReadJsonNumbers(JsonCursor& cursor, size_t max_rank, const MappedFile& file,
                      FloatBuffer& numbers);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_JSON_NUMBERS_H_
