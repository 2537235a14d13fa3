#include "encoder/block.h"

#include <algorithm>

#include "attnmap/ops/linear.h"
#include "attnmap/ops/normalize.h"
#include "encoder/activation_of.h"

namespace attnmap::encoder {
namespace {

void Norm(MatrixView x, const NormWeights& norm, float eps, MutableMatrixView out) {
  ops::LayerNorm(x, norm.weight.data(), norm.bias.data(), eps, out);
}

}  // namespace

int64_t RowsPerItem(int64_t count, int num_threads) {
  const int64_t most = kMostRows * num_threads;
  const int64_t items = std::max<int64_t>((count + most - 1) / most, 1) * num_threads;
  return std::clamp<int64_t>((count + items - 1) / items, 1, kMostRows);
}

MatrixView Projection::Normed(MatrixView tokens, WorkerScratch& scratch) const {
  if (!layer.norm1.present()) return tokens;
  const MutableMatrixView normed = {scratch.normed.Reserve(tokens.rows * tokens.cols), tokens.rows,
                                    tokens.cols, tokens.cols};
  Norm(tokens, layer.norm1, config.layer_norm_eps, normed);
  return normed;
}

void Projection::Queries(MatrixView normed, std::span<const int> tokens,
                         MutableMatrixView out) const {
  ops::Linear(normed, panels.query.weight, panels.query.bias, {}, out);
  Finish(layer.query_norm, out);
  for (int64_t i = 0; i < out.rows; ++i) {
    RotateRow(tokens[static_cast<size_t>(i)], {out.row(i), static_cast<size_t>(out.cols)});
  }
}

void Projection::Keys(MatrixView normed, int64_t first, MutableMatrixView out) const {
  ops::Linear(normed, panels.key.weight, panels.key.bias, {}, out);
  Finish(layer.key_norm, out);
  for (int64_t i = 0; i < out.rows; ++i) {
    RotateRow(first + i, {out.row(i), static_cast<size_t>(out.cols)});
  }
}

void Projection::Values(MatrixView normed, MutableMatrixView out) const {
  ops::Linear(normed, panels.value.weight, panels.value.bias, {}, out);
}

// Each head of each row is a row of its own to the norm.
void Projection::Finish(const NormWeights& norm, MutableMatrixView rows) const {
  if (!norm.present()) return;
  for (int64_t i = 0; i < rows.rows; ++i) {
    const MutableMatrixView heads = {rows.row(i), config.num_heads, config.head_dim,
                                     config.head_dim};
    Norm(heads, norm, config.layer_norm_eps, heads);
  }
}

void Projection::RotateRow(int64_t token, std::span<float> row) const {
  const int64_t patch = token - config.tokens.num_prefix_tokens();
  if (rotary.half > 0 && patch >= 0) ops::Rotate(rotary, patch, row);
}

int64_t BlockRest::OutWidth() const {
  if (panels.output.present()) return panels.output.weight.cols;
  return static_cast<int64_t>(config.num_heads) * config.value_dim;
}

void BlockRest::Run(MutableMatrixView context, MatrixView tokens, MutableMatrixView out,
                    WorkerScratch& scratch) const {
  if (layer.attention_norm.present()) {
    Norm(context, layer.attention_norm, config.layer_norm_eps, context);
  }
  if (panels.output.present()) {
    ops::Epilogue epilogue;
    epilogue.scale = layer.layer_scale1.data();
    if (config.residual) epilogue.residual = tokens;
    ops::Linear(context, panels.output.weight, panels.output.bias, epilogue, out);
  } else {
    for (int64_t i = 0; i < context.rows; ++i) {
      std::copy_n(context.row(i), context.cols, out.row(i));
    }
  }
  if (config.mlp != MlpKind::kNone) Mlp(out, scratch);
}

void BlockRest::Mlp(MutableMatrixView rows, WorkerScratch& scratch) const {
  MatrixView x = rows;
  if (layer.norm2.present()) {
    const MutableMatrixView normed = {scratch.normed.Reserve(rows.rows * rows.cols), rows.rows,
                                      rows.cols, rows.cols};
    Norm(rows, layer.norm2, config.layer_norm_eps, normed);
    x = normed;
  }
  const int64_t width = panels.fc1.weight.cols;
  const MutableMatrixView hidden = {scratch.wide.Reserve(rows.rows * width), rows.rows, width,
                                    width};
  ops::Epilogue activate;
  activate.activation = ActivationOf(config.activation);
  if (config.mlp == MlpKind::kGated) {
    ops::Linear(x, panels.gate.weight, panels.gate.bias, activate, hidden);
    ops::Epilogue gate;
    gate.factor = hidden;
    ops::Linear(x, panels.fc1.weight, panels.fc1.bias, gate, hidden);
  } else {
    ops::Linear(x, panels.fc1.weight, panels.fc1.bias, activate, hidden);
  }
  if (layer.mlp_norm.present()) Norm(hidden, layer.mlp_norm, config.layer_norm_eps, hidden);
  ops::Epilogue last;
  last.scale = layer.layer_scale2.data();
  if (config.residual) last.residual = rows;
  ops::Linear(hidden, panels.fc2.weight, panels.fc2.bias, last, rows);
}

}  // namespace attnmap::encoder
