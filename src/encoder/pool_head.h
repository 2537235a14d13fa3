#ifndef ATTNMAP_ENCODER_POOL_HEAD_H_
#define ATTNMAP_ENCODER_POOL_HEAD_H_

#include <vector>

#include "attnmap/core/tensor.h"
#include "attnmap/model/vit_model.h"

namespace attnmap::encoder {

// The attention-pooling head on one image.
struct PoolResult {
  Tensor attention;           // (heads, tokens), after softmax
  std::vector<float> pooled;  // (D); empty unless asked for
};

// tokens: (tokens, D), after the final norm.
PoolResult RunPoolHead(const VitModel& model, MatrixView tokens, bool want_pooled);

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_POOL_HEAD_H_
