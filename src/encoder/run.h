#ifndef ATTNMAP_ENCODER_RUN_H_
#define ATTNMAP_ENCODER_RUN_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "attnmap/core/capture.h"
#include "attnmap/core/model_input.h"
#include "attnmap/core/thread_pool.h"
#include "attnmap/encoder/encoder.h"
#include "attnmap/model/vit_model.h"
#include "encoder/embed.h"
#include "encoder/grid_tables.h"
#include "encoder/layer_panels.h"
#include "encoder/plan.h"
#include "encoder/projection.h"
#include "encoder/row_stage.h"
#include "encoder/workspace.h"

namespace attnmap::encoder {

// Everything of a model that stays the same from image to image.
struct ModelPanels {
  bool pairs = false;  // the layers' weights become pairs of bfloat16
  PackedLinear patch;
  // A layer each; empty: packed anew in every run, a layer at a time.
  std::vector<ProjectionPanels> projections;
  std::vector<RestPanels> rests;
};

// One image through the model.
class Run {
 public:
  Run(const VitModel& model, const ModelPanels& panels, const GridTables& tables,
      const ModelInput& input, AttentionSink& sink, ThreadPool& pool, Workspace& workspace,
      const EncodeSettings& settings);

  void Execute();

 private:
  const LayerPlan& Plan(int layer) const { return plan_.layers[static_cast<size_t>(layer)]; }
  const LayerWeights& Weights(int layer) const { return model_.layers[static_cast<size_t>(layer)]; }

  // The rest of block `layer` - 1 (or the embedding), and as soon as a row is
  // done its projections for block `layer` (if there is one).
  void Advance(int layer);
  void PackFor(int layer);
  void StartProjection(int layer, Projection& projection);
  void RunStages(int64_t count, const std::vector<RowStage>& stages);
  void ProjectChosenQueries(int layer, const Projection& projection);
  void Attend(int layer);
  void EmitTokens(int layer, LayerMatrix kind) const;
  void EmitCaptured(int layer);
  void EmitContext(int layer) const;

  const VitModel& model_;
  const VitConfig& config_;
  const ModelPanels& panels_;
  const GridTables& tables_;
  AttentionSink& sink_;
  ThreadPool& pool_;
  Workspace& workspace_;
  const float score_scale_;
  const std::atomic<bool>* stop_;
  StageTimes* times_;
  const int64_t num_tokens_;
  const RunPlan plan_;
  const Embedding embedding_;

  MutableMatrixView tokens_;  // what enters the layer at work
  MutableMatrixView next_;    // what leaves it; the same but in the textbook form
  MutableMatrixView query_;
  MutableMatrixView context_;
  std::vector<ops::MutablePanels> keys_;    // a head each
  std::vector<ops::MutablePanels> values_;  // a head each
  std::vector<int> queries_;                // the token of each row of query_
  ProjectionPanels projection_;
  RestPanels rest_;
  CapturedProjections captured_;
};

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_RUN_H_
