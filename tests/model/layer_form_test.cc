#include "model/model_helpers.h"

namespace attnmap {
namespace {

constexpr int kPatch = 2;
constexpr int64_t kPatchValues = 3 * kPatch * kPatch;

FakeFile OneHead() {
  FakeFile file;
  file.format = "json-layer";
  file.Text("config", R"({"patch_size": 2})");
  file.Add("W_patch", {kPatchValues, 5}).Add("b_patch", {5}).Add("class_token", {5});
  file.Add("pos_embed", {10, 5});
  file.Add("W_Q", {5, 4}).Add("W_K", {5, 4}).Add("W_V", {5, 3});
  return file;
}

FakeFile TwoHeads() {
  FakeFile file = OneHead();
  for (const char* name : {"W_Q", "W_K", "W_V"}) file.shapes.erase(name);
  for (const char* head : {"heads.0.", "heads.1."}) {
    const std::string prefix = head;
    file.Add(prefix + "W_Q", {5, 4}).Add(prefix + "W_K", {5, 4}).Add(prefix + "W_V", {5, 3});
  }
  return file;
}

TEST_CASE("The one-layer form becomes one layer without norm, MLP or residual") {
  const VitModel model = OneHead().Load();
  const VitConfig& config = model.config;
  CHECK(config.family == "layer");
  CHECK(config.embed_dim == 5);
  CHECK(config.num_layers == 1);
  CHECK(config.num_heads == 1);
  CHECK(config.head_dim == 4);
  CHECK(config.value_dim == 3);
  CHECK(config.mlp == MlpKind::kNone);
  CHECK_FALSE(config.residual);
  CHECK_FALSE(config.layer_norm);
  CHECK(config.tokens.has_class_token);
  CHECK(config.position_cover == PositionCover::kPrefixNoRegisters);
  CHECK(config.position_resize == PositionResize::kBicubic);
  CHECK(config.position_by_count);
  CHECK(config.position_grid == RowsCols{3, 3});
  CHECK(config.image_size == RowsCols{6, 6});
  CHECK(model.InputSize() == RowsCols{6, 6});
  CHECK(model.preprocess.mean == std::array<double, 3>{0, 0, 0});
  CHECK(model.preprocess.std == std::array<double, 3>{1, 1, 1});
  CHECK(model.preprocess.filter == Filter::kBicubic);
}

TEST_CASE("Matrices (in, out) are turned to (out, in), patches to channel first") {
  const auto source = OneHead().Source();
  const VitModel model = LoadVitModel(*source);
  const SharedTensor query = source->Load("W_Q");
  CHECK(model.layers[0].query.weight.shape() == Shape{4, 5});
  CHECK(model.layers[0].query.weight.matrix().at(3, 1) == query.matrix().at(1, 3));
  // Pixel (row 1, column 0), green: entry 2 * 3 + 1 of a patch, channel last.
  const SharedTensor patch = source->Load("W_patch");
  CHECK(model.patch_weight.matrix().at(4, 1 * kPatch * kPatch + 1 * kPatch + 0) ==
        patch.matrix().at((1 * kPatch + 0) * 3 + 1, 4));
}

TEST_CASE("Several heads lie one below the other") {
  const auto source = TwoHeads().Source();
  const VitModel model = LoadVitModel(*source);
  CHECK(model.config.num_heads == 2);
  CHECK(model.layers[0].query.weight.shape() == Shape{8, 5});
  CHECK(model.layers[0].value.weight.shape() == Shape{6, 5});
  CHECK(model.layers[0].value.weight.matrix().at(4, 2) ==
        source->Load("heads.1.W_V").matrix().at(2, 1));
}

TEST_CASE("Without W_patch the tokens are the patches themselves") {
  FakeFile file;
  file.format = "json-layer";
  file.Text("config", R"({"patch_size": 2})");
  file.Add("W_Q", {kPatchValues, 4}).Add("W_K", {kPatchValues, 4}).Add("W_V", {kPatchValues, 4});
  const VitModel model = file.Load();
  CHECK_FALSE(model.patch_weight.present());
  CHECK(model.config.embed_dim == kPatchValues);
  CHECK_FALSE(model.config.tokens.has_class_token);
  CHECK(model.config.position_cover == PositionCover::kNone);
  CHECK(model.config.pooling == Pooling::kMeanPatches);
  CHECK_FALSE(model.config.image_size.has_value());
  CHECK(model.InputSize() == RowsCols{224, 224});
}

TEST_CASE("Positions of no square grid are kept for use as they are (U-03)") {
  FakeFile file = OneHead();
  file.Add("pos_embed", {49, 5});  // class token and 48 patches
  const VitModel model = file.Load();
  CHECK(model.config.position_grid == RowsCols{0, 0});
  CHECK_FALSE(model.config.image_size.has_value());
  file.Text("config", R"({"patch_size": 2, "image_size": [12, 16]})");
  CHECK(file.Load().config.position_grid == RowsCols{6, 8});
}

TEST_CASE("The one-layer form survives the way there and back bit for bit") {
  FakeFile full = TwoHeads();
  full.Text("config", R"({"patch_size": 2, "image_size": [6, 6], "preprocess":
                          {"resize": [8, 8], "crop": 6, "mean": [0.1, 0.2, 0.3]}})");
  full.Add("heads.0.b_Q", {4}).Add("heads.1.b_Q", {4}).Add("W_O", {6, 7}).Add("b_O", {7});
  for (const FakeFile& file : {OneHead(), TwoHeads(), full}) {
    const VitModel model = file.Load();
    CheckSameModel(model, RoundTrip(model));
    const auto source = file.Source();
    for (const NamedTensor& tensor : CanonicalTensors(model)) {
      INFO(tensor.name);
      REQUIRE(source->Find(tensor.name) != nullptr);
      CHECK(SameNumbers(tensor.tensor, source->Load(tensor.name)));
    }
  }
}

TEST_CASE("A malformed one-layer form gets one clear line (U-16)") {
  FakeFile file = OneHead();
  SECTION("no patch size") {
    file.Text("config", "{}");
    Contains(LoadError(file), "patch_size: is missing");
  }
  SECTION("a patch size out of range") {
    file.Text("config", R"({"patch_size": 5000})");
    Contains(LoadError(file), "patch_size: expected a whole number from 1 to 1024, found 5000");
  }
  SECTION("a patch size of another type") {
    file.Text("config", R"({"patch_size": "2"})");
    Contains(LoadError(file), "found \"2\"");
  }
  SECTION("null") {
    file.Text("config", R"({"patch_size": null})");
    Contains(LoadError(file), "patch_size: expected a whole number from 1 to 1024, found null");
  }
  SECTION("an unknown key") {
    file.Text("config", R"({"patch_size": 2, "size": 3})");
    Contains(LoadError(file), "size: unknown key");
  }
  SECTION("an unknown key of preprocess") {
    file.Text("config", R"({"patch_size": 2, "preprocess": {"means": [0, 0, 0]}})");
    Contains(LoadError(file), "preprocess.means: unknown key");
  }
  SECTION("a mean of two numbers") {
    file.Text("config", R"({"patch_size": 2, "preprocess": {"mean": [0, 0]}})");
    Contains(LoadError(file), "preprocess.mean: expected an array of 3 numbers, found [0,0]");
  }
  SECTION("an unknown filter") {
    file.Text("config", R"({"patch_size": 2, "preprocess": {"interpolation": "area"}})");
    Contains(LoadError(file), "preprocess.interpolation: expected nearest");
  }
  SECTION("an image that is not whole patches") {
    file.Text("config", R"({"patch_size": 2, "image_size": [6, 7]})");
    Contains(LoadError(file), "image_size: expected multiples of patch_size 2, found 6 x 7");
  }
  SECTION("no W_K") {
    file.shapes.erase("W_K");
    Contains(LoadError(file), "tensor 'W_K' is missing, expected 5 x 4");
  }
  SECTION("no W_Q") {
    file.shapes.erase("W_Q");
    Contains(LoadError(file), "tensor 'W_Q' is missing");
  }
  SECTION("a W_K of another width") {
    file.Add("W_K", {5, 3});
    Contains(LoadError(file), "tensor 'W_K' should be 5 x 4, found 5 x 3");
  }
  SECTION("a W_patch that does not fit the patch") {
    file.Add("W_patch", {10, 5});
    Contains(LoadError(file), "tensor 'W_patch' should be 12 x 5, found 10 x 5");
  }
  SECTION("a W_Q of three dimensions") {
    file.Add("W_Q", {1, 5, 4});
    Contains(LoadError(file), "tensor 'W_Q' should have 2 dimensions, found 1 x 5 x 4");
  }
  SECTION("a bias without its matrix") {
    file.shapes.erase("W_patch");
    Contains(LoadError(file), "'b_patch' stands there without W_patch");
  }
  SECTION("an output projection that does not take the heads' values") {
    file.Add("W_O", {4, 5});
    Contains(LoadError(file), "tensor 'W_O' should be 3 x 5, found 4 x 5");
  }
  SECTION("an output bias of another width") {
    file.Add("W_O", {3, 6}).Add("b_O", {5});
    Contains(LoadError(file), "tensor 'b_O' should be 6, found 5");
  }
  SECTION("an unknown matrix") {
    file.Add("W_X", {5, 5});
    Contains(LoadError(file), "unknown key 'W_X'");
  }
  SECTION("matrices beside heads") {
    file.Add("heads.0.W_Q", {5, 4});
    Contains(LoadError(file), "'W_Q' stands beside \"heads\"");
  }
  SECTION("a head that lacks a matrix") {
    file = TwoHeads();
    file.shapes.erase("heads.1.W_Q");
    Contains(LoadError(file), "tensor 'heads.1.W_Q' is missing, expected 5 x 4");
  }
  SECTION("NaN") {
    file.values["W_V"] = SharedTensor(
        Tensor({5, 3}, std::vector<float>(15, std::numeric_limits<float>::quiet_NaN())));
    Contains(LoadError(file), "tensor 'W_V' holds a NaN or an infinity");
  }
}

}  // namespace
}  // namespace attnmap
