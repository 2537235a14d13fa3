#ifndef ATTNMAP_FORMATS_SAFETENSORS_HEADER_H_
#define ATTNMAP_FORMATS_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attnmap/formats/archive.h"

namespace attnmap {

// More bytes of JSON than this in front of the numbers are refused, as the format's own library
// does.
constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

// The JSON in front of a safetensors file, read and checked by itself: names,
// types, shapes and sizes. Offsets count from behind the header.
struct SafetensorsHeader {
  struct Span {
    uint64_t begin = 0;
    uint64_t end = 0;
  };
  std::vector<TensorInfo> tensors;
  std::vector<Span> spans;              // one a tensor
  std::vector<std::string> type_names;  // as written, one a tensor
  std::unordered_map<std::string, std::string> metadata;
};

// Throws Error starting with `path`.
SafetensorsHeader ParseSafetensorsHeader(std::string_view json, const std::string& path);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_SAFETENSORS_HEADER_H_
