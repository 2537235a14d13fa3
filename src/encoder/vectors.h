#ifndef ATTNMAP_ENCODER_VECTORS_H_
#define ATTNMAP_ENCODER_VECTORS_H_

#include <vector>

#include "attnmap/model/vit_model.h"
#include "attnmap/ops/linear.h"
#include "attnmap/ops/normalize.h"

namespace attnmap::encoder {

// A vector as a matrix of one row.
inline MatrixView AsRow(const std::vector<float>& v) {
  const auto size = static_cast<int64_t>(v.size());
  return {v.data(), 1, size, size};
}
inline MutableMatrixView AsRow(std::vector<float>& v) {
  const auto size = static_cast<int64_t>(v.size());
  return {v.data(), 1, size, size};
}

// linear(x), for the few layers that see one vector an image.
inline std::vector<float> Apply(const LinearWeights& linear, const std::vector<float>& x,
                                const ops::Epilogue& epilogue = {}) {
  const MatrixView weight = linear.weight.matrix();
  std::vector<float> out(static_cast<size_t>(weight.rows));
  ops::Linear(AsRow(x), weight, linear.bias.data(), epilogue, AsRow(out));
  return out;
}

// norm(x), or x where there is no norm.
inline std::vector<float> Apply(const NormWeights& norm, std::vector<float> x, float eps) {
  if (norm.present()) {
    ops::LayerNorm(AsRow(x), norm.weight.data(), norm.bias.data(), eps, AsRow(x));
  }
  return x;
}

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_VECTORS_H_
