#ifndef ATTNMAP_MODEL_REFUSE_H_
#define ATTNMAP_MODEL_REFUSE_H_

#include "model/checkpoint_config.h"
#include "model/tower.h"

namespace attnmap {

// Throws Error naming the architecture where the checkpoint is a known one
// that is not supported, or no Vision Transformer at all.
void RefuseUnsupported(const WeightSource& source, const Tower& tower,
                       const CheckpointConfig& config);

// Tensors that a tower may hold and that are known to be of no use here
// (masks, decoders, projection heads of the training, buffers).
bool IsKnownUseless(std::string_view name);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_REFUSE_H_
