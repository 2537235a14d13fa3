#include "encoder/run.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "attnmap/core/chains.h"
#include "attnmap/core/stop.h"
#include "encoder/attention.h"
#include "encoder/block.h"
#include "encoder/output.h"

namespace attnmap::encoder {
namespace {

// A panel matrix for each head, one after the other.
std::vector<ops::MutablePanels> HeadPanels(ops::AlignedBuffer& buffer, int64_t heads, int64_t depth,
                                           int64_t cols) {
  const int64_t size = ops::PanelFloats(depth, cols);
  float* data = buffer.Reserve(heads * size);
  std::vector<ops::MutablePanels> panels;
  for (int64_t head = 0; head < heads; ++head) {
    panels.push_back(ops::MakePanels(data + head * size, depth, cols));
  }
  return panels;
}

}  // namespace

Run::Run(const VitModel& model, const ModelPanels& panels, const GridTables& tables,
         const ModelInput& input, AttentionSink& sink, ThreadPool& pool, Workspace& workspace,
         const EncodeSettings& settings)
    : model_(model),
      config_(model.config),
      panels_(panels),
      tables_(tables),
      sink_(sink),
      pool_(pool),
      workspace_(workspace),
      score_scale_(ScoreScale(model.config, settings)),
      stop_(settings.stop),
      times_(settings.times),
      num_tokens_(model.config.tokens.num_tokens(input.grid)),
      plan_(MakePlan(model, sink, num_tokens_)),
      embedding_{model, input, tables, panels.patch} {
  workspace_.workers.resize(
      std::max(workspace_.workers.size(), static_cast<size_t>(pool.num_threads())));
}

void Run::Execute() {
  sink_.Begin(config_.num_heads, static_cast<int>(num_tokens_));
  if (plan_.layers.empty()) return;
  next_ = Dense(workspace_.tokens, num_tokens_, config_.embed_dim);
  for (int layer = 0; layer < static_cast<int>(plan_.layers.size()); ++layer) {
    Advance(layer);
    EmitTokens(layer, LayerMatrix::kTokens);
    Attend(layer);
    EmitCaptured(layer);
  }
  const int last = static_cast<int>(plan_.layers.size()) - 1;
  if (Plan(last).out_rows > 0) Advance(last + 1);
  if (plan_.outputs.any()) {
    MakeOutputs(model_, plan_.outputs, tokens_.Rows(0, Plan(last).out_rows), sink_);
  }
}

void Run::Advance(int layer) {
  PackFor(layer);
  const bool projects = layer < static_cast<int>(plan_.layers.size());
  std::vector<RowStage> stages;
  BlockRest rest{config_, Weights(std::max(layer - 1, 0)), rest_, context_, tokens_, next_};
  if (layer == 0) {
    stages.push_back(
        {.kind = EncoderStage::kEmbedding, .part = [this](const RowBlock& rows, int64_t) {
           embedding_.Fill(rows.begin, rows.Of(next_), rows.scratch);
         }});
  } else {
    if (!config_.residual) {
      next_ = Dense(tokens_.data == workspace_.next.data() ? workspace_.tokens : workspace_.next,
                    num_tokens_, rest.OutWidth());
    }
    rest.out = next_;
    rest.AddStages(stages);
  }
  Projection projection{
      config_, Weights(projects ? layer : 0), projection_, tables_.rotary, captured_, next_};
  if (projects) {
    StartProjection(layer, projection);
    if (projection.wanted()) stages.push_back(projection.Stage());
  }
  RunStages(layer == 0 ? num_tokens_ : Plan(layer - 1).out_rows, stages);
  tokens_ = next_;
  if (layer > 0 && Plan(layer - 1).wants.hidden) EmitTokens(layer - 1, LayerMatrix::kHidden);
  if (projects) ProjectChosenQueries(layer, projection);
}

// Takes the first `count` rows through the stages.
void Run::RunStages(int64_t count, const std::vector<RowStage>& stages) {
  const int64_t step = RowsPerChain(count, pool_.num_threads());
  const auto rows = [this, count, step](const ChainAt& at) {
    const int64_t begin = at.chain * step;
    return RowBlock{begin, std::min(step, count - begin),
                    workspace_.workers[static_cast<size_t>(at.owner)]};
  };
  std::vector<ChainStage> chain;
  for (const RowStage& stage : stages) {
    ChainStage each;
    if (stage.open) {
      each.open = [this, &stage, &rows](const ChainAt& at) {
        const StageTimer timer(times_, stage.kind);
        stage.open(rows(at));
      };
    }
    each.num_parts = stage.num_parts;
    each.part = [this, &stage, &rows](const ChainAt& at, int64_t part) {
      CheckStop(stop_);
      const StageTimer timer(times_, stage.kind);
      stage.part(rows(at), part);
    };
    chain.push_back(std::move(each));
  }
  RunChains((count + step - 1) / step, chain, pool_);
}

// The panels that Advance(layer) multiplies with: kept ones, or those of one
// layer packed now.
void Run::PackFor(int layer) {
  const bool projects = layer < static_cast<int>(plan_.layers.size()) && Plan(layer).computes();
  projection_ = {};
  rest_ = {};
  if (!panels_.rests.empty()) {
    if (layer > 0) rest_ = panels_.rests[static_cast<size_t>(layer - 1)];
    if (projects) projection_ = panels_.projections[static_cast<size_t>(layer)];
    return;
  }
  const auto lay_out = [&](PanelLayout layout) {
    if (layer > 0) layout.Add(Weights(layer - 1), rest_);
    if (projects) layout.Add(Weights(layer), projection_);
    return layout;
  };
  const int64_t size = lay_out({nullptr, panels_.pairs}).size();
  Pack(lay_out({workspace_.weights.Reserve(size), panels_.pairs}).tasks(), pool_);
}

// Makes room for what the projection fills.
void Run::StartProjection(int layer, Projection& projection) {
  const LayerPlan& plan = Plan(layer);
  const int64_t heads = config_.num_heads;
  queries_ = plan.queries.tokens;
  if (plan.queries.all) {
    queries_.resize(static_cast<size_t>(num_tokens_));
    std::iota(queries_.begin(), queries_.end(), 0);
  }
  query_ = Dense(workspace_.query, static_cast<int64_t>(queries_.size()), heads * config_.head_dim);
  if (plan.keys) keys_ = HeadPanels(workspace_.keys, heads, config_.head_dim, num_tokens_);
  if (plan.values) values_ = HeadPanels(workspace_.values, heads, num_tokens_, config_.value_dim);
  captured_ = {};
  if (plan.wants.query) captured_.query = Tensor({heads, num_tokens_, config_.head_dim});
  if (plan.wants.key) captured_.key = Tensor({heads, num_tokens_, config_.head_dim});
  if (plan.wants.value) captured_.value = Tensor({heads, num_tokens_, config_.value_dim});
  if (plan.queries.all) projection.query = query_;
  if (plan.keys) projection.keys = keys_;
  if (plan.values) projection.values = values_;
}

// Where only some tokens' queries are needed: gathered, and few.
void Run::ProjectChosenQueries(int layer, const Projection& projection) {
  if (Plan(layer).queries.all || queries_.empty()) return;
  const StageTimer timer(times_, EncoderStage::kProjections);
  const MutableMatrixView chosen = Dense(workspace_.context, query_.rows, tokens_.cols);
  for (int64_t i = 0; i < chosen.rows; ++i) {
    std::copy_n(tokens_.row(queries_[static_cast<size_t>(i)]), chosen.cols, chosen.row(i));
  }
  projection.ChosenQueries(chosen, queries_, workspace_.workers[0], query_);
}

void Run::Attend(int layer) {
  const LayerPlan& plan = Plan(layer);
  if (plan.queries.empty()) return;
  context_ = Dense(workspace_.context, plan.context_rows,
                   static_cast<int64_t>(config_.num_heads) * config_.value_dim);
  Attention attention;
  attention.layer = layer;
  attention.num_heads = config_.num_heads;
  attention.num_tokens = num_tokens_;
  attention.head_dim = config_.head_dim;
  attention.value_dim = config_.value_dim;
  attention.scale = score_scale_;
  attention.queries = queries_;
  attention.query = query_;
  attention.keys = keys_;
  attention.values = values_;
  if (!tables_.relative.empty()) attention.bias = &tables_.relative[static_cast<size_t>(layer)];
  attention.context_rows = plan.context_rows;
  attention.context = context_;
  attention.wants = &plan.wants;
  attention.sink = &sink_;
  attention.stop = stop_;
  attention.times = times_;
  if (plan.keys) RunAttention(attention, pool_, workspace_.workers);
}

void Run::EmitTokens(int layer, LayerMatrix kind) const {
  const LayerWants& wants = Plan(layer).wants;
  if (kind == LayerMatrix::kTokens && !wants.tokens) return;
  Tensor tensor({tokens_.rows, tokens_.cols});
  std::copy_n(tokens_.data, tokens_.rows * tokens_.cols, tensor.values.begin());
  sink_.OnMatrix(layer, kind, std::move(tensor));
}

void Run::EmitCaptured(int layer) {
  const LayerWants& wants = Plan(layer).wants;
  if (wants.query) sink_.OnMatrix(layer, LayerMatrix::kQuery, std::move(captured_.query));
  if (wants.key) sink_.OnMatrix(layer, LayerMatrix::kKey, std::move(captured_.key));
  if (wants.value) sink_.OnMatrix(layer, LayerMatrix::kValue, std::move(captured_.value));
  if (wants.output) EmitContext(layer);
}

void Run::EmitContext(int layer) const {
  Tensor tensor({config_.num_heads, num_tokens_, config_.value_dim});
  CopyHeads(context_, 0, 0, tensor);
  sink_.OnMatrix(layer, LayerMatrix::kOutput, std::move(tensor));
}

}  // namespace attnmap::encoder
