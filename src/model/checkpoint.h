#ifndef ATTNMAP_MODEL_CHECKPOINT_H_
#define ATTNMAP_MODEL_CHECKPOINT_H_

#include "attnmap/model/vit_model.h"

namespace attnmap {

// A checkpoint of another library: finds the tower, the family and every
// number of the configuration, then reads the tensors.
VitModel ReadCheckpoint(const WeightSource& source, const LoadModelOptions& options);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_CHECKPOINT_H_
