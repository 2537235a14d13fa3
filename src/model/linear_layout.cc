#include "model/linear_layout.h"

namespace attnmap {
namespace {

// Positive dimensions whose product is `value`; nothing overflows on the way.
bool ProductIs(int64_t a, int64_t b, int64_t value) {
  return a > 0 && b > 0 && a <= value && value % a == 0 && value / a == b;
}

// (p p, 3, D) -> (D, 3, p p).
SharedTensor KernelToPatch(const SharedTensor& kernel, int64_t area, int64_t dim) {
  Tensor result({dim, 3 * area});
  const float* from = kernel.data();
  for (int64_t pixel = 0; pixel < area; ++pixel) {
    for (int64_t channel = 0; channel < 3; ++channel) {
      float* to = result.values.data() + channel * area + pixel;
      for (int64_t d = 0; d < dim; ++d) to[d * 3 * area] = *from++;
    }
  }
  return SharedTensor(std::move(result));
}

// (D, p p, 3) -> (D, 3, p p).
SharedTensor ChannelFirst(const SharedTensor& weight, int64_t area, int64_t dim) {
  Tensor result({dim, 3 * area});
  const float* from = weight.data();
  for (int64_t d = 0; d < dim; ++d) {
    float* row = result.values.data() + d * 3 * area;
    for (int64_t pixel = 0; pixel < area; ++pixel) {
      for (int64_t channel = 0; channel < 3; ++channel) row[channel * area + pixel] = *from++;
    }
  }
  return SharedTensor(std::move(result));
}

}  // namespace

Shape FlatShape(const TensorInfo* info, const Shape& flat) {
  if (info == nullptr || info->shape.size() != 2) return flat;
  return ProductIs(info->shape[0], info->shape[1], flat[0]) ? info->shape : flat;
}

Shape KernelShape(const TensorInfo* info, int64_t in, int64_t out) {
  if (info != nullptr && info->shape.size() == 3) {
    const Shape& shape = info->shape;
    if (shape[0] == in && ProductIs(shape[1], shape[2], out)) return shape;
    if (shape[2] == out && ProductIs(shape[0], shape[1], in)) return shape;
  }
  return {in, out};
}

PatchLayout PatchLayoutOf(const TensorInfo* info, bool flax, bool channel_last,
                          const VitConfig& config) {
  const int64_t p = config.patch_size;
  const int64_t dim = config.embed_dim;
  const int64_t area = p * p;
  if (flax) {
    return {{p, p, 3, dim},
            [area, dim](const SharedTensor& t) { return KernelToPatch(t, area, dim); }};
  }
  if (info == nullptr || info->shape.size() != 2) {
    return {{dim, 3, p, p}, [area, dim](const SharedTensor& t) {
              return t.Reshaped({dim, 3 * area});
            }};
  }
  if (!channel_last) return {{dim, 3 * area}, nullptr};
  return {{dim, 3 * area},
          [area, dim](const SharedTensor& t) { return ChannelFirst(t, area, dim); }};
}

}  // namespace attnmap
