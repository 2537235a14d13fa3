// The encoder against plain loops in double precision.

#include <algorithm>
#include <cmath>
#include <string>

#include "attnmap/ops/instruction_set.h"
#include "encoder/record.h"
#include "encoder/variants.h"
#include "support/catch.h"
#include "support/reference_encoder.h"

namespace attnmap::test {
namespace {

// The largest difference, relative to the largest magnitude expected.
double RelativeError(const float* found, const Rows& expected) {
  double worst = 0;
  double largest = 1e-30;
  for (const auto& row : expected) {
    for (double v : row) {
      worst = std::max(worst, std::abs(*found++ - v));
      largest = std::max(largest, std::abs(v));
    }
  }
  return worst / largest;
}

double RelativeError(const Tensor& found, const std::vector<Rows>& heads) {
  const size_t size = heads[0].size() * heads[0][0].size();
  REQUIRE(found.values.size() == size * heads.size());
  double worst = 0;
  for (size_t h = 0; h < heads.size(); ++h) {
    worst = std::max(worst, RelativeError(found.values.data() + h * size, heads[h]));
  }
  return worst;
}

double RelativeError(const Tensor& found, const Rows& expected) {
  REQUIRE(found.values.size() == expected.size() * expected[0].size());
  return RelativeError(found.values.data(), expected);
}

double WorstWeight(const Tensor& found, const std::vector<Rows>& heads) {
  const float* at = found.values.data();
  double worst = 0;
  for (const Rows& rows : heads) {
    for (const auto& row : rows) {
      for (double v : row) worst = std::max(worst, std::abs(*at++ - v));
    }
  }
  return worst;
}

Rows MeanOverHeads(const std::vector<Rows>& heads) {
  Rows mean = heads[0];
  for (size_t h = 1; h < heads.size(); ++h) {
    for (size_t i = 0; i < mean.size(); ++i) {
      for (size_t j = 0; j < mean[i].size(); ++j) mean[i][j] += heads[h][i][j];
    }
  }
  for (auto& row : mean) {
    for (double& v : row) v /= static_cast<double>(heads.size());
  }
  return mean;
}

constexpr double kTolerance = 1e-5;

void CheckLayer(const AttentionRecord& record, int layer, const ReferenceLayer& expected) {
  INFO("layer " << layer);
  CHECK(WorstWeight(record.attention(layer), expected.weights) < kTolerance);
  CHECK(WorstWeight(record.fused(layer), {MeanOverHeads(expected.weights)}) < kTolerance);
  CHECK(RelativeError(record.scores(layer), expected.scores) < kTolerance);
  CHECK(RelativeError(record.matrix(layer, LayerMatrix::kQuery), expected.query) < kTolerance);
  CHECK(RelativeError(record.matrix(layer, LayerMatrix::kKey), expected.key) < kTolerance);
  CHECK(RelativeError(record.matrix(layer, LayerMatrix::kValue), expected.value) < kTolerance);
  CHECK(RelativeError(record.matrix(layer, LayerMatrix::kOutput), expected.output) < kTolerance);
  CHECK(RelativeError(record.matrix(layer, LayerMatrix::kTokens), expected.tokens) < kTolerance);
  CHECK(RelativeError(record.matrix(layer, LayerMatrix::kHidden), expected.hidden) < kTolerance);
}

void CheckOutputs(const AttentionRecord& record, const ReferenceResult& expected) {
  for (OutputKind kind :
       {OutputKind::kLastHiddenState, OutputKind::kClassTokenOutput, OutputKind::kImageEmbedding,
        OutputKind::kLogits, OutputKind::kPoolAttention}) {
    INFO("output " << static_cast<int>(kind));
    const auto wanted = expected.outputs.find(kind);
    const Tensor* found = record.output(kind);
    REQUIRE((found != nullptr) == (wanted != expected.outputs.end()));
    if (found != nullptr) CHECK(RelativeError(*found, wanted->second) < kTolerance);
  }
}

void CheckAll(const Variant& variant, const PreparedModel& model, const ModelInput& input,
              const ReferenceResult& expected) {
  const int num_layers = variant.config.num_layers;
  const AttentionRecord record = Encode(model, input, Everything(num_layers), 2);
  CHECK(record.num_heads() == variant.config.num_heads);
  CHECK(record.num_tokens() == variant.config.tokens.num_tokens(variant.grid));
  for (int layer = 0; layer < num_layers; ++layer) {
    CheckLayer(record, layer, expected.layers[static_cast<size_t>(layer)]);
  }
  CheckOutputs(record, expected);
}

TEST_CASE(
    "U-03 U-08 U-09 U-10 every kind of model agrees with double precision, plain and packed, in "
    "every matrix") {
  for (const Variant& variant : AllVariants()) {
    INFO(variant.name);
    const VitModel model = MakeRandomModel(variant.config, variant.parts, 7);
    const ModelInput input = MakeRandomInput(variant.grid, 8);
    const ReferenceResult expected = RunReference(model, input);
    CheckAll(variant, PreparedModel(model, false), input, expected);
    CheckAll(variant, PreparedModel(model, true), input, expected);
  }
}

TEST_CASE("every instruction set of this machine gives the same maps") {
  const Variant variant = PlainVariant();
  const VitModel model = MakeRandomModel(variant.config, variant.parts, 7);
  const ModelInput input = MakeRandomInput(variant.grid, 8);
  const ReferenceResult expected = RunReference(model, input);
  for (const std::string& name : ops::InstructionSets()) {
    INFO(name);
    ops::LimitInstructionSet(name);
    CheckAll(variant, PreparedModel(model, true), input, expected);
    ops::LimitInstructionSet("");
  }
}

TEST_CASE("another factor on the scores changes weights and output, not the scores") {
  const Variant variant = PlainVariant();
  const VitModel model = MakeRandomModel(variant.config, variant.parts, 7);
  const ModelInput input = MakeRandomInput(variant.grid, 8);
  const PreparedModel prepared(model);
  for (double scale : {1.0, 0.1, 0.0, -0.5}) {
    INFO("scale " << scale);
    const ReferenceResult expected = RunReference(model, input, scale);
    const EncodeSettings settings = {static_cast<float>(scale)};
    const AttentionRecord record = Encode(prepared, input, Everything(3), 1, settings);
    for (int layer = 0; layer < 3; ++layer) {
      CheckLayer(record, layer, expected.layers[static_cast<size_t>(layer)]);
    }
  }
}

TEST_CASE("U-18 heads are fused by the largest and the least weight too") {
  const Variant variant = PlainVariant();
  const PreparedModel model(MakeRandomModel(variant.config, variant.parts, 7));
  const ModelInput input = MakeRandomInput(variant.grid, 8);
  const auto num_tokens = static_cast<size_t>(variant.config.tokens.num_tokens(variant.grid));
  for (HeadFusion fusion : {HeadFusion::kMax, HeadFusion::kMin}) {
    CaptureRequest request = RowsOf(1, QueryRows::All());
    request.wants.fused = QueryRows::All();
    request.wants.fusion = fusion;
    const AttentionRecord record = Encode(model, input, request);
    const std::vector<float>& heads = record.attention(1).values;
    const size_t size = num_tokens * num_tokens;
    for (size_t i = 0; i < size; ++i) {
      const auto three = {heads[i], heads[size + i], heads[2 * size + i]};
      const float expected = fusion == HeadFusion::kMax ? std::max(three) : std::min(three);
      REQUIRE(record.fused(1).values[i] == expected);
    }
  }
}

}  // namespace
}  // namespace attnmap::test
