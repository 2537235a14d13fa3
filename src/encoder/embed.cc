#include "encoder/embed.h"

#include <algorithm>

#include "attnmap/ops/linear.h"
#include "encoder/row_stage.h"

namespace attnmap::encoder {
namespace {

constexpr int64_t kChannels = 3;

// One patch as the patch weight has it: channel, row, column.
void FlattenPlanes(const ModelInput& input, RowsCols patch, float* to) {
  const int64_t size = input.grid.patch_size;
  const RowsCols pixels = input.grid.pixels();
  for (int64_t channel = 0; channel < kChannels; ++channel) {
    for (int64_t row = 0; row < size; ++row, to += size) {
      const int64_t at =
          (channel * pixels.rows + patch.rows * size + row) * pixels.cols + patch.cols * size;
      std::copy_n(input.pixels.values.data() + at, size, to);
    }
  }
}

// One patch as the textbook has it: row, column, channel.
void FlattenPixels(const ModelInput& input, RowsCols patch, float* to) {
  const int64_t size = input.grid.patch_size;
  const RowsCols pixels = input.grid.pixels();
  const int64_t plane = static_cast<int64_t>(pixels.rows) * pixels.cols;
  for (int64_t row = 0; row < size; ++row) {
    const float* from =
        input.pixels.values.data() + (patch.rows * size + row) * pixels.cols + patch.cols * size;
    for (int64_t col = 0; col < size; ++col) {
      for (int64_t channel = 0; channel < kChannels; ++channel) *to++ = from[channel * plane + col];
    }
  }
}

}  // namespace

void Embedding::Fill(int64_t begin, MutableMatrixView rows, WorkerScratch& scratch) const {
  const int64_t prefix = model.config.tokens.num_prefix_tokens();
  const int64_t end = begin + rows.rows;
  const int64_t prefix_end = std::clamp(prefix, begin, end);
  for (int64_t token = begin; token < prefix_end; ++token) {
    FillPrefix(token, rows.row(token - begin));
  }
  if (prefix_end < end) {
    FillPatches(prefix_end - prefix,
                {rows.row(prefix_end - begin), end - prefix_end, rows.cols, rows.stride}, scratch);
  }
  if (model.pre_norm.present()) {
    Norm(rows, model.pre_norm, model.config.layer_norm_eps, rows);
  }
}

void Embedding::FillPrefix(int64_t token, float* to) const {
  const TokenLayout& tokens = model.config.tokens;
  const int64_t width = model.config.embed_dim;
  const float* from = nullptr;
  if (token == tokens.class_token()) {
    from = model.class_token.data();
  } else if (token == tokens.distillation_token()) {
    from = model.distillation_token.data();
  } else {
    from = model.register_tokens.data() + (token - tokens.first_register_token()) * width;
  }
  const MatrixView& position = tables.prefix_position;
  const bool positioned = token < position.rows;
  for (int64_t c = 0; c < width; ++c) {
    to[c] = from[c] + (positioned ? position.at(token, c) : 0.0F);
  }
}

void Embedding::FillPatches(int64_t first_patch, MutableMatrixView rows,
                            WorkerScratch& scratch) const {
  const PatchGrid& grid = input.grid;
  MatrixView position = tables.patch_position;
  if (position.data != nullptr) position.data = position.row(first_patch);
  const auto patch_at = [&](int64_t i) { return grid.PatchAt(static_cast<int>(first_patch + i)); };
  if (!patch.present()) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      FlattenPixels(input, patch_at(i), rows.row(i));
      if (position.data == nullptr) continue;
      for (int64_t c = 0; c < rows.cols; ++c) rows.row(i)[c] += position.at(i, c);
    }
    return;
  }
  const int64_t depth = patch.weight.depth;
  float* flat = scratch.normed.Reserve(rows.rows * depth);
  for (int64_t i = 0; i < rows.rows; ++i) FlattenPlanes(input, patch_at(i), flat + i * depth);
  ops::Epilogue epilogue;
  epilogue.residual = position;
  ops::Linear({flat, rows.rows, depth, depth}, patch.weight, patch.bias, epilogue, rows);
}

}  // namespace attnmap::encoder
