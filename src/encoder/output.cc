#include "encoder/output.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "attnmap/ops/normalize.h"
#include "encoder/pool_head.h"
#include "encoder/vectors.h"

namespace attnmap::encoder {
namespace {

Tensor AsTensor(std::vector<float> values) {
  const auto size = static_cast<int64_t>(values.size());
  return {{size}, std::move(values)};
}

class OutputMaker {
 public:
  OutputMaker(const VitModel& model, const OutputWants& outputs, MatrixView tokens,
              AttentionSink& sink)
      : model_(model), config_(model.config), outputs_(outputs), tokens_(tokens), sink_(sink) {}

  void Run();

 private:
  std::vector<float> Row(MatrixView matrix, int token) const {
    return {matrix.row(token), matrix.row(token) + matrix.cols};
  }
  std::vector<float> MeanOfPatches() const;
  // One vector, or for a distilled model that of the first head.
  std::vector<float> Pooled() const;
  std::vector<float> Logits(const std::vector<float>& pooled) const;
  void EmitHidden() const;

  const VitModel& model_;
  const VitConfig& config_;
  const OutputWants& outputs_;
  MatrixView tokens_;
  AttentionSink& sink_;
  Matrix normed_storage_;
  MatrixView normed_;  // after the final norm, where there is one
  MatrixView base_;    // what is pooled
  PoolResult pool_;
};

void OutputMaker::Run() {
  normed_ = tokens_;
  if (model_.norm.present()) {
    normed_storage_ = Matrix(tokens_.rows, tokens_.cols);
    ops::LayerNorm(tokens_, model_.norm.weight.data(), model_.norm.bias.data(),
                   config_.layer_norm_eps, normed_storage_.view());
    normed_ = normed_storage_.view();
  }
  base_ = config_.norm_before_pool ? normed_ : tokens_;
  EmitHidden();
  const bool pooled_wanted = outputs_.logits || outputs_.image_embedding;
  const bool attention_pools = config_.pooling == Pooling::kAttention;
  if (outputs_.pool_attention || (pooled_wanted && attention_pools)) {
    pool_ = RunPoolHead(model_, base_, pooled_wanted && attention_pools);
    if (outputs_.pool_attention) sink_.OnOutput(OutputKind::kPoolAttention, pool_.attention);
  }
  if (!pooled_wanted) return;
  const std::vector<float> pooled = Pooled();
  if (outputs_.logits) sink_.OnOutput(OutputKind::kLogits, AsTensor(Logits(pooled)));
  if (outputs_.image_embedding) {
    sink_.OnOutput(OutputKind::kImageEmbedding, AsTensor(Apply(model_.projection, pooled)));
  }
}

void OutputMaker::EmitHidden() const {
  if (outputs_.last_hidden_state) {
    const MatrixView& state = config_.last_hidden_before_norm ? tokens_ : normed_;
    Tensor tensor({state.rows, state.cols});
    for (int64_t i = 0; i < state.rows; ++i) {
      std::copy_n(state.row(i), state.cols, tensor.values.begin() + i * state.cols);
    }
    sink_.OnOutput(OutputKind::kLastHiddenState, std::move(tensor));
  }
  if (outputs_.class_token_output) {
    sink_.OnOutput(OutputKind::kClassTokenOutput,
                   AsTensor(Row(normed_, config_.tokens.class_token())));
  }
}

std::vector<float> OutputMaker::MeanOfPatches() const {
  std::vector<double> sum(static_cast<size_t>(base_.cols));
  const int first = config_.tokens.first_patch_token();
  for (int64_t token = first; token < base_.rows; ++token) {
    for (size_t c = 0; c < sum.size(); ++c) sum[c] += base_.row(token)[c];
  }
  std::vector<float> mean;
  mean.reserve(sum.size());
  for (double s : sum) {
    mean.push_back(static_cast<float>(s / static_cast<double>(base_.rows - first)));
  }
  return mean;
}

std::vector<float> OutputMaker::Pooled() const {
  std::vector<float> pooled;
  if (config_.pooling == Pooling::kAttention) {
    pooled = pool_.pooled;
  } else if (config_.pooling == Pooling::kMeanPatches) {
    pooled = MeanOfPatches();
  } else {
    pooled = Row(base_, config_.tokens.class_token());
  }
  if (config_.pooling == Pooling::kClassAndMean) {
    const std::vector<float> mean = MeanOfPatches();
    pooled.insert(pooled.end(), mean.begin(), mean.end());
  }
  if (!config_.norm_after_pool) return pooled;
  const NormWeights& norm = model_.fc_norm.present() ? model_.fc_norm : model_.norm;
  return Apply(norm, std::move(pooled), config_.layer_norm_eps);
}

std::vector<float> OutputMaker::Logits(const std::vector<float>& pooled) const {
  std::vector<float> logits = Apply(model_.head, pooled);
  const int distilled = config_.tokens.distillation_token();
  if (config_.pooling != Pooling::kDistilled || distilled < 0) return logits;
  const std::vector<float> other = Apply(model_.distillation_head, Row(base_, distilled));
  for (size_t i = 0; i < logits.size(); ++i) logits[i] = (logits[i] + other[i]) / 2;
  return logits;
}

}  // namespace

void MakeOutputs(const VitModel& model, const OutputWants& outputs, MatrixView tokens,
                 AttentionSink& sink) {
  OutputMaker(model, outputs, tokens, sink).Run();
}

}  // namespace attnmap::encoder
