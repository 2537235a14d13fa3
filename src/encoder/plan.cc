#include "encoder/plan.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "attnmap/core/error.h"

namespace attnmap::encoder {
namespace {

void CheckWithin(const std::vector<int>& indices, int64_t count, const char* what) {
  for (int index : indices) {
    if (index < 0 || index >= count) {
      throw Error(std::string(what) + " " + std::to_string(index) + " was asked for, there are " +
                  std::to_string(count));
    }
  }
}

QueryRows Union(const QueryRows& a, const QueryRows& b) {
  if (a.all || b.all) return QueryRows::All();
  QueryRows both;
  std::set_union(a.tokens.begin(), a.tokens.end(), b.tokens.begin(), b.tokens.end(),
                 std::back_inserter(both.tokens));
  return both;
}

QueryRows Leading(int64_t count, int64_t num_tokens) {
  if (count == num_tokens) return QueryRows::All();
  QueryRows rows;
  for (int token = 0; token < count; ++token) rows.tokens.push_back(token);
  return rows;
}

OutputWants Available(const OutputWants& wants, const VitModel& model) {
  const bool has_class = model.config.tokens.has_class_token;
  const bool pools = model.config.pooling == Pooling::kAttention
                         ? model.pool.present()
                         : model.config.pooling == Pooling::kMeanPatches || has_class;
  OutputWants available;
  available.last_hidden_state = wants.last_hidden_state;
  available.class_token_output = wants.class_token_output && has_class;
  available.image_embedding = wants.image_embedding && pools && model.projection.present();
  available.logits = wants.logits && pools && model.head.present();
  available.pool_attention = wants.pool_attention && model.pool.present();
  return available;
}

// Leading tokens that the outputs read.
int64_t RowsForOutputs(const OutputWants& outputs, const VitConfig& config, int64_t num_tokens) {
  const bool pooled = outputs.logits || outputs.image_embedding;
  const bool from_prefix =
      config.pooling == Pooling::kClass || config.pooling == Pooling::kDistilled;
  if (outputs.last_hidden_state || outputs.pool_attention || (pooled && !from_prefix)) {
    return num_tokens;
  }
  const bool distilled = pooled && config.pooling == Pooling::kDistilled;
  const int last = distilled ? std::max(config.tokens.distillation_token(), 0) : 0;
  return outputs.any() ? last + 1 : 0;
}

LayerPlan PlanLayer(const LayerWants& wants, int64_t out_rows, int64_t num_tokens) {
  LayerPlan plan;
  plan.wants = wants;
  plan.out_rows = wants.hidden ? num_tokens : out_rows;
  plan.context_rows = wants.output ? num_tokens : plan.out_rows;
  const QueryRows captured = Union(Union(wants.attention, wants.scores), wants.fused);
  plan.queries = Union(captured, Leading(plan.context_rows, num_tokens));
  plan.keys = wants.key || !plan.queries.empty();
  if (wants.query) plan.queries = QueryRows::All();
  plan.values = wants.value || plan.context_rows > 0;
  return plan;
}

}  // namespace

RunPlan MakePlan(const VitModel& model, const AttentionSink& sink, int64_t num_tokens) {
  const int num_layers = model.config.num_layers;
  RunPlan plan;
  plan.outputs = Available(sink.Outputs(), model);
  std::vector<LayerWants> wants;
  int last = plan.outputs.any() ? num_layers - 1 : -1;
  for (int layer = 0; layer < num_layers; ++layer) {
    wants.push_back(sink.Wants(layer));
    const LayerWants& want = wants.back();
    CheckWithin(want.attention_heads, model.config.num_heads, "attention head");
    for (const QueryRows* rows : {&want.attention, &want.scores, &want.fused}) {
      CheckWithin(rows->tokens, num_tokens, "query token");
    }
    if (want.any()) last = std::max(last, layer);
  }
  const int64_t final_rows = RowsForOutputs(plan.outputs, model.config, num_tokens);
  for (int layer = 0; layer <= last; ++layer) {
    const int64_t out_rows = layer < last ? num_tokens : last == num_layers - 1 ? final_rows : 0;
    plan.layers.push_back(PlanLayer(wants[static_cast<size_t>(layer)], out_rows, num_tokens));
  }
  return plan;
}

}  // namespace attnmap::encoder
