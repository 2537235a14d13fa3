#ifndef ATTNMAP_ENCODER_PLAN_H_
#define ATTNMAP_ENCODER_PLAN_H_

#include <cstdint>
#include <vector>

#include "attnmap/core/capture.h"
#include "attnmap/model/vit_model.h"

namespace attnmap::encoder {

// What has to be computed in one layer, and no more.
struct LayerPlan {
  LayerWants wants;
  // Tokens whose queries are needed.
  QueryRows queries;
  // Leading tokens whose A.V is needed, and of those the ones whose block is
  // computed to its end. The class and distillation tokens lead.
  int64_t context_rows = 0;
  int64_t out_rows = 0;
  bool keys = false;
  bool values = false;

  bool computes() const { return keys || values || !queries.empty(); }
};

struct RunPlan {
  std::vector<LayerPlan> layers;  // up to the last one needed
  OutputWants outputs;            // those the model has
};

// Asks the sink. Throws Error where it wants a head or token that is not there.
RunPlan MakePlan(const VitModel& model, const AttentionSink& sink, int64_t num_tokens);

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_PLAN_H_
