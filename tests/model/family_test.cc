// Which family a checkpoint is, and what that decides.
#include "model/towers.h"

namespace attnmap {
namespace {

std::string FamilyOf(const FakeFile& file) { return file.Load().config.family; }

TEST_CASE("Plain names without a configuration are told by what is there, and called assumed") {
  FakeFile file = TimmTower();
  CHECK(FamilyOf(file) == "vit");
  CHECK(SourceOf(file.Load(), "family") == "assumed");
  CHECK(HasNote(file.Load(), "family vit assumed"));
  CHECK(file.Load().config.position_resize == PositionResize::kBicubicAntialias);
  Erase(file, "head.");
  CHECK(FamilyOf(file) == "dino");
  CHECK(file.Load().config.position_resize == PositionResize::kBicubicOffset);
  file.Add("decoder_embed.weight", {8, kDim});
  CHECK(FamilyOf(file) == "mae");
  CHECK(file.Load().config.position_resize == PositionResize::kBicubic);
  file = TimmTower();
  Rename(file, "norm.", "fc_norm.");  // the tower's, blocks have norm1 and norm2
  CHECK(FamilyOf(file) == "mae");
  CHECK(file.Load().config.pooling == Pooling::kMeanPatches);
  CHECK_FALSE(file.Load().config.norm_before_pool);
  CHECK(file.Load().config.norm_after_pool);
}

TEST_CASE("--family overrules what was recognised") {
  LoadModelOptions options;
  options.family = "dino";
  const VitModel model = TimmTower().Load(options);
  CHECK(model.config.family == "dino");
  CHECK(model.config.position_resize == PositionResize::kBicubicOffset);
  CHECK(SourceOf(model, "family") == "option");
  CHECK_FALSE(HasNote(model, "family"));
  options.family = "resnet";
  const std::string message = LoadError(TimmTower(), options);
  Contains(message,
           "--family resnet is unknown, expected one of dinov3, beit, eva02, clip, siglip");
  CHECK_THROWS_AS(TimmTower().Load(options), UsageError);
}

TEST_CASE("A timm configuration decides for timm's way of resizing positions") {
  FakeFile file = TimmTower();
  Erase(file, "head.");
  file.Text("config.json",
            TimmConfig("vit_small_patch16_224", R"(, "pretrained_cfg": {"tag": "dino"})"));
  const VitModel model = file.Load();
  CHECK(model.config.family == "dino");
  CHECK(model.config.position_resize == PositionResize::kBicubicAntialias);
  CHECK(model.notes.empty());
}

TEST_CASE("DINOv2 is told by its own tensors; registers make another family (U-08)") {
  FakeFile file = TimmTower();
  AddToBlocks(file, "ls1.gamma", {kDim});
  AddToBlocks(file, "ls2.gamma", {kDim});
  CHECK(FamilyOf(file) == "vit");
  file.Add("mask_token", {1, kDim});
  CHECK(FamilyOf(file) == "dinov2");
  CHECK(file.Load().config.position_resize == PositionResize::kBicubicOffset);
  file.Add("register_tokens", {1, 4, kDim});
  const VitModel model = file.Load();
  CHECK(model.config.family == "dinov2-registers");
  CHECK(model.config.position_resize == PositionResize::kBicubicAntialias);
  CHECK(model.config.tokens.num_prefix_tokens() == 5);
  CHECK(model.config.position_cover == PositionCover::kPrefixNoRegisters);
}

TEST_CASE("timm's copy of DINOv2 with registers has no row for the class token") {
  FakeFile file = TimmTower();
  AddToBlocks(file, "ls1.gamma", {kDim});
  AddToBlocks(file, "ls2.gamma", {kDim});
  file.Add("reg_token", {1, 4, kDim}).Add("pos_embed", {1, 9, kDim});
  file.Text("config.json", TimmConfig("vit_small_patch14_reg4_dinov2"));
  const VitModel model = file.Load();
  CHECK(model.config.family == "dinov2-registers");
  CHECK(model.config.position_cover == PositionCover::kPatches);
}

TEST_CASE("Packed and split gates are read alike, gate first") {
  FakeFile file = TimmTower();
  Erase(file, "mlp.");
  AddToBlocks(file, "ls1.gamma", {kDim});
  AddToBlocks(file, "ls2.gamma", {kDim});
  for (int layer = 0; layer < 2; ++layer) {
    AddLinear(file, Block("blocks.", layer) + "mlp.w12", 2 * kMlp, kDim);
    AddLinear(file, Block("blocks.", layer) + "mlp.w3", kDim, kMlp);
  }
  const auto source = file.Source();
  const VitModel model = LoadVitModel(*source);
  CHECK(model.config.family == "dinov2");
  CHECK(model.config.mlp == MlpKind::kGated);
  CHECK(model.config.activation == Activation::kSilu);
  CHECK(model.config.mlp_dim == kMlp);
  const SharedTensor packed = source->Load("blocks.1.mlp.w12.weight");
  CHECK(model.layers[1].gate.weight.data() == packed.data());
  CHECK(model.layers[1].fc1.weight.data() == packed.data() + kMlp * kDim);
  CheckSameModel(model, RoundTrip(model));
}

FakeFile DinoV3Official() {
  FakeFile file = TimmTower();
  Erase(file, "head.");
  file.shapes.erase("pos_embed");
  file.Add("storage_tokens", {1, 4, kDim}).Add("rope_embed.periods", {4});
  AddToBlocks(file, "attn.qkv.bias_mask", {3 * kDim});
  AddToBlocks(file, "ls1.gamma", {kDim});
  AddToBlocks(file, "ls2.gamma", {kDim});
  return file;
}

TEST_CASE(
    "DINOv3: periods of the file, heads from their number, no key bias whatever stands there") {
  FakeFile file = DinoV3Official();
  std::vector<float> bias(3 * kDim, 0.5F);
  bias[kDim] = std::numeric_limits<float>::quiet_NaN();
  file.values["blocks.0.attn.qkv.bias"] = SharedTensor(Tensor({3 * kDim}, bias));
  const VitModel model = file.Load();
  CHECK(model.config.family == "dinov3");
  CHECK(model.config.num_heads == 4);
  CHECK(SourceOf(model, "num_heads") == "inferred");
  CHECK(model.config.rope == RopeKind::kHalf);
  CHECK(model.rope_periods.size() == 4);
  CHECK(model.config.layer_norm_eps == 1e-5F);
  CHECK(model.config.tokens.num_register_tokens == 4);
  CHECK(model.layers[0].query.bias.values()[0] == 0.5F);
  CHECK_FALSE(model.layers[0].key.bias.present());
  CHECK(model.unused_tensors.empty());
  bias[2 * kDim] = std::numeric_limits<float>::quiet_NaN();  // the value's: a mistake
  file.values["blocks.0.attn.qkv.bias"] = SharedTensor(Tensor({3 * kDim}, bias));
  Contains(LoadError(file), "tensor 'blocks.0.attn.qkv.bias' holds a NaN");
  LoadModelOptions options;
  options.num_heads = 2;  // 8 periods would be needed
  Contains(LoadError(DinoV3Official(), options), "'rope_embed.periods' should be 8, found 4");
}

TEST_CASE("DINOv3 of timm: no table, scales called gamma, the mean of the patches") {
  FakeFile file = TimmTower();
  file.shapes.erase("pos_embed");
  file.Add("reg_token", {1, 4, kDim});
  AddToBlocks(file, "gamma_1", {kDim});
  AddToBlocks(file, "gamma_2", {kDim});
  const VitModel model = file.Load();
  CHECK(model.config.family == "dinov3");
  CHECK(model.config.pooling == Pooling::kMeanPatches);
  CHECK(model.config.position_cover == PositionCover::kNone);
  CHECK(model.layers[0].layer_scale1.present());
  CHECK(model.InputSize() == RowsCols{256, 256});
}

TEST_CASE("The distillation token stands behind the class token, two heads are averaged (U-09)") {
  FakeFile file = TimmTower();
  file.Add("dist_token", {1, 1, kDim}).Add("pos_embed", {1, 11, kDim});
  VitModel model = file.Load();
  CHECK(model.config.family == "deit-distilled");
  CHECK(model.config.tokens.distillation_token() == 1);
  CHECK(model.config.position_cover == PositionCover::kPrefixNoRegisters);
  CHECK(model.config.pooling == Pooling::kClass);
  AddLinear(file, "head_dist", 5, kDim);
  model = file.Load();
  CHECK(model.config.pooling == Pooling::kDistilled);
  CHECK(model.distillation_head.present());
}

TEST_CASE("OpenAI's names: quick GELU assumed, projection transposed, text tower left alone") {
  const auto source = OpenAiTower().Source();
  const VitModel model = LoadVitModel(*source);
  CHECK(model.config.family == "clip");
  CHECK(model.config.activation == Activation::kQuickGelu);
  CHECK(HasNote(model, "quick_gelu assumed"));
  CHECK(model.config.num_heads == 1);  // 64 channels each, as OpenAI's loader has it
  CHECK(SourceOf(model, "num_heads") == "assumed");
  CHECK(model.config.layer_norm_eps == 1e-5F);
  CHECK(model.pre_norm.present());
  CHECK_FALSE(model.patch_bias.present());
  CHECK(model.projection.weight.shape() == Shape{7, kDim});
  CHECK(model.projection.weight.matrix().at(3, 5) == source->Load("visual.proj").matrix().at(5, 3));
  CHECK(model.unused_tensors.size() == 2);
  CHECK(model.unrecognised_tensors.empty());
}

TEST_CASE("open_clip's configuration: head width, GELU, pooling behind its norm") {
  FakeFile file = OpenAiTower();
  file.Text("open_clip_config.json", R"({"model_cfg": {"vision_cfg": {"head_width": 16,
      "image_size": 12, "pool_type": "avg", "final_ln_after_pool": true}},
      "preprocess_cfg": {"mean": [0, 0, 0], "interpolation": "bilinear",
                         "resize_mode": "squash"}})");
  VitModel model = file.Load();
  CHECK(model.config.num_heads == 4);
  CHECK(model.config.activation == Activation::kGelu);
  CHECK(SourceOf(model, "activation") == "open_clip_config.json");
  CHECK(model.config.pooling == Pooling::kMeanPatches);
  CHECK_FALSE(model.norm.present());
  CHECK(model.fc_norm.present());
  CHECK(model.config.norm_after_pool);
  CHECK_FALSE(model.config.norm_before_pool);
  CHECK(model.preprocess.filter == Filter::kBilinear);
  CHECK(model.preprocess.resize->kind == ResizeTarget::Kind::kExact);
  CHECK(model.preprocess.mean == std::array<double, 3>{0, 0, 0});
  CHECK(model.preprocess.std[0] == 0.26862954);
  CheckSameModel(model, RoundTrip(model));
  file.Text("open_clip_config.json",
            R"({"model_cfg": {"quick_gelu": true, "vision_cfg": {"image_size": 12}}})");
  model = file.Load();
  CHECK(model.config.activation == Activation::kQuickGelu);
  CHECK(model.config.num_heads == 1);
}

TEST_CASE("A timm tower within open_clip") {
  FakeFile file = TimmTower("visual.trunk.");
  Erase(file, "trunk.head.");
  file.Add("visual.head.proj.weight", {7, kDim});
  AddNorm(file, "visual.trunk.norm_pre");
  file.Text("open_clip_config.json",
            R"({"model_cfg": {"vision_cfg": {"timm_model_name": "vit_base_patch16_clip_224",
                "image_size": 12}}, "preprocess_cfg": {"mean": [0.5, 0.5, 0.5]}})");
  const VitModel model = file.Load();
  CHECK(model.config.family == "clip");
  CHECK(model.config.activation == Activation::kGelu);
  CHECK(model.projection.weight.shape() == Shape{7, kDim});
  CHECK(model.config.position_resize == PositionResize::kBicubicAntialias);
  CHECK(model.preprocess.mean[1] == 0.5);
  CHECK(model.unused_tensors.empty());
}

TEST_CASE("timm's CLIP: the architecture's GELU, but quick where the weights were trained so") {
  FakeFile file = TimmTower();
  AddNorm(file, "norm_pre");
  const auto activation = [&file](const std::string& architecture, const std::string& tag) {
    file.Text("config.json",
              TimmConfig(architecture, R"(, "pretrained_cfg": {"tag": ")" + tag + "\"}"));
    return file.Load().config.activation;
  };
  CHECK(activation("vit_base_patch16_clip_224", "laion2b") == Activation::kGelu);
  CHECK(activation("vit_base_patch16_clip_224", "openai_ft_in1k") == Activation::kGelu);
  CHECK(activation("vit_base_patch16_clip_quickgelu_224", "openai") == Activation::kQuickGelu);
  CHECK(file.Load().notes.empty());
  CHECK(activation("vit_base_patch16_clip_224", "openai") == Activation::kQuickGelu);
  CHECK(HasNote(file.Load(), "quick_gelu, with which openai was trained"));
  LoadModelOptions options;
  options.activation = "gelu";
  CHECK(file.Load(options).config.activation == Activation::kGelu);
  CHECK(file.Load(options).notes.empty());
}

TEST_CASE("CLIP of transformers: its defaults where the configuration leaves them out") {
  FakeFile file = TransformersClipTower(true);
  file.Text("config.json", R"({"model_type": "clip", "vision_config": {"image_size": 12,
                               "patch_size": 4, "num_attention_heads": 4}})");
  VitModel model = file.Load();
  CHECK(model.config.family == "clip");
  CHECK(model.config.activation == Activation::kQuickGelu);
  CHECK(model.config.last_hidden_before_norm);
  CHECK(model.config.position_resize == PositionResize::kBicubic);
  CHECK(model.config.num_heads == 4);
  file.Text("config.json", R"({"model_type": "clip", "vision_config": {"hidden_act": "gelu",
                               "num_attention_heads": 4}})");
  CHECK(file.Load().config.activation == Activation::kGelu);
  file.Text("config.json", R"({"model_type": "clip", "vision_config": {"hidden_act": "relu"}})");
  Contains(LoadError(file), "config.json beside memory: vision_config.hidden_act: expected one of");
}

FakeFile SiglipTower() {
  FakeFile file = TransformersClipTower(false);
  const std::string head = "vision_model.head.";
  file.Add(head + "probe", {1, 1, kDim});
  file.Add(head + "attention.in_proj_weight", {3 * kDim, kDim});
  file.Add(head + "attention.in_proj_bias", {3 * kDim});
  AddLinear(file, head + "attention.out_proj", kDim, kDim);
  AddNorm(file, head + "layernorm");
  AddLinear(file, head + "mlp.fc1", 80, kDim);
  AddLinear(file, head + "mlp.fc2", kDim, 80);
  return file;
}

TEST_CASE("SigLIP: no class token, a probe that attends to the patches (U-10)") {
  const auto source = SiglipTower().Source();
  const VitModel model = LoadVitModel(*source);
  CHECK(model.config.family == "siglip");
  CHECK(model.config.activation == Activation::kGeluTanh);
  CHECK(model.config.pooling == Pooling::kAttention);
  CHECK_FALSE(model.config.tokens.has_class_token);
  CHECK(model.config.position_cover == PositionCover::kPatches);
  CHECK(model.pool.value.weight.data() ==
        source->Load("vision_model.head.attention.in_proj_weight").data() + 2 * kDim * kDim);
  CheckSameModel(model, RoundTrip(model));
  CHECK(TransformersClipTower(false).Load().config.pooling == Pooling::kMeanPatches);
}

TEST_CASE("SigLIP 2 of any aspect keeps its patches row by row, channel last") {
  FakeFile file = SiglipTower();
  file.Add("vision_model.embeddings.patch_embedding.weight", {kDim, 48});
  const auto source = file.Source();
  const VitModel model = LoadVitModel(*source);
  CHECK(model.config.patch_size == 4);
  CHECK(model.config.position_resize == PositionResize::kBilinearAntialias);
  const auto flat = source->Load("vision_model.embeddings.patch_embedding.weight").matrix();
  // Row 2, column 1, blue.
  CHECK(model.patch_weight.matrix().at(9, 2 * 16 + 2 * 4 + 1) == flat.at(9, (2 * 4 + 1) * 3 + 2));
}

TEST_CASE("Old timm patches as a linear layer are channel first already") {
  FakeFile file = TimmTower();
  file.Add("patch_embed.proj.weight", {kDim, 48});
  const auto source = file.Source();
  CHECK(LoadVitModel(*source).patch_weight.data() ==
        source->Load("patch_embed.proj.weight").data());
}

TEST_CASE("timm's SigLIP: only some architectures have the tanh GELU") {
  FakeFile file = TimmTower();
  file.shapes.erase("cls_token");
  file.Add("pos_embed", {1, 9, kDim});
  const auto activation = [&file](const char* architecture) {
    file.Text("config.json", TimmConfig(architecture));
    CHECK(FamilyOf(file) == "siglip");
    return file.Load().config.activation;
  };
  CHECK(activation("vit_base_patch16_siglip_224") == Activation::kGelu);
  CHECK(activation("vit_so400m_patch14_siglip_384") == Activation::kGelu);
  CHECK(activation("vit_large_patch16_siglip_384") == Activation::kGelu);
  CHECK(activation("vit_base_patch32_siglip_256") == Activation::kGeluTanh);
  CHECK(activation("vit_large_patch16_siglip_512") == Activation::kGeluTanh);
  CHECK(activation("vit_so400m_patch16_siglip_gap_384") == Activation::kGeluTanh);
  CHECK(activation("vit_giantopt_patch16_siglip_384") == Activation::kGeluTanh);
}

FakeFile Eva02(bool split) {
  FakeFile file = TimmTower();
  Erase(file, "attn.qkv.bias");
  Erase(file, "mlp.");
  Rename(file, "norm.", "fc_norm.");
  for (int layer = 0; layer < 2; ++layer) {
    const std::string b = Block("blocks.", layer);
    AddLinear(file, b + "mlp.fc2", kDim, kMlp);
    if (split) {
      for (const char* part : {"q_proj", "v_proj"}) AddLinear(file, b + "attn." + part, kDim, kDim);
      file.Add(b + "attn.k_proj.weight", {kDim, kDim});
      AddLinear(file, b + "mlp.fc1_g", kMlp, kDim);
      AddLinear(file, b + "mlp.fc1_x", kMlp, kDim);
      AddNorm(file, b + "mlp.norm", kMlp);
    } else {
      file.Add(b + "attn.q_bias", {kDim}).Add(b + "attn.v_bias", {kDim});
      AddLinear(file, b + "mlp.fc1", 2 * kMlp, kDim);
    }
  }
  if (split) Erase(file, "qkv");
  return file;
}

TEST_CASE("EVA-02: gated, rotary and learned positions, no key bias") {
  for (bool split : {false, true}) {
    const VitModel model = Eva02(split).Load();
    CHECK(model.config.family == "eva02");
    CHECK(model.config.mlp == MlpKind::kGated);
    CHECK(model.config.rope == RopeKind::kInterleaved);
    CHECK(model.config.rope_theta == 10000.0F);
    CHECK(model.config.position_cover == PositionCover::kPrefixNoRegisters);
    CHECK(model.layers[1].query.bias.present());
    CHECK_FALSE(model.layers[1].key.bias.present());
    CHECK(model.layers[1].mlp_norm.present() == split);
    CHECK(model.config.pooling == Pooling::kMeanPatches);
    CHECK(model.unused_tensors.empty());
    CheckSameModel(model, RoundTrip(model));
  }
}

TEST_CASE("EVA-02 under its authors' names") {
  FakeFile file = Eva02(true);
  Rename(file, "mlp.fc1_g", "mlp.w1");
  Rename(file, "mlp.fc1_x", "mlp.w2");
  Rename(file, "mlp.fc2", "mlp.w3");
  Rename(file, "mlp.norm", "mlp.ffn_ln");
  Rename(file, "attn.q_proj.bias", "attn.q_bias");
  Rename(file, "attn.v_proj.bias", "attn.v_bias");
  for (int layer = 0; layer < 2; ++layer) {
    AddNorm(file, Block("blocks.", layer) + "attn.inner_attn_ln");
  }
  const VitModel model = file.Load();
  CHECK(model.config.family == "eva02");
  CHECK(model.layers[0].attention_norm.present());
  CHECK(model.layers[0].value.bias.present());
  CHECK(model.unused_tensors.empty());
}

TEST_CASE("EVA's giant has a plain MLP and no rotation") {
  FakeFile file = TimmTower();
  Erase(file, "attn.qkv.bias");
  AddToBlocks(file, "attn.q_bias", {kDim});
  AddToBlocks(file, "attn.v_bias", {kDim});
  const VitModel model = file.Load();
  CHECK(model.config.family == "eva02");
  CHECK(model.config.rope == RopeKind::kNone);
  CHECK(model.config.activation == Activation::kGelu);
}

FakeFile Beit() {
  FakeFile file = TimmTower();
  file.shapes.erase("pos_embed");
  Erase(file, "attn.qkv.bias");
  AddToBlocks(file, "attn.q_bias", {kDim});
  AddToBlocks(file, "attn.v_bias", {kDim});
  AddToBlocks(file, "attn.relative_position_bias_table", {28, 4});
  AddToBlocks(file, "attn.relative_position_index", {10, 10});
  AddToBlocks(file, "gamma_1", {kDim});
  AddToBlocks(file, "gamma_2", {kDim});
  return file;
}

TEST_CASE("BEiT: heads and grid from the table of relative positions") {
  FakeFile file = Beit();
  VitModel model = file.Load();
  CHECK(model.config.family == "beit");
  CHECK(model.config.num_heads == 4);
  CHECK(SourceOf(model, "num_heads") == "inferred");
  CHECK(model.config.relative_position);
  CHECK(model.config.position_grid == RowsCols{3, 3});
  CHECK(model.config.image_size == RowsCols{12, 12});
  CHECK(model.unrecognised_tensors.empty());
  CheckSameModel(model, RoundTrip(model));
  LoadModelOptions options;
  options.num_heads = 8;
  Contains(LoadError(file, options),
           "relative_position_bias_table' should be 28 x 8, found 28 x 4");
}

TEST_CASE("BEiT: a shared table is added to each block's own") {
  FakeFile file = Beit();
  file.Add("rel_pos_bias.relative_position_bias_table", {28, 4});
  const auto source = file.Source();
  const VitModel model = LoadVitModel(*source);
  const float own = source->Load("blocks.1.attn.relative_position_bias_table").matrix().at(5, 2);
  const float shared = source->Load("rel_pos_bias.relative_position_bias_table").matrix().at(5, 2);
  CHECK(model.layers[1].relative_position.matrix().at(5, 2) == own + shared);
  Erase(file, "attn.relative_position_bias_table");
  const VitModel one = file.Load();
  CHECK(one.layers[0].relative_position.data() == one.layers[1].relative_position.data());
}

TEST_CASE("BEiT v2 has ImageNet's mean, BEiT one half") {
  FakeFile file = Beit();
  file.Text("config.json", TimmConfig("beitv2_base_patch16_224"));
  CHECK(file.Load().preprocess.mean[0] == 0.485);
  file.Text("config.json", TimmConfig("beit_base_patch16_224"));
  CHECK(file.Load().preprocess.mean[0] == 0.5);
}

TEST_CASE("Google's kernels are turned and carry the number of heads") {
  const auto source = GoogleTower().Source();
  const VitModel model = LoadVitModel(*source);
  CHECK(model.config.family == "vit");
  CHECK(model.config.num_heads == 4);
  CHECK(SourceOf(model, "num_heads") == "inferred");
  CHECK(model.config.position_resize == PositionResize::kBilinear);
  const std::string attention = "Transformer/encoderblock_1/MultiHeadDotProductAttention_1/";
  const SharedTensor query = source->Load(attention + "query/kernel");  // (D, heads, head_dim)
  CHECK(model.layers[1].query.weight.matrix().at(2 * 16 + 7, 33) ==
        query.values()[33 * 64 + 2 * 16 + 7]);
  const SharedTensor out = source->Load(attention + "out/kernel");  // (heads, head_dim, D)
  CHECK(model.layers[1].output.weight.matrix().at(33, 2 * 16 + 7) ==
        out.values()[(2 * 16 + 7) * 64 + 33]);
  const SharedTensor patch = source->Load("embedding/kernel");  // (row, column, channel, D)
  CHECK(model.patch_weight.matrix().at(50, 2 * 16 + 3 * 4 + 1) ==
        patch.values()[((3 * 4 + 1) * 3 + 2) * 64 + 50]);
  CheckSameModel(model, RoundTrip(model));
}

TEST_CASE("big_vision's names, prefixes and stacked layers") {
  CHECK(GoogleTower("params/img/", true).Load().config.num_layers == 2);
  CHECK(GoogleTower("opt/target/").Load().config.num_layers == 2);
  FakeFile file = GoogleTower("params/", true);
  FakeFile stacked;
  stacked.format = "npz";
  for (const auto& [name, shape] : file.shapes) {
    const size_t at = name.find("encoderblock_");
    if (at == std::string::npos) {
      stacked.Add(name, shape);
    } else if (name[at + 13] == '0') {
      Shape deeper = shape;
      deeper.insert(deeper.begin(), 2);
      stacked.Add(name.substr(0, at + 12) + name.substr(at + 14), deeper);
    }
  }
  const auto source = stacked.Source();
  const VitModel model = LoadVitModel(*source);
  CHECK(model.config.num_layers == 2);
  CHECK(model.config.num_heads == 4);
  const SharedTensor scale = source->Load("params/Transformer/encoderblock/LayerNorm_0/scale");
  CHECK(model.layers[1].norm1.weight.values()[3] == scale.values()[kDim + 3]);
  CHECK(model.unused_tensors.empty());
}

TEST_CASE("A classifier behind a layer of its own is left out, and that is said") {
  FakeFile file = GoogleTower();
  file.Add("head/kernel", {kDim, 5}).Add("head/bias", {5});
  CHECK(file.Load().config.num_classes == 5);
  file.Add("pre_logits/kernel", {kDim, kDim}).Add("pre_logits/bias", {kDim});
  const VitModel model = file.Load();
  CHECK_FALSE(model.head.present());
  CHECK(HasNote(model, "pre_logits"));
}

TEST_CASE("The classifier of transformers' DINOv2 sees class token and mean") {
  FakeFile file = TransformersTower("dinov2.");
  Rename(file, "layernorm_before", "norm1");
  Rename(file, "layernorm_after", "norm2");
  AddToBlocks(file, "layer_scale1.lambda1", {kDim}, "dinov2.encoder.layer.");
  AddToBlocks(file, "layer_scale2.lambda1", {kDim}, "dinov2.encoder.layer.");
  CHECK(file.Load().config.pooling == Pooling::kClass);
  file.Add("classifier.weight", {5, 2 * kDim});
  const VitModel model = file.Load();
  CHECK(model.config.family == "dinov2");
  CHECK(model.config.pooling == Pooling::kClassAndMean);
  CHECK(model.config.layer_norm_eps == 1e-6F);
  CheckSameModel(model, RoundTrip(model));
}

TEST_CASE("global_pool of a timm configuration decides, but not what it cannot") {
  FakeFile file = TimmTower();
  const auto load = [&file](const char* pool) {
    file.Text("config.json", TimmConfig("vit_base_patch16_224",
                                        std::string(R"(, "global_pool": ")") + pool + "\""));
    return file.Load();
  };
  CHECK(load("token").config.pooling == Pooling::kClass);
  CHECK(load("avg").config.pooling == Pooling::kMeanPatches);
  CHECK(load("").config.pooling == Pooling::kClass);
  const VitModel model = load("avgmax");
  CHECK_FALSE(model.head.present());
  CHECK(HasNote(model, "pooling \"avgmax\" is not supported"));
}

}  // namespace
}  // namespace attnmap
