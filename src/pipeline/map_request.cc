#include "pipeline/map_request.h"

#include <algorithm>

#include "attnmap/core/error.h"
#include "attnmap/core/number_text.h"
#include "attnmap/encoder/encoder.h"

namespace attnmap {
namespace {

std::vector<MatrixView> OutputWeights(const VitModel& model, const std::vector<int>& layers) {
  std::vector<MatrixView> weights(model.layers.size());
  for (int layer : layers) {
    const LayerWeights& of_layer = model.layers[static_cast<size_t>(layer)];
    if (of_layer.attention_norm.present()) {
      throw Error("value-norm: layer " + std::to_string(layer) +
                  " of this model normalises all heads together before its output projection, so "
                  "a head carries no vector of its own");
    }
    if (of_layer.output.present()) {
      weights[static_cast<size_t>(layer)] = of_layer.output.weight.matrix();
    }
  }
  return weights;
}

}  // namespace

std::string MapName(const PatchMap& map, bool single) {
  if (single) return "map";
  return "map." + (map.layer < 0 ? "pool" : std::to_string(map.layer)) +
         (map.head.empty() ? "" : "." + map.head);
}

std::optional<int> MapLayer(const PatchMap& map) {
  return map.layer < 0 ? std::nullopt : std::optional(map.layer);
}

Tensor MapTensor(const PatchMap& map) {
  if (map.colours.empty()) return {{map.grid.rows, map.grid.cols}, map.values};
  return {{3, map.grid.rows, map.grid.cols}, map.colours};
}

bool BehindLayers(const SelectionOptions& selection, const ResolvedQuery& query) {
  return query.kind == ResolvedQuery::Kind::kPool && selection.method == Method::kAttention;
}

std::vector<std::string> SelectionNotes(const SelectionOptions& selection,
                                        const ResolvedQuery& query) {
  const auto& given = selection.given;
  const bool layer_given = std::find(given.begin(), given.end(), "--layer") != given.end();
  if (!layer_given || !BehindLayers(selection, query)) return {};
  return {"--layer does not apply: the pooling head stands behind all layers"};
}

std::optional<OutlierTally> TallyOf(const MapSink& sink, OutlierRule rule) {
  const auto count = sink.Outliers();
  if (!count) return std::nullopt;
  return OutlierTally{*count, rule, count->layers > 1 ? Counted(count->layers, "layer") : ""};
}

std::string OutlierText(const OutlierTally& tally) {
  const OutlierCount& count = tally.count;
  const std::string& places = tally.places;
  const std::string among = " among " + std::to_string(count.patches) + " patches" +
                            (places.empty() ? std::string() : " of " + places);
  if (count.tokens == 0) return "no outlier tokens" + among;
  return Counted(count.tokens, "outlier token") + among +
         (tally.rule == OutlierRule::kClip ? " clipped" : " excluded");
}

void CheckMapFormat(Method method, bool picture, ArrayFormat format) {
  if (picture || format != ArrayFormat::kCsv || method != Method::kPca) return;
  throw UsageError(
      "a .csv file holds a matrix of at most two axes, a map of --method pca has three: write npy, "
      "npz, safetensors or json");
}

MapRequest MakeMapRequest(const VitModel& model, const ModelInput& input,
                          const SelectionOptions& selection, const ResolvedQuery& query) {
  const VitConfig& config = model.config;
  MapRequest request;
  request.method = selection.method;
  request.layers = ResolveLayers(selection.layers, config.num_layers);
  if (selection.method == Method::kPca) request.layers = {config.num_layers - 1};
  ResolveHeads(selection.heads, config.num_heads);
  request.heads = selection.heads;
  request.query = query;
  request.tokens = config.tokens;
  request.grid = input.grid;
  request.num_heads = config.num_heads;
  request.options = selection.options;
  if (selection.method == Method::kRollout) {
    const LayerChoice first{.begin = selection.options.start_layer};
    request.options.start_layer = ResolveLayers(first, config.num_layers).front();
  }
  if (!config.relative_position) request.score_scale = ScoreScale(config, {selection.scale});
  if (selection.method == Method::kValueNorm) {
    request.output_weights = OutputWeights(model, request.layers);
  }
  return request;
}

}  // namespace attnmap
