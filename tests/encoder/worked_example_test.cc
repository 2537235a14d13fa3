// The textbook layer, small enough to work out by hand.

#include <vector>

#include "encoder/record.h"
#include "support/catch.h"

namespace attnmap::test {
namespace {

// One head, d_k = d_v = 2, and a token's queries, keys and values picked out of
// its channels: query = channels 0 and 1, key = value = channels 1 and 2.
VitModel PickingModel() {
  VitModel model;
  VitConfig& config = model.config;
  config.patch_size = 1;
  config.embed_dim = 3;
  config.num_layers = 1;
  config.num_heads = 1;
  config.head_dim = 2;
  config.value_dim = 2;
  config.mlp = MlpKind::kNone;
  config.residual = false;
  config.layer_norm = false;
  const auto pick = [](std::vector<float> rows) { return SharedTensor(Tensor({2, 3}, rows)); };
  model.layers.resize(1);
  model.layers[0].query.weight = pick({1, 0, 0, 0, 0, 0});
  model.layers[0].key.weight = pick({0, 1, 0, 0, 0, 1});
  model.layers[0].value.weight = pick({0, 1, 0, 0, 0, 1});
  return model;
}

// Three patches of one pixel: the query's first entry is 1, keys and values are
// [1,0], [0,1], [1,1].
ModelInput ThreePixels() {
  ModelInput input;
  input.grid = {1, 3, 1};
  input.pixels = Tensor({3, 1, 3}, {1, 1, 1, 1, 0, 1, 0, 1, 1});
  return input;
}

TEST_CASE("the worked example: scores, weights and output of one query") {
  const PreparedModel model(PickingModel());
  const AttentionRecord record = Encode(model, ThreePixels(), Everything(1));
  const float scores[] = {1, 0, 1};
  const double weights[] = {0.4011, 0.1978, 0.4011};
  for (size_t j = 0; j < 3; ++j) {
    CHECK(record.scores(0).values[j] == scores[j]);
    CHECK(record.attention(0).values[j] == Approx(weights[j]).margin(1e-4));
  }
  const std::vector<float>& output = record.matrix(0, LayerMatrix::kOutput).values;
  CHECK(output[0] == Approx(0.8022).margin(1e-4));
  CHECK(output[1] == Approx(0.5989).margin(1e-4));
  // Without W_O what leaves the layer is A.V itself.
  CHECK(record.matrix(0, LayerMatrix::kHidden).values == output);
}

TEST_CASE("without the scaling the same scores give sharper weights") {
  const PreparedModel model(PickingModel());
  const AttentionRecord record =
      Encode(model, ThreePixels(), RowsOf(0, QueryRows::Only({0})), 1, {1.0F});
  const double e = 2.718281828459045;
  CHECK(record.attention(0).values[0] == Approx(e / (2 * e + 1)).margin(1e-6));
  CHECK(record.attention(0).values[1] == Approx(1 / (2 * e + 1)).margin(1e-6));
}

}  // namespace
}  // namespace attnmap::test
