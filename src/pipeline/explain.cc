#include "attnmap/pipeline/explain.h"

#include <cmath>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

// The rows of one head in a (heads, tokens, dim) matrix.
MatrixView HeadOf(const Tensor& tensor, int head) {
  const int64_t tokens = tensor.shape[1];
  const int64_t dim = tensor.shape[2];
  return {tensor.values.data() + head * tokens * dim, tokens, dim, dim};
}

std::vector<int> HeadsToExplain(const ExplainOptions& options, int num_heads) {
  const HeadChoice& choice = options.selection.heads;
  if (!options.head_given) return {0};
  return ResolveHeads(choice, num_heads);
}

}  // namespace

std::string TokenName(int token, const TokenLayout& tokens, const PatchGrid& grid) {
  if (token == tokens.class_token()) return "class";
  if (token == tokens.distillation_token()) return "distillation";
  if (token < tokens.first_patch_token()) {
    return "register " + std::to_string(token - tokens.first_register_token());
  }
  const RowsCols at = grid.PatchAt(token - tokens.first_patch_token());
  return "patch " + std::to_string(at.rows) + "," + std::to_string(at.cols);
}

ExplainResult RunExplain(const ExplainOptions& options) {
  if (options.head_given && options.selection.heads.kind == HeadChoice::Kind::kFused) {
    throw UsageError("explain works through one head at a time: --head takes N, a list or all");
  }
  if (options.top < 1) throw UsageError("--top takes a number of at least 1");
  const PreparedModel prepared = PrepareModel(options.model, options.selection, false);
  const VitModel& model = prepared.model();
  const LoadedInput input = LoadInput(options.image, options.input, model);
  ExplainResult result{options.image,       options.model.path, {},
                       model.config.tokens, input.input.grid,   {},
                       model.notes};
  result.notes.insert(result.notes.end(), input.notes.begin(), input.notes.end());
  result.query = ResolveQueryFor(options.selection.query, model, input.input);
  if (result.query.kind != ResolvedQuery::Kind::kToken) {
    throw Error("explain follows one query token, not '" + result.query.label +
                "': use --query class, ROW,COL, px:X,Y or token:N");
  }
  if (model.config.relative_position) {
    throw Error("explain cannot show the relative position bias that this model (family " +
                model.config.family + ") adds to its scores");
  }
  const std::vector<int> layers = ResolveLayers(options.selection.layers, model.config.num_layers);
  const std::vector<int> heads = HeadsToExplain(options, model.config.num_heads);
  CaptureRequest request;
  request.layers = layers;
  request.wants.query = request.wants.key = request.wants.value = true;
  AttentionRecord record(request);
  ThreadPool pool(NumThreads(options.selection));
  prepared.Encode(input.input, record, pool, {options.selection.scale});

  const double scale = options.selection.scale
                           ? *options.selection.scale
                           : 1 / std::sqrt(static_cast<double>(model.config.head_dim));
  for (int layer : layers) {
    for (int head : heads) {
      const MatrixView queries = HeadOf(record.matrix(layer, LayerMatrix::kQuery), head);
      const float* row = queries.row(result.query.token);
      ExplainedHead explained{layer, head, model.config.head_dim, {row, row + queries.cols}, {}};
      explained.row = ExplainRow({.query = explained.query,
                                  .keys = HeadOf(record.matrix(layer, LayerMatrix::kKey), head),
                                  .values = HeadOf(record.matrix(layer, LayerMatrix::kValue), head),
                                  .bias = {},
                                  .scale = scale,
                                  .num_strongest = options.top});
      result.heads.push_back(std::move(explained));
    }
  }
  return result;
}

}  // namespace attnmap
