#include "model/towers.h"

namespace attnmap {
namespace {

constexpr int kWidth = 8;

FakeFile Tower() {
  FakeFile file;
  file.format = "json";
  file.Add("cls_token", {1, 1, kWidth}).Add("pos_embed", {1, 10, kWidth});
  file.Add("patch_embed.proj.weight", {kWidth, 3, 2, 2}).Add("patch_embed.proj.bias", {kWidth});
  for (const char* block : {"blocks.0.", "blocks.1."}) {
    const std::string b = block;
    AddNorm(file, b + "norm1", kWidth);
    AddNorm(file, b + "norm2", kWidth);
    AddLinear(file, b + "attn.qkv", 3 * kWidth, kWidth);
    AddLinear(file, b + "attn.proj", kWidth, kWidth);
    AddLinear(file, b + "mlp.fc1", 12, kWidth);
    AddLinear(file, b + "mlp.fc2", kWidth, 12);
  }
  AddNorm(file, "norm", kWidth);
  AddLinear(file, "head", 3, kWidth);
  return file;
}

std::string Header(const std::string& config, const std::string& rest = "") {
  return R"({"format": "attnmap-weights", "version": 1, "name": "test", "config":
    {"patch_size": 2, "embed_dim": 8, "num_layers": 2, "num_heads": 2, "mlp_dim": 12)" +
         config + "}" + rest + "}";
}

FakeFile Plain(const std::string& config = "", const std::string& rest = "") {
  FakeFile file = Tower();
  file.Text("config", Header(config, rest));
  return file;
}

TEST_CASE("The full form needs four sizes; the rest has defaults") {
  const VitModel model = Plain().Load();
  const VitConfig& config = model.config;
  CHECK(config.name == "test");
  CHECK(config.family == "vit");
  CHECK(config.head_dim == 4);
  CHECK(config.num_classes == 3);
  CHECK(config.activation == Activation::kGelu);
  CHECK(config.layer_norm_eps == 1e-6F);
  CHECK(config.position_cover == PositionCover::kPrefixNoRegisters);
  CHECK(config.position_resize == PositionResize::kBicubicAntialias);
  CHECK(config.position_grid == RowsCols{3, 3});
  CHECK(config.image_size == RowsCols{6, 6});
  CHECK(config.pooling == Pooling::kClass);
  CHECK(model.preprocess.resize->size == RowsCols{6, 6});
  CHECK(model.preprocess.crop == RowsCols{6, 6});
  CHECK(model.preprocess.truncate_long_side);
  CHECK(model.unused_tensors.empty());
  CHECK(SourceOf(model, "num_heads") == "file");
  CHECK(SourceOf(model, "activation") == "default");
}

TEST_CASE("Query, key and value are views of the fused matrix") {
  const auto source = Plain().Source();
  const VitModel model = LoadVitModel(*source);
  const SharedTensor fused = source->Load("blocks.1.attn.qkv.weight");
  CHECK(model.layers[1].key.weight.data() == fused.data() + kWidth * kWidth);
  CHECK(model.layers[1].value.bias.data() ==
        source->Load("blocks.1.attn.qkv.bias").data() + 2 * kWidth);
}

TEST_CASE("Sizes of preprocess that are left out are the model's") {
  const auto pre = [](const char* text) {
    return Plain("", std::string(R"(, "preprocess": )") + text).Load().preprocess;
  };
  CHECK(pre(R"({"resize": 7})").crop == RowsCols{6, 6});
  CHECK(pre(R"({"crop": 4})").resize->size == RowsCols{4, 4});
  CHECK(pre(R"({"resize": [8, 10]})").crop == RowsCols{8, 10});
  CHECK(pre(R"({"resize": [8, 10]})").resize->kind == ResizeTarget::Kind::kExact);
  CHECK_FALSE(pre(R"({"crop": false})").crop.has_value());
  CHECK(pre(R"({"resize": 7, "resize_side": "long"})").resize->kind ==
        ResizeTarget::Kind::kLongSide);
  CHECK(pre(R"({"interpolation": "lanczos"})").filter == Filter::kLanczos);
}

TEST_CASE("The full form survives the way there and back bit for bit") {
  const VitModel model =
      Plain("", R"(, "labels": ["a", "b", "c"], "preprocess": {"resize": 7, "rescale": 0.5,
            "crop_rounding": "floor", "long_side_rounding": "round", "resize_in_float": true})")
          .Load();
  CheckSameModel(model, RoundTrip(model));
}

TEST_CASE("Every part of the full form survives the way there and back") {
  FakeFile file = Tower();
  file.Add("dist_token", {1, 1, kWidth}).Add("reg_token", {1, 2, kWidth});
  file.Add("pos_embed", {1, 4 + 6, kWidth}).Add("rope_embed.periods", {1});
  AddNorm(file, "norm_pre", kWidth);
  AddNorm(file, "fc_norm", kWidth);
  AddLinear(file, "head_dist", 3, kWidth);
  file.Add("projection.weight", {5, kWidth});
  for (const char* block : {"blocks.0.", "blocks.1."}) {
    const std::string b = block;
    file.Add(b + "ls1.gamma", {kWidth}).Add(b + "ls2.gamma", {kWidth});
    file.Add(b + "attn.relative_position_bias_table", {3 * 5 + 3, 2});
    AddNorm(file, b + "attn.q_norm", 4);
    AddNorm(file, b + "attn.k_norm", 4);
    AddNorm(file, b + "attn.norm", kWidth);
    AddNorm(file, b + "mlp.norm", 12);
    AddLinear(file, b + "mlp.fc1_g", 12, kWidth);
    AddLinear(file, b + "mlp.fc1_x", 12, kWidth);
    for (const char* gone : {"mlp.fc1.weight", "mlp.fc1.bias", "attn.qkv.bias"}) {
      file.shapes.erase(b + gone);
    }
  }
  file.Text("config", Header(R"(, "image_size": [4, 6], "distillation_token": true,
      "num_register_tokens": 2, "position_cover": "all", "position_resize": "bicubic-corners",
      "rope": "half", "rope_theta": 50, "rope_periods": true, "relative_position": true,
      "mlp": "gated", "activation": "quick_gelu", "layer_norm_eps": 1e-12, "pre_norm": true,
      "query_key_norm": true, "attention_norm": true, "layer_scale": true, "mlp_norm": true,
      "projection": true, "pooling": "distilled", "norm_after_pool": true, "qkv_bias": false,
      "last_hidden_before_norm": true, "family": "mine")"));
  const VitModel model = file.Load();
  CHECK(model.config.position_grid == RowsCols{2, 3});
  CHECK(model.config.layer_norm_eps == 1e-12F);
  CHECK(model.layers[0].gate.present());
  CheckSameModel(model, RoundTrip(model));
}

TEST_CASE("A model with attention pooling survives the way there and back") {
  FakeFile file = Tower();
  file.shapes.erase("cls_token");
  file.Add("pos_embed", {1, 9, kWidth}).Add("attn_pool.latent", {1, 1, kWidth});
  AddLinear(file, "attn_pool.q", kWidth, kWidth);
  AddLinear(file, "attn_pool.kv", 2 * kWidth, kWidth);
  AddLinear(file, "attn_pool.proj", kWidth, kWidth);
  AddNorm(file, "attn_pool.norm", kWidth);
  AddLinear(file, "attn_pool.mlp.fc1", 6, kWidth);
  AddLinear(file, "attn_pool.mlp.fc2", kWidth, 6);
  file.Text("config", Header(R"(, "class_token": false, "pooling": "attention",
                                  "pool_mlp_dim": 6)"));
  const VitModel model = file.Load();
  CHECK(model.pool.present());
  CHECK(model.config.position_cover == PositionCover::kPatches);
  CheckSameModel(model, RoundTrip(model));
}

TEST_CASE("--num-heads and --act overrule, and are noted") {
  LoadModelOptions options;
  options.num_heads = 4;
  options.activation = "gelu_new";
  const VitModel model = Plain().Load(options);
  CHECK(model.config.num_heads == 4);
  CHECK(model.config.head_dim == 2);
  CHECK(model.config.activation == Activation::kGeluTanh);
  CHECK(SourceOf(model, "num_heads") == "option");
  options.num_heads = 3;
  Contains(LoadError(Plain(), options), "--num-heads 3 does not divide the model's width 8");
  options = {};
  options.activation = "relu";
  Contains(LoadError(Plain(), options), "--act relu is unknown, expected one of gelu,");
}

TEST_CASE("A malformed configuration gets one clear line") {
  struct Case {
    const char* config;
    const char* rest;
    const char* message;
  };
  const Case cases[] = {
      {R"(, "num_heads": 3)", "", "config.num_heads: embed_dim 8 is not a multiple of 3"},
      {R"(, "num_layers": 0)", "", "config.num_layers: expected a whole number from 1 to 512"},
      {R"(, "num_layers": 1.5)", "", "found 1.5"},
      {R"(, "embed_dim": 1e9)", "", "config.embed_dim: expected a whole number from 1 to 65536"},
      {R"(, "patch_size": -2)", "", "config.patch_size: expected a whole number from 1 to 1024"},
      {R"(, "mlp_dim": 0)", "", "config.mlp_dim: expected above 0 with an MLP"},
      {R"(, "activation": "relu")", "", "config.activation: expected gelu, gelu_tanh"},
      {R"(, "activation": 3)", "", "config.activation: expected a string, found 3"},
      {R"(, "layer_norm_eps": -1)", "", "config.layer_norm_eps: expected a number from 0"},
      {R"(, "num_classes": 4)", "", "tensor 'head.weight' should be 4 x 8, found 3 x 8"},
      {R"(, "num_classes": 0)", "", "tensors.head.bias: unknown key"},
      {R"(, "qkv_bias": false)", "", "tensors.blocks.0.attn.qkv.bias: unknown key"},
      {R"(, "layer_scale": true)", "", "tensor 'blocks.0.ls1.gamma' is missing, expected 8"},
      {R"(, "pre_norm": 1)", "", "config.pre_norm: expected true or false, found 1"},
      {R"(, "rope": "mixed")", "", "config.rope: expected none, half or interleaved"},
      {R"(, "rope": "half", "num_heads": 8)", "", "RoPE needs heads whose width"},
      {R"(, "class_token": false)", "", "tensors.cls_token: unknown key"},
      {R"(, "pooling": "distilled")", "", "config.pooling: needs a distillation token"},
      {R"(, "image_size": [6, 5])", "", "config.image_size: expected multiples of patch_size 2"},
      {R"(, "image_size": 6)", "", "config.image_size: expected [rows, cols]"},
      {R"(, "image_size": [8, 8])", "", "'pos_embed' should have 17 rows for a grid of 4 x 4"},
      {R"(, "depth": 2)", "", "config.depth: unknown key"},
      {R"(, "family": "layer")", "", "config.family"},
      {"", R"(, "labels": ["a", "b"])", "labels: expected 3, as many as classes, found 2"},
      {"", R"(, "labels": ["a", "b", 3])", "labels[2]: expected a string, found 3"},
      {"", R"(, "labels": null)", "labels: expected an array of strings, found null"},
      {"", R"(, "lables": [])", "lables: unknown key"},
      {"", R"(, "preprocess": [])", "preprocess: expected an object, found []"},
      {"", R"(, "preprocess": {"std": [1, 0, 1]})", "preprocess.std: expected 3 numbers above 0"},
      {"", R"(, "preprocess": {"crop": [6]})", "preprocess.crop: expected [rows, cols]"},
  };
  for (const Case& c : cases) {
    Contains(LoadError(Plain(c.config, c.rest)), c.message);
  }
}

TEST_CASE("A malformed header gets one clear line") {
  FakeFile file = Tower();
  file.Text("config", R"({"version": 1})");
  Contains(LoadError(file), R"(format: expected "attnmap-weights", found "")");
  file.Text("config", R"({"format": "attnmap-weights", "version": 2})");
  Contains(LoadError(file), "version: expected 1, found 2");
  file.Text("config", R"({"format": "attnmap-weights", "version": 1})");
  Contains(LoadError(file), "config: is missing");
  file.Text("config", "{\"format\": ");
  Contains(LoadError(file), "is not valid JSON");
  file.Text("config", "[]");
  Contains(LoadError(file), "expected a JSON object");
}

TEST_CASE("A tensor that is missing, misshapen or not finite is named") {
  FakeFile file = Plain();
  SECTION("missing bias") {
    file.shapes.erase("blocks.1.mlp.fc2.bias");
    Contains(LoadError(file), "tensor 'blocks.1.mlp.fc2.bias' is missing, expected 8");
  }
  SECTION("missing positions") {
    file.shapes.erase("pos_embed");
    Contains(LoadError(file), "tensor 'pos_embed' is missing");
  }
  SECTION("misshapen") {
    file.Add("blocks.1.attn.qkv.weight", {24, 9});
    Contains(LoadError(file), "'blocks.1.attn.qkv.weight' should be 24 x 8, found 24 x 9");
  }
  SECTION("no square of positions") {
    file.Add("pos_embed", {1, 11, kWidth});
    CHECK(file.Load().config.position_grid == RowsCols{0, 0});
  }
  SECTION("infinite") {
    std::vector<float> values(8, 1.0F);
    values[5] = -std::numeric_limits<float>::infinity();
    file.values["norm.bias"] = SharedTensor(Tensor({8}, values));
    Contains(LoadError(file), "tensor 'norm.bias' holds a NaN or an infinity");
    LoadModelOptions options;
    options.check_finite = false;
    const VitModel model = file.Load(options);
    Contains(MessageOf([&] { CheckFinite(model); }), "'norm.bias'");
  }
}

}  // namespace
}  // namespace attnmap
