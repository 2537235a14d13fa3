#ifndef ATTNMAP_TESTS_ANALYSIS_GOLDEN_H_
#define ATTNMAP_TESTS_ANALYSIS_GOLDEN_H_

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "attnmap/core/tensor.h"

namespace attnmap::test {

// A tensor of data/methods-vit.
inline Tensor ReadGolden(const std::string& name, Shape shape) {
  const std::string path = ATTNMAP_SOURCE_DIR "/tests/analysis/data/methods-vit/" + name + ".f32";
  Tensor tensor(std::move(shape));
  std::ifstream in(path, std::ios::binary);
  const auto bytes = static_cast<std::streamsize>(tensor.values.size() * sizeof(float));
  in.read(reinterpret_cast<char*>(tensor.values.data()), bytes);
  if (!in || in.peek() != std::char_traits<char>::eof()) {
    throw std::runtime_error(path + " is not of the expected size");
  }
  return tensor;
}

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_ANALYSIS_GOLDEN_H_
