#include "encoder/projection.h"

#include <algorithm>
#include <utility>

#include "attnmap/ops/linear.h"

namespace attnmap::encoder {
namespace {

// Heads of `width` columns that are projected at once: no fewer columns than a
// part has otherwise, and whole panels.
int64_t HeadsPerPart(int64_t width, int64_t num_heads) {
  int64_t heads = (ColumnParts::kMostCols + width - 1) / width;
  while (heads * width % ops::kPanelCols != 0) ++heads;
  return std::min(heads, num_heads);
}

}  // namespace

void CopyHeads(MatrixView rows, int64_t first_token, int64_t first_head, Tensor& to) {
  if (to.shape.empty()) return;
  const int64_t width = to.shape[2];
  for (int64_t head = 0; head < rows.cols / width; ++head) {
    for (int64_t i = 0; i < rows.rows; ++i) {
      const int64_t at = ((first_head + head) * to.shape[1] + first_token + i) * width;
      std::copy_n(rows.row(i) + head * width, width, to.values.data() + at);
    }
  }
}

RowStage Projection::Stage() const {
  RowStage stage{.kind = EncoderStage::kProjections};
  stage.open = [this](const RowBlock& rows) {
    WorkerScratch& scratch = rows.scratch;
    scratch.wide.Reserve(rows.count * config.num_heads * (config.head_dim + config.value_dim));
    // All three are multiplied with the same rows.
    const PackedLinear& any = query.data != nullptr ? panels.query
                              : keys.empty()        ? panels.value
                                                    : panels.key;
    scratch.input =
        ops::LinearInput(Normed(rows.Of(tokens), layer.norm1, config.layer_norm_eps, scratch),
                         any.weight, scratch.words);
  };
  std::vector<Heads> parts = Parts();
  stage.num_parts = static_cast<int64_t>(parts.size());
  stage.part = [this, parts = std::move(parts)](const RowBlock& rows, int64_t part) {
    Run(rows, parts[static_cast<size_t>(part)]);
  };
  return stage;
}

std::vector<Projection::Heads> Projection::Parts() const {
  std::vector<Heads> parts;
  const auto add = [&](Kind kind, int64_t width) {
    const int64_t step = HeadsPerPart(width, config.num_heads);
    for (int64_t head = 0; head < config.num_heads; head += step) {
      parts.push_back({kind, head, std::min(step, config.num_heads - head)});
    }
  };
  if (query.data != nullptr) add(Kind::kQuery, config.head_dim);
  if (!keys.empty()) add(Kind::kKey, config.head_dim);
  if (!values.empty()) add(Kind::kValue, config.value_dim);
  return parts;
}

void Projection::Run(const RowBlock& rows, const Heads& heads) const {
  const bool is_value = heads.kind == Kind::kValue;
  const int64_t width = is_value ? config.value_dim : config.head_dim;
  const ops::ColumnRange columns = {heads.first * width, heads.count * width};
  const auto project = [&](const PackedLinear& linear, const MutableMatrixView& to) {
    ops::LinearColumns(rows.scratch.input, linear.weight, columns, linear.bias, {}, to);
    return to.Cols(columns.first, columns.count);
  };
  // Keys and values are on their way to their panels; values lie behind keys.
  const auto room = [&](int64_t behind) {
    const int64_t all = config.num_heads * width;
    return MutableMatrixView{rows.scratch.wide.data() + rows.count * behind, rows.count, all, all};
  };
  switch (heads.kind) {
    case Kind::kQuery: {
      const MutableMatrixView done = project(panels.query, rows.Of(query));
      Finish(layer.query_norm, rows.begin, done);
      CopyHeads(done, rows.begin, heads.first, captured.query);
      return;
    }
    case Kind::kKey: {
      const MutableMatrixView done = project(panels.key, room(0));
      Finish(layer.key_norm, rows.begin, done);
      CopyHeads(done, rows.begin, heads.first, captured.key);
      for (int64_t i = 0; i < heads.count; ++i) {
        ops::PackColumns(done.Cols(i * width, width), rows.begin,
                         keys[static_cast<size_t>(heads.first + i)]);
      }
      return;
    }
    case Kind::kValue: {
      const MutableMatrixView done =
          project(panels.value, room(static_cast<int64_t>(config.num_heads) * config.head_dim));
      CopyHeads(done, rows.begin, heads.first, captured.value);
      for (int64_t i = 0; i < heads.count; ++i) {
        ops::PackRows(done.Cols(i * width, width), rows.begin,
                      values[static_cast<size_t>(heads.first + i)]);
      }
      return;
    }
  }
}

void Projection::ChosenQueries(MatrixView rows, std::span<const int> which, WorkerScratch& scratch,
                               MutableMatrixView out) const {
  const PackedLinear& linear = panels.query;
  const MatrixView input = ops::LinearInput(
      Normed(rows, layer.norm1, config.layer_norm_eps, scratch), linear.weight, scratch.words);
  ops::LinearColumns(input, linear.weight, {0, out.cols}, linear.bias, {}, out);
  for (int64_t i = 0; i < out.rows; ++i) {
    Finish(layer.query_norm, which[static_cast<size_t>(i)], out.Rows(i, 1));
  }
}

// q/k norm and rotation; each head of each row is a row of its own to the norm.
// Rows are those of tokens from `token` on.
void Projection::Finish(const NormWeights& norm, int64_t token, MutableMatrixView heads) const {
  const int64_t width = config.head_dim;
  for (int64_t i = 0; i < heads.rows; ++i) {
    float* row = heads.row(i);
    if (norm.present()) {
      const MutableMatrixView each = {row, heads.cols / width, width, width};
      Norm(each, norm, config.layer_norm_eps, each);
    }
    const int64_t patch = token + i - config.tokens.num_prefix_tokens();
    if (rotary.half > 0 && patch >= 0) {
      ops::Rotate(rotary, patch, {row, static_cast<size_t>(heads.cols)});
    }
  }
}

}  // namespace attnmap::encoder
