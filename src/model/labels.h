#ifndef ATTNMAP_MODEL_LABELS_H_
#define ATTNMAP_MODEL_LABELS_H_

#include "attnmap/model/vit_model.h"
#include "model/checkpoint_config.h"

namespace attnmap {

// The classes' names: the configuration's, else labels.txt (one line a class).
// Left out, with a note, where there are not as many as classes.
void ReadLabels(const WeightSource& source, const CheckpointConfig& config, VitModel& model);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_LABELS_H_
