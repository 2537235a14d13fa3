#ifndef ATTNMAP_MODEL_HEADS_H_
#define ATTNMAP_MODEL_HEADS_H_

#include "model/family.h"

namespace attnmap {

// How many heads a model has, and who says so.
struct HeadCount {
  int heads = 0;       // 0: nothing says
  std::string source;  // a provenance: "config.json", "inferred", "assumed"
};

// From the configuration, else from what the tensors tell (flax kernels,
// relative positions, RoPE periods), else from the architecture's name, else
// from the width as the published models have it ("assumed").
HeadCount FindHeads(const Checkpoint& checkpoint, const Family& family, int embed_dim);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_HEADS_H_
