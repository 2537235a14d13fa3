#include "encoder/block.h"

#include <algorithm>

#include "encoder/activation_of.h"

namespace attnmap::encoder {

int64_t BlockRest::OutWidth() const {
  if (panels.output.present()) return panels.output.weight.cols;
  return static_cast<int64_t>(config.num_heads) * config.value_dim;
}

void BlockRest::AddStages(std::vector<RowStage>& stages) const {
  stages.push_back(Output());
  if (config.mlp == MlpKind::kNone) return;
  stages.push_back(MlpIn());
  stages.push_back(MlpOut());
}

RowStage BlockRest::Output() const {
  const auto input = [this](const RowBlock& rows) { return rows.Of(context); };
  if (panels.output.present()) {
    return Closing(EncoderStage::kOutput, input, layer.attention_norm, panels.output,
                   layer.layer_scale1, tokens);
  }
  RowStage stage{.kind = EncoderStage::kOutput};
  stage.part = [this, input](const RowBlock& rows, int64_t) {
    const MutableMatrixView from = input(rows);
    if (layer.attention_norm.present()) {
      Norm(from, layer.attention_norm, config.layer_norm_eps, from);
    }
    for (int64_t i = 0; i < from.rows; ++i) {
      std::copy_n(from.row(i), from.cols, rows.Of(out).row(i));
    }
  };
  return stage;
}

RowStage BlockRest::Closing(EncoderStage kind, const Input& input, const NormWeights& norm,
                            const PackedLinear& linear, const SharedTensor& scale,
                            MatrixView residual) const {
  RowStage stage{.kind = kind};
  stage.open = [this, input, &norm, &linear](const RowBlock& rows) {
    const MutableMatrixView x = input(rows);
    if (norm.present()) Norm(x, norm, config.layer_norm_eps, x);
    rows.scratch.input = ops::LinearInput(x, linear.weight, rows.scratch.words);
  };
  const ColumnParts parts(linear.weight);
  stage.num_parts = parts.count();
  stage.part = [this, parts, residual, &linear, &scale](const RowBlock& rows, int64_t part) {
    ops::Epilogue epilogue;
    epilogue.scale = scale.data();
    if (config.residual) epilogue.residual = rows.Of(residual);
    ops::LinearColumns(rows.scratch.input, linear.weight, parts.At(part), linear.bias, epilogue,
                       rows.Of(out));
  };
  return stage;
}

MutableMatrixView BlockRest::Hidden(const RowBlock& rows) const {
  const int64_t width = panels.fc1.weight.cols;
  return {rows.scratch.wide.data(), rows.count, width, width};
}

RowStage BlockRest::MlpIn() const {
  RowStage stage{.kind = EncoderStage::kMlp};
  const ops::PanelView weight = panels.fc1.weight;
  stage.open = [this, weight](const RowBlock& rows) {
    WorkerScratch& scratch = rows.scratch;
    scratch.wide.Reserve(rows.count * weight.cols);
    scratch.input = ops::LinearInput(
        Normed(rows.Of(out), layer.norm2, config.layer_norm_eps, scratch), weight, scratch.words);
  };
  const ColumnParts parts(weight);
  stage.num_parts = parts.count();
  stage.part = [this, parts](const RowBlock& rows, int64_t part) {
    const MutableMatrixView hidden = Hidden(rows);
    const auto multiply = [&](const PackedLinear& linear, const ops::Epilogue& epilogue) {
      ops::LinearColumns(rows.scratch.input, linear.weight, parts.At(part), linear.bias, epilogue,
                         hidden);
    };
    ops::Epilogue activate;
    activate.activation = ActivationOf(config.activation);
    if (config.mlp == MlpKind::kGated) {
      multiply(panels.gate, activate);
      ops::Epilogue gate;
      gate.factor = hidden;
      multiply(panels.fc1, gate);
    } else {
      multiply(panels.fc1, activate);
    }
  };
  return stage;
}

RowStage BlockRest::MlpOut() const {
  const auto input = [this](const RowBlock& rows) { return Hidden(rows); };
  return Closing(EncoderStage::kMlp, input, layer.mlp_norm, panels.fc2, layer.layer_scale2, out);
}

}  // namespace attnmap::encoder
