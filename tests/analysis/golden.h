#ifndef ATTNMAP_TESTS_ANALYSIS_GOLDEN_H_
#define ATTNMAP_TESTS_ANALYSIS_GOLDEN_H_

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/fake_encoder.h"
#include "attnmap/analysis/maps.h"
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

// The three layers of that case, and what a request of its maps starts from.
inline FakeEncoder GoldenEncoder() {
  FakeEncoder encoder;
  for (int l = 0; l < 3; ++l) {
    encoder.attention.push_back(ReadGolden("attention." + std::to_string(l), {4, 65, 65}));
  }
  return encoder;
}

inline MapRequest GoldenRequest(std::vector<int> layers, HeadChoice heads, ResolvedQuery query) {
  MapRequest request;
  request.layers = std::move(layers);
  request.heads = std::move(heads);
  request.query = std::move(query);
  request.tokens.has_class_token = true;
  request.grid = {8, 8, 8};
  request.num_heads = 4;
  return request;
}

inline HeadChoice Fused(HeadFusion fusion) { return {HeadChoice::Kind::kFused, fusion, {}}; }
inline const ResolvedQuery kClass{ResolvedQuery::Kind::kToken, 0, "class"};

inline std::vector<PatchMap> Compute(const MapRequest& request, FakeEncoder encoder) {
  const auto sink = MakeMapSink(request);
  encoder.Run(*sink);
  return sink->Maps();
}

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_ANALYSIS_GOLDEN_H_
