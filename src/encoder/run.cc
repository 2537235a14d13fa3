#include "encoder/run.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "attnmap/core/stop.h"
#include "encoder/attention.h"
#include "encoder/output.h"

namespace attnmap::encoder {
namespace {

MutableMatrixView Dense(ops::AlignedBuffer& buffer, int64_t rows, int64_t cols) {
  return {buffer.Reserve(rows * cols), rows, cols, cols};
}

MutableMatrixView Part(const MutableMatrixView& matrix, int64_t begin, int64_t count) {
  return {matrix.row(begin), count, matrix.cols, matrix.stride};
}

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

// The columns of one head.
MatrixView HeadCols(MatrixView rows, int64_t head, int64_t width) {
  return {rows.data + head * width, rows.rows, width, rows.stride};
}

// Rows of all heads (rows, heads * width) into (heads, tokens, width).
void CopyHeads(MatrixView rows, int64_t first_token, Tensor& to) {
  if (to.shape.empty()) return;
  const int64_t width = to.shape[2];
  for (int64_t head = 0; head < to.shape[0]; ++head) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      float* at = to.values.data() + (head * to.shape[1] + first_token + i) * width;
      std::copy_n(rows.row(i) + head * width, width, at);
    }
  }
}

}  // namespace

Run::Run(const VitModel& model, const ModelPanels& panels, const GridTables& tables,
         const ModelInput& input, AttentionSink& sink, ThreadPool& pool, Workspace& workspace,
         float score_scale, const std::atomic<bool>* stop)
    : model_(model),
      config_(model.config),
      panels_(panels),
      tables_(tables),
      sink_(sink),
      pool_(pool),
      workspace_(workspace),
      score_scale_(score_scale),
      stop_(stop),
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
    MakeOutputs(model_, plan_.outputs, Part(tokens_, 0, Plan(last).out_rows), sink_);
  }
}

void Run::Advance(int layer) {
  PackFor(layer);
  const bool projects = layer < static_cast<int>(plan_.layers.size());
  if (layer > 0) {
    const BlockRest rest{config_, Weights(layer - 1), rest_};
    next_ = config_.residual ? tokens_
                             : Dense(tokens_.data == workspace_.next.data() ? workspace_.tokens
                                                                            : workspace_.next,
                                     num_tokens_, rest.OutWidth());
  }
  if (projects) StartProjection(layer);
  const int64_t rows = layer == 0 ? num_tokens_ : Plan(layer - 1).out_rows;
  const int64_t step = RowsPerItem(rows, pool_.num_threads());
  pool_.Run((rows + step - 1) / step, [&](int64_t item, int worker) {
    CheckStop(stop_);
    WorkerScratch& scratch = workspace_.workers[static_cast<size_t>(worker)];
    const int64_t begin = item * step;
    const int64_t count = std::min(step, rows - begin);
    if (layer == 0) {
      embedding_.Fill(begin, Part(next_, begin, count), scratch);
    } else {
      FinishRows(layer - 1, begin, count, scratch);
    }
    if (projects) ProjectRows(layer, begin, count, scratch);
  });
  tokens_ = next_;
  if (layer > 0 && Plan(layer - 1).wants.hidden) EmitTokens(layer - 1, LayerMatrix::kHidden);
  if (projects) ProjectChosenQueries(layer);
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

// Makes room for what ProjectRows fills.
void Run::StartProjection(int layer) {
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
}

void Run::FinishRows(int layer, int64_t begin, int64_t count, WorkerScratch& scratch) {
  const BlockRest rest{config_, Weights(layer), rest_};
  rest.Run(Part(context_, begin, count), Part(tokens_, begin, count), Part(next_, begin, count),
           scratch);
}

void Run::ProjectRows(int layer, int64_t begin, int64_t count, WorkerScratch& scratch) {
  const LayerPlan& plan = Plan(layer);
  if (!plan.keys && !plan.values && !plan.queries.all) return;
  const Projection projection{config_, Weights(layer), projection_, tables_.rotary};
  const MatrixView normed = projection.Normed(Part(next_, begin, count), scratch);
  const int64_t heads = config_.num_heads;
  if (plan.queries.all) {
    const MutableMatrixView rows = Part(query_, begin, count);
    projection.Queries(normed, std::span<const int>(queries_).subspan(static_cast<size_t>(begin)),
                       rows);
    CopyHeads(rows, begin, captured_.query);
  }
  if (plan.keys) {
    const MutableMatrixView rows = Dense(scratch.wide, count, heads * config_.head_dim);
    projection.Keys(normed, begin, rows);
    CopyHeads(rows, begin, captured_.key);
    for (int64_t head = 0; head < heads; ++head) {
      ops::PackColumns(HeadCols(rows, head, config_.head_dim), begin,
                       keys_[static_cast<size_t>(head)]);
    }
  }
  if (plan.values) {
    const MutableMatrixView rows = Dense(scratch.wide, count, heads * config_.value_dim);
    projection.Values(normed, rows);
    CopyHeads(rows, begin, captured_.value);
    for (int64_t head = 0; head < heads; ++head) {
      ops::PackRows(HeadCols(rows, head, config_.value_dim), begin,
                    values_[static_cast<size_t>(head)]);
    }
  }
}

// Where only some tokens' queries are needed: gathered, and few.
void Run::ProjectChosenQueries(int layer) {
  if (Plan(layer).queries.all || queries_.empty()) return;
  WorkerScratch& scratch = workspace_.workers[0];
  const MutableMatrixView chosen = Dense(workspace_.context, query_.rows, tokens_.cols);
  for (int64_t i = 0; i < chosen.rows; ++i) {
    std::copy_n(tokens_.row(queries_[static_cast<size_t>(i)]), chosen.cols, chosen.row(i));
  }
  const Projection projection{config_, Weights(layer), projection_, tables_.rotary};
  projection.Queries(projection.Normed(chosen, scratch), queries_, query_);
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
  CopyHeads(context_, 0, tensor);
  sink_.OnMatrix(layer, LayerMatrix::kOutput, std::move(tensor));
}

}  // namespace attnmap::encoder
