#ifndef ATTNMAP_MODEL_LINEAR_LAYOUT_H_
#define ATTNMAP_MODEL_LINEAR_LAYOUT_H_

#include "attnmap/model/vit_config.h"
#include "model/tensor_reader.h"

namespace attnmap {

// Shapes under which files keep the weights of linear layers and patches.

// The file's own shape where it flattens to `flat`, else `flat`: what to
// expect, so that a mismatch is told against the plain shape.
Shape FlatShape(const TensorInfo* info, const Shape& flat);
// The same for a flax kernel: (in, out), (in, heads, head_dim), (heads, head_dim, out).
Shape KernelShape(const TensorInfo* info, int64_t in, int64_t out);

// How a file keeps the patch weights, and the way to (D, 3 p p), channel first.
struct PatchLayout {
  Shape shape;
  TensorReader::Transform transform;
};
// flax: (p, p, 3, D). Else (D, 3, p, p), or (D, 3 p p), whose inputs are ordered
// channel first (old timm) or, with `channel_last`, row, column, channel (SigLIP 2).
PatchLayout PatchLayoutOf(const TensorInfo* info, bool flax, bool channel_last,
                          const VitConfig& config);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_LINEAR_LAYOUT_H_
