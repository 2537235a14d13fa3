#ifndef ATTNMAP_ENCODER_CHECK_MODEL_H_
#define ATTNMAP_ENCODER_CHECK_MODEL_H_

#include "attnmap/model/vit_model.h"

namespace attnmap::encoder {

// Throws Error naming the tensor where one that the configuration calls for is
// missing or has another shape than it calls for: the encoder reads without
// looking again.
void CheckModel(const VitModel& model);

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_CHECK_MODEL_H_
