// Methods through the whole model: from pixels to maps, against the reference
// and against what must hold of any model.

#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/value_norm.h"
#include "attnmap/encoder/encoder.h"
#include "attnmap/image/prepare.h"
#include "attnmap/pipeline/session.h"
#include "pipeline/map_request.h"
#include "support/catch.h"
#include "support/golden.h"
#include "support/random_model.h"

namespace attnmap {
namespace {

using test::GoldenCase;

std::vector<PatchMap> Compute(const PreparedModel& prepared, const ModelInput& input,
                              const SelectionOptions& selection, int64_t keep_limit = -1) {
  const ResolvedQuery query = ResolveQueryFor(selection.query, prepared.model(), input);
  MapRequest request = MakeMapRequest(prepared.model(), input, selection, query);
  if (keep_limit >= 0) request.keep_limit = keep_limit;
  const auto sink = MakeMapSink(request);
  ThreadPool pool(2);
  prepared.Encode(input, *sink, pool, {selection.scale});
  return sink->Maps(pool);
}

// The largest difference between maps and the patch columns of an expected
// tensor of (…, columns), as a share of its maximum there.
double Worst(const std::vector<PatchMap>& maps, const SharedTensor& expected) {
  const auto columns = static_cast<size_t>(expected.shape().back());
  const size_t patches = maps.at(0).values.size();
  const bool square = expected.shape().size() == 2 &&
                      expected.shape()[0] * expected.shape()[1] == static_cast<int64_t>(patches);
  const size_t row = square ? patches : columns;
  REQUIRE(static_cast<size_t>(expected.size()) == maps.size() * row);
  double worst = 0;
  double max = 0;
  for (size_t m = 0; m < maps.size(); ++m) {
    for (size_t j = 0; j < patches; ++j) {
      const double value = expected.values()[m * row + row - patches + j];
      worst = std::max(worst, std::abs(value - maps[m].values[j]));
      max = std::max(max, std::abs(value));
    }
  }
  return worst / max;
}

// "rollout.max.0.5": the parts between dots, of which the last may be a number.
struct Name {
  std::string method, fusion, rest;
  explicit Name(const std::string& text) {
    const size_t first = text.find('.');
    method = text.substr(0, first);
    if (first == std::string::npos) return;
    const size_t second = text.find('.', first + 1);
    fusion = text.substr(first + 1, second - first - 1);
    if (second != std::string::npos) rest = text.substr(second + 1);
  }
};

TEST_CASE("every method without gradients equals the reference, from pixels to map") {
  for (const GoldenCase& golden : test::GoldenCases("methods-")) {
    ModelOptions options;
    options.path = golden.model().string();
    const PreparedModel prepared(LoadModel(options));
    const SharedTensor pixels = golden.Expected("pixel_values");
    const ModelInput input =
        PrepareTensor(Tensor(pixels.shape(), {pixels.values().begin(), pixels.values().end()}),
                      prepared.model().config.patch_size);
    int compared = 0;
    for (const std::string& text : golden.expected_names()) {
      const Name name(text);
      SelectionOptions selection;
      const bool layer_named = name.method == "attention" || name.method.starts_with("value_norm");
      if (layer_named) selection.layers = ParseLayerChoice(name.fusion);
      const bool all = layer_named || name.method == "rollout_matrix";
      if (all) selection.query = ParseQueryChoice("all");
      if (name.method == "attention" || name.method == "value_norm_heads") {
        selection.heads = ParseHeadChoice("all");
      }
      if (name.method.starts_with("value_norm")) selection.method = Method::kValueNorm;
      if (name.method.starts_with("rollout") || name.method == "vit_explain") {
        if (name.fusion == "gradient") continue;
        selection.method = Method::kRollout;
        selection.heads = ParseHeadChoice(name.fusion);
        selection.options.discard_ratio = std::stod(name.rest);
        if (name.rest.ends_with("start1")) selection.options.start_layer = 1;
        if (name.method == "vit_explain") selection.options.compat = RolloutCompat::kVitExplain;
      } else if (!layer_named) {
        continue;
      }
      CAPTURE(golden.name, text);
      ++compared;
      CHECK(Worst(Compute(prepared, input, selection), golden.Expected(text)) < 1e-5);
      if (selection.method != Method::kRollout) continue;
      // The same numbers where the matrices are not kept.
      CHECK(Worst(Compute(prepared, input, selection, 0), golden.Expected(text)) < 1e-5);
    }
    CHECK(compared > 20);
  }
}

VitConfig SmallConfig() {
  VitConfig config;
  config.patch_size = 4;
  config.embed_dim = 24;
  config.num_layers = 3;
  config.num_heads = 3;
  config.head_dim = 8;
  config.value_dim = 8;
  config.mlp_dim = 40;
  config.tokens.has_class_token = true;
  config.tokens.num_register_tokens = 2;
  config.position_cover = PositionCover::kPrefixNoRegisters;
  config.position_grid = {5, 7};
  return config;
}

TEST_CASE("kept or computed again, a rollout has the same bits, whatever is asked for") {
  const PreparedModel prepared(test::MakeRandomModel(SmallConfig(), {}, 1));
  const ModelInput input = test::MakeRandomInput({5, 7, 4}, 2);
  for (const char* query : {"class", "2,3", "mean", "token:1", "all"}) {
    for (const char* head : {"mean", "min", "0,2"}) {
      for (const double ratio : {0.0, 0.7}) {
        SelectionOptions selection;
        selection.method = Method::kRollout;
        selection.layers = ParseLayerChoice("1:3");
        selection.query = ParseQueryChoice(query);
        selection.heads = ParseHeadChoice(head);
        selection.options.discard_ratio = ratio;
        selection.options.start_layer = 1;
        const auto kept = Compute(prepared, input, selection);
        const auto again = Compute(prepared, input, selection, 0);
        CAPTURE(query, head, ratio);
        REQUIRE(kept.size() == again.size());
        for (size_t i = 0; i < kept.size(); ++i) {
          CHECK(kept[i].values == again[i].values);
          CHECK(kept[i].layer == again[i].layer);
          CHECK(kept[i].head == again[i].head);
        }
      }
    }
  }
}

TEST_CASE("weights times what they carry, summed, is the layer's attention output") {
  VitConfig config = SmallConfig();
  config.num_layers = 1;
  config.mlp = MlpKind::kNone;
  config.mlp_dim = 0;
  config.residual = false;
  config.layer_norm = false;
  config.tokens.num_register_tokens = 0;
  test::RandomParts parts;
  parts.final_norm = false;
  const PreparedModel prepared(test::MakeRandomModel(config, parts, 3));
  const ModelInput input = test::MakeRandomInput({5, 7, 4}, 4);
  CaptureRequest request;
  request.layers = {0};
  request.wants.attention = QueryRows::All();
  request.wants.value = request.wants.hidden = true;
  AttentionRecord record(request);
  ThreadPool pool(1);
  prepared.Encode(input, record, pool);
  const LinearWeights& output = prepared.model().layers[0].output;
  const Tensor& alpha = record.attention(0);
  const Tensor& hidden = record.matrix(0, LayerMatrix::kHidden);
  const auto n = static_cast<size_t>(record.num_tokens());
  const auto width = static_cast<size_t>(hidden.shape[1]);
  std::vector<double> sums(n * width);
  for (size_t j = 0; j < n; ++j) {
    const Matrix f = TransformedValues(record.matrix(0, LayerMatrix::kValue),
                                       output.weight.matrix(), static_cast<int64_t>(j));
    for (size_t i = 0; i < n; ++i) {
      for (size_t h = 0; h < 3; ++h) {
        for (size_t c = 0; c < width; ++c) {
          sums[i * width + c] += static_cast<double>(alpha.values[(h * n + i) * n + j]) *
                                 f.at(static_cast<int64_t>(h), static_cast<int64_t>(c));
        }
      }
    }
  }
  for (size_t at = 0; at < sums.size(); ++at) {
    CHECK(sums[at] + output.bias.values()[at % width] == Approx(hidden.values[at]).margin(1e-5));
  }
}

TEST_CASE("a model that normalises heads together has no value-norm; pca and similarity run") {
  test::RandomParts parts;
  parts.attention_norm = true;
  const PreparedModel prepared(test::MakeRandomModel(SmallConfig(), parts, 5));
  const ModelInput input = test::MakeRandomInput({5, 7, 4}, 6);
  SelectionOptions selection;
  selection.method = Method::kValueNorm;
  CHECK_THROWS_WITH(Compute(prepared, input, selection),
                    Catch::Matchers::Contains("normalises all heads together"));
  selection.method = Method::kPca;
  selection.options.outliers = OutlierRule::kExclude;
  CHECK(Compute(prepared, input, selection).at(0).colours.size() == 3 * 35);
  selection.method = Method::kSimilarity;
  selection.query = ParseQueryChoice("1,2");
  for (const Features features : {Features::kKeys, Features::kOutputs}) {
    selection.options.features = features;
    CHECK(Compute(prepared, input, selection).at(0).values[7 + 2] == Approx(1).margin(1e-6));
  }
}

}  // namespace
}  // namespace attnmap
