#ifndef ATTNMAP_MODEL_CHECKPOINT_HEADS_H_
#define ATTNMAP_MODEL_CHECKPOINT_HEADS_H_

#include "attnmap/model/vit_model.h"
#include "model/family.h"
#include "model/tower_reader.h"

namespace attnmap {

// How tokens become one vector and what stands behind it: fills pooling, the
// norms' places and num_classes of `model.config`, and which heads to read.
void FindOutputs(const Checkpoint& checkpoint, const FamilyDefaults& defaults, VitModel& model,
                 TowerParts& parts);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_CHECKPOINT_HEADS_H_
