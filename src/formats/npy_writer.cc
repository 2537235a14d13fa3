#include "formats/npy_writer.h"

#include <cstring>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "formats/array_checks.h"

namespace attnmap {
namespace {

// Python's tuple: (), (3,), (2, 3).
std::string PythonTuple(const Shape& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ' ';
    text += std::to_string(shape[i]) + ',';
  }
  if (shape.size() > 1) text.pop_back();
  return text + ')';
}

}  // namespace

std::string NpyPreamble(const Shape& shape) {
  constexpr size_t kBefore = 10;  // magic, version, length of the rest
  std::string dict =
      "{'descr': '<f4', 'fortran_order': False, 'shape': " + PythonTuple(shape) + ", }";
  dict.append(63 - (kBefore + dict.size()) % 64, ' ');
  dict += '\n';
  if (dict.size() > 0xFFFF) {
    throw Error("npy cannot hold " + std::to_string(shape.size()) + " dimensions");
  }
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dict.size() & 0xFF);
  header += static_cast<char>(dict.size() >> 8);
  return header + dict;
}

std::vector<uint8_t> NpyBytes(const Shape& shape, std::span<const float> values) {
  RequireCount(shape, values);
  const std::string header = NpyPreamble(shape);
  std::vector<uint8_t> bytes(header.size() + values.size_bytes());
  std::memcpy(bytes.data(), header.data(), header.size());
  if (!values.empty()) {
    std::memcpy(bytes.data() + header.size(), values.data(), values.size_bytes());
  }
  return bytes;
}

}  // namespace attnmap
