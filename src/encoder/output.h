#ifndef ATTNMAP_ENCODER_OUTPUT_H_
#define ATTNMAP_ENCODER_OUTPUT_H_

#include "attnmap/core/capture.h"
#include "attnmap/core/tensor.h"
#include "attnmap/model/vit_model.h"

namespace attnmap::encoder {

// What lies behind the blocks: final norm, pooling, head, projection. tokens:
// the leading rows of the last block's output, as many as the outputs read.
void MakeOutputs(const VitModel& model, const OutputWants& outputs, MatrixView tokens,
                 AttentionSink& sink);

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_OUTPUT_H_
