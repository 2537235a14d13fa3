#include "model/model_helpers.h"
#include "support/golden.h"

namespace attnmap {
namespace {

using test::GoldenCase;

VitModel LoadCase(const GoldenCase& golden) {
  LoadModelOptions options;
  options.num_heads = golden.num_heads;
  return LoadVitModel(*OpenWeights(golden.model().string()), options);
}

int CountLayers(const GoldenCase& golden) {
  int layers = 0;
  while (golden.Expects("attention." + std::to_string(layers))) ++layers;
  return layers;
}

// The grid of the case's input, from the pixels or the picture's own account.
std::optional<PatchGrid> GridOf(const GoldenCase& golden, int patch_size) {
  if (golden.grid) return PatchGrid{golden.grid->rows, golden.grid->cols, patch_size};
  if (!golden.Expects("pixel_values")) return std::nullopt;
  const Shape shape = golden.Expected("pixel_values").shape();
  const size_t rank = shape.size();
  return PatchGrid{static_cast<int>(shape[rank - 2]) / patch_size,
                   static_cast<int>(shape[rank - 1]) / patch_size, patch_size};
}

void CheckOutputs(const GoldenCase& golden, const VitModel& model) {
  CHECK(model.head.present() == (golden.Expects("logits") || model.config.num_classes > 0));
  if (golden.Expects("logits")) {
    CHECK(model.config.num_classes == golden.Expected("logits").size());
  }
  if (golden.Expects("image_embedding")) CHECK(model.projection.present());
  CHECK(golden.Expects("pool_attention") <= model.pool.present());
}

TEST_CASE(
    "Every golden model loads with the heads, layers and tokens of its reference (U-08, U-14)") {
  for (const GoldenCase& golden : test::GoldenCases()) {
    if (golden.models.size() != 1 || !golden.Expects("attention.0")) continue;
    DYNAMIC_SECTION(golden.name) {
      const VitModel model = LoadCase(golden);
      const Shape attention = golden.Expected("attention.0").shape();
      CHECK(model.config.num_layers == CountLayers(golden));
      CHECK(model.config.num_heads == attention[0]);
      if (!golden.family.empty()) CHECK(model.config.family == golden.family);
      if (const auto grid = GridOf(golden, model.config.patch_size)) {
        CHECK(model.config.tokens.num_tokens(*grid) == attention[1]);
      }
      CHECK(model.unrecognised_tensors.empty());
      CheckOutputs(golden, model);
      CheckSameModel(model, RoundTrip(model));
    }
  }
}

TEST_CASE("Heads that the file says are not called assumed; those given are called an option") {
  for (const GoldenCase& golden : test::GoldenCases()) {
    if (golden.models.size() != 1 || !golden.Expects("attention.0")) continue;
    INFO(golden.name);
    const VitModel model = LoadCase(golden);
    CHECK(SourceOf(model, "num_heads") != "assumed");
    if (golden.num_heads > 0) CHECK(SourceOf(model, "num_heads") == "option");
  }
}

}  // namespace
}  // namespace attnmap
