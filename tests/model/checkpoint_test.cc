// Numbers of the configuration: where they come from, and what happens when
// sources disagree.
#include "model/towers.h"

namespace attnmap {
namespace {

// A tower of another width, patches and positions; the rest as TimmTower.
FakeFile Wide(int64_t dim) {
  FakeFile file = TimmTower();
  for (auto& [name, shape] : file.shapes) {
    for (int64_t& side : shape) {
      const bool fused = side == 3 * kDim;
      if (fused || side == kDim) side = fused ? 3 * dim : dim;
    }
  }
  return file;
}

TEST_CASE("Heads that nothing says are assumed from the width, aloud; --num-heads overrules") {
  struct Case {
    int dim;
    int heads;
  };
  for (const Case& c : {Case{192, 3}, Case{384, 6}, Case{768, 12}, Case{1152, 16}, Case{1280, 16},
                        Case{1536, 24}, Case{64, 2}, Case{96, 3}, Case{448, 7}}) {
    const VitModel model = Wide(c.dim).Load();
    CHECK(model.config.num_heads == c.heads);
    CHECK(SourceOf(model, "num_heads") == "assumed");
    CHECK(HasNote(model, std::to_string(c.heads) + " heads assumed for width"));
  }
  LoadModelOptions options;
  options.num_heads = 8;
  const VitModel model = Wide(192).Load(options);
  CHECK(model.config.head_dim == 24);
  CHECK(SourceOf(model, "num_heads") == "option");
  CHECK_FALSE(HasNote(model, "heads assumed"));
  Contains(LoadError(Wide(100)),
           "nothing says how many heads a width of 100 has; give --num-heads");
  options.num_heads = 7;
  Contains(LoadError(Wide(192), options), "7 heads do not divide the width 192 (option)");
}

TEST_CASE("A configuration says the heads, or leaves them to its library's default") {
  FakeFile file = Wide(192);
  file.Text("config.json",
            TimmConfig("vit_tiny_patch16_224", R"(, "model_args": {"num_heads": 6})"));
  CHECK(file.Load().config.num_heads == 6);
  CHECK(SourceOf(file.Load(), "num_heads") == "config.json");
  file.Text("config.json", TimmConfig("vit_tiny_patch16_224"));
  CHECK(file.Load().config.num_heads == 3);
  CHECK(SourceOf(file.Load(), "num_heads") == "inferred");
  file = Wide(768);
  file.Text("config.json", TimmConfig("vit_base_patch16_gap_224"));
  CHECK(file.Load().config.num_heads == 16);
  file = TransformersTower();
  for (auto& [name, shape] : file.shapes) {
    for (int64_t& side : shape) side = side == kDim ? 192 : side;
  }
  file.Text("config.json", R"({"model_type": "vit"})");
  CHECK(file.Load().config.num_heads == 12);
  CHECK(SourceOf(file.Load(), "num_heads") == "config.json (default)");
  file.Text("config.json", R"({"model_type": "vit", "num_attention_heads": 5})");
  Contains(LoadError(file), "5 heads do not divide the width 192 (config.json)");
  file.Text("config.json", R"({"model_type": "vit", "num_attention_heads": "six"})");
  Contains(LoadError(file), "num_attention_heads: expected a whole number");
}

VitConfig Positions(int64_t rows, const std::string& config, int registers = 0,
                    bool class_token = true) {
  FakeFile file = TimmTower();
  if (!class_token) file.shapes.erase("cls_token");
  if (registers > 0) file.Add("reg_token", {1, registers, kDim});
  file.Add("pos_embed", {1, rows, kDim});
  if (!config.empty()) file.Text("config.json", TimmConfig("vit_base_patch16_224", config));
  return file.Load().config;
}

TEST_CASE("Which tokens the positions cover follows from their number") {
  CHECK(Positions(10, "").position_cover == PositionCover::kPrefixNoRegisters);
  CHECK(Positions(9, "").position_cover == PositionCover::kPatches);  // DeiT III
  CHECK(Positions(9, ", \"x\": 1", 4).position_cover == PositionCover::kPatches);
  CHECK(Positions(10, ", \"x\": 1", 4).position_cover == PositionCover::kPrefixNoRegisters);
  CHECK(Positions(9 + 1 + 3, ", \"x\": 1", 3).position_cover == PositionCover::kAll);
  CHECK(Positions(9 + 4, ", \"x\": 1", 4, false).position_cover == PositionCover::kAll);
  CHECK(Positions(9, ", \"x\": 1", 4, false).position_cover == PositionCover::kPatches);
  CHECK(Positions(9, "", 0, false).position_cover == PositionCover::kPatches);
}

TEST_CASE("A native grid that is not square comes from the configuration (U-03)") {
  const VitConfig config = Positions(7, R"(, "model_args": {"img_size": [8, 12]})");
  CHECK(config.position_grid == RowsCols{2, 3});
  CHECK(config.image_size == RowsCols{8, 12});
  CHECK(config.position_cover == PositionCover::kPrefixNoRegisters);
  // Nothing says which grid: the table can be used as it is.
  const VitConfig unknown = Positions(8, "");
  CHECK(unknown.position_grid == RowsCols{0, 0});
  CHECK_FALSE(unknown.image_size.has_value());
}

TEST_CASE("Where an image size contradicts the table, the table wins") {
  const VitConfig config = Positions(10, R"(, "pretrained_cfg": {"input_size": [3, 224, 224]})");
  CHECK(config.position_grid == RowsCols{3, 3});
  CHECK(config.image_size == RowsCols{12, 12});
  // 13 pixels are 3 patches and a rest, which the convolution drops.
  CHECK(Positions(10, R"(, "model_args": {"img_size": 13})").image_size == RowsCols{13, 13});
}

Preprocess Processor(const std::string& text, const FakeFile& tower = TransformersTower()) {
  FakeFile file = tower;
  file.Text("preprocessor_config.json", text);
  return file.Load().preprocess;
}

TEST_CASE("preprocessor_config.json: sizes of every spelling") {
  using Kind = ResizeTarget::Kind;
  const auto resize = [](const std::string& text) { return *Processor(text).resize; };
  CHECK(resize(R"({"size": {"height": 20, "width": 30}})").kind == Kind::kExact);
  CHECK(resize(R"({"size": {"height": 20, "width": 30}})").size == RowsCols{20, 30});
  CHECK(resize(R"({"size": {"shortest_edge": 20}})").kind == Kind::kShortSide);
  CHECK(resize(R"({"size": {"longest_edge": 20}})").kind == Kind::kLongSide);
  CHECK(resize(R"({"size": 20, "image_processor_type": "ViTImageProcessor"})").kind ==
        Kind::kExact);
  CHECK(resize(R"({"size": 20, "image_processor_type": "CLIPImageProcessorFast"})").kind ==
        Kind::kShortSide);
  CHECK(resize(R"({"size": 20, "feature_extractor_type": "CLIPFeatureExtractor"})").kind ==
        Kind::kShortSide);
  CHECK_FALSE(Processor(R"({"do_resize": false, "size": 20})").resize.has_value());
}

TEST_CASE("preprocessor_config.json: crops only where it says so, rounded down") {
  CHECK_FALSE(Processor(R"({"image_processor_type": "ViTImageProcessor", "size": 20,
                            "crop_size": 16})")
                  .crop.has_value());
  const Preprocess crop = Processor(R"({"image_processor_type": "BitImageProcessor",
      "size": {"shortest_edge": 20}, "crop_size": {"height": 16, "width": 12}})");
  CHECK(crop.crop == RowsCols{16, 12});
  CHECK(crop.crop_rounding == Preprocess::CropRounding::kFloor);
  CHECK(crop.truncate_long_side);
  CHECK_FALSE(Processor(R"({"image_processor_type": "CLIPImageProcessor", "do_center_crop": false,
                            "size": 20, "crop_size": 16})")
                  .crop.has_value());
  CHECK(Processor(R"({"do_center_crop": true, "size": 20, "crop_size": 16})").crop ==
        RowsCols{16, 16});
}

TEST_CASE("preprocessor_config.json: filters and numbers") {
  CHECK(Processor(R"({"resample": 0})").filter == Filter::kNearest);
  CHECK(Processor(R"({"resample": 1})").filter == Filter::kLanczos);
  CHECK(Processor(R"({"resample": 3})").filter == Filter::kBicubic);
  CHECK(Processor(R"({"resample": 5})").filter == Filter::kHamming);
  CHECK(Processor(R"({"image_mean": [1, 2, 3], "image_std": [4, 5, 6]})").std[2] == 6);
  CHECK(Processor(R"({"do_normalize": false, "image_mean": [1, 2, 3]})").mean[0] == 0);
  CHECK(Processor(R"({"do_rescale": false})").rescale == 1);
  CHECK(Processor(R"({"rescale_factor": 0.00392156862745098})").rescale == 1.0 / 255);
  CHECK(Processor(R"({"image_processor_type": "DINOv3ViTImageProcessorFast"})").resize_in_float);
  FakeFile file = TransformersTower();
  file.Text("preprocessor_config.json", R"({"image_std": [0, 1, 1]})");
  Contains(LoadError(file), "preprocessor_config.json beside memory: image_std");
  file.Text("preprocessor_config.json", R"({"resample": 9})");
  Contains(LoadError(file), "resample: expected a whole number from 0 to 5, found 9");
  file.Text("preprocessor_config.json", "{");
  Contains(LoadError(file), "preprocessor_config.json beside memory is not valid JSON");
}

Preprocess TimmPreprocess(const std::string& cfg) {
  FakeFile file = TimmTower();
  file.Text("config.json", TimmConfig("vit_base_patch16_224", R"(, "pretrained_cfg": )" + cfg));
  return file.Load().preprocess;
}

TEST_CASE("timm's pretrained_cfg: crop_pct and crop_mode") {
  using Kind = ResizeTarget::Kind;
  const Preprocess center = TimmPreprocess(R"({"crop_pct": 0.9, "mean": [0.1, 0.2, 0.3]})");
  CHECK(center.resize->kind == Kind::kShortSide);
  CHECK(center.resize->size.rows == 13);  // floor(12 / 0.9)
  CHECK(center.crop == RowsCols{12, 12});
  CHECK(center.mean[2] == 0.3);
  CHECK(center.crop_rounding == Preprocess::CropRounding::kHalfEven);
  CHECK(TimmPreprocess(R"({"crop_pct": 0.9, "crop_mode": "squash"})").resize->kind == Kind::kExact);
  const Preprocess border = TimmPreprocess(R"({"crop_pct": 0.9, "crop_mode": "border"})");
  CHECK(border.resize->kind == Kind::kLongSide);
  CHECK_FALSE(border.truncate_long_side);
  CHECK(TimmPreprocess(R"({"interpolation": "lanczos"})").filter == Filter::kLanczos);
  CHECK(TimmPreprocess(R"({"interpolation": "random"})").filter == Filter::kBicubic);
}

TEST_CASE("Old timm repositories keep pretrained_cfg's fields at the top") {
  FakeFile file = TimmTower();
  file.Text("config.json", R"({"architecture": "vit_base_patch16_224", "mean": [0.1, 0.1, 0.1],
                               "input_size": [3, 12, 12], "crop_pct": 1.0})");
  const VitModel model = file.Load();
  CHECK(model.preprocess.mean[0] == 0.1);
  CHECK(model.preprocess.resize->size.rows == 12);
  CHECK(SourceOf(model, "preprocess") == "config.json");
}

TEST_CASE("Without any file the preprocessing is the family's, and called assumed") {
  const VitModel plain = TimmTower().Load();
  CHECK(plain.preprocess.resize->size.rows == 13);  // floor(12 / 0.875)
  CHECK(plain.preprocess.mean[0] == 0.485);
  CHECK(SourceOf(plain, "preprocess") == "assumed");
  CHECK(HasNote(plain, "preprocessing assumed: short side 13 bicubic, crop 12 x 12, ImageNet"));
  const VitModel vit = TransformersTower().Load();
  CHECK(vit.preprocess.resize->kind == ResizeTarget::Kind::kExact);
  CHECK(vit.preprocess.filter == Filter::kBilinear);
  CHECK(OpenAiTower().Load().preprocess.mean[0] == 0.48145466);
}

TEST_CASE("DINOv2's published size is not the size it is used at") {
  FakeFile file = TimmTower();
  AddToBlocks(file, "ls1.gamma", {kDim});
  AddToBlocks(file, "ls2.gamma", {kDim});
  file.Add("mask_token", {1, kDim}).Add("pos_embed", {1, 1370, kDim});
  file.Add("patch_embed.proj.weight", {kDim, 3, 14, 14});
  const VitModel model = file.Load();
  CHECK(model.config.image_size == RowsCols{518, 518});
  CHECK(model.preprocess.resize->size.rows == 256);
  CHECK(model.InputSize() == RowsCols{224, 224});
}

TEST_CASE("Labels: the configuration's, else labels.txt, else none") {
  FakeFile file = TransformersTower();
  file.Text("config.json", R"({"model_type": "vit", "num_attention_heads": 4,
      "id2label": {"1": "b", "0": "a", "4": "e", "3": "d", "2": "c"}})");
  CHECK(file.Load().labels == std::vector<std::string>{"a", "b", "c", "d", "e"});
  file.Text("labels.txt", "v\r\nw\nx\ny\nz\n");
  CHECK(file.Load().labels[0] == "a");
  file.Text("config.json", R"({"model_type": "vit", "num_attention_heads": 4, "id2label":
      {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2", "3": "LABEL_3", "4": "LABEL_4"}})");
  CHECK(file.Load().labels == std::vector<std::string>{"v", "w", "x", "y", "z"});
  file.Text("labels.txt", "v\nw\n");
  const VitModel model = file.Load();
  CHECK(model.labels.empty());
  CHECK(HasNote(model, "labels.txt names 2 classes, the model has 5"));
}

TEST_CASE("timm's label names get their descriptions") {
  FakeFile file = TimmTower();
  file.Text("config.json", TimmConfig("vit_base_patch16_224", R"(,
      "label_names": ["n1", "n2", "n3", "n4", "n5"], "label_descriptions": {"n2": "two"})"));
  CHECK(file.Load().labels == std::vector<std::string>{"n1", "two", "n3", "n4", "n5"});
}

TEST_CASE("Activation, epsilon and rotation come from the configuration") {
  FakeFile file = TransformersTower();
  file.Text("config.json", R"({"model_type": "vit", "num_attention_heads": 4,
                               "hidden_act": "gelu_new", "layer_norm_eps": 1e-5})");
  VitModel model = file.Load();
  CHECK(model.config.activation == Activation::kGeluTanh);
  CHECK(model.config.layer_norm_eps == 1e-5F);
  CHECK(SourceOf(model, "layer_norm_eps") == "config.json");
  file.Text("config.json", R"({"model_type": "vit", "num_attention_heads": 4})");
  model = file.Load();
  CHECK(model.config.layer_norm_eps == 1e-12F);
  CHECK(SourceOf(model, "layer_norm_eps") == "default of transformers");
  LoadModelOptions options;
  options.activation = "quick_gelu";
  CHECK(file.Load(options).config.activation == Activation::kQuickGelu);
  CHECK(SourceOf(file.Load(options), "activation") == "option");
}

TEST_CASE("Numbers of a configuration that no model has are refused, not believed") {
  FakeFile file = TransformersTower();
  const auto error = [&file](const std::string& text) {
    file.Text("config.json", text);
    return LoadError(file);
  };
  Contains(error(R"({"model_type": "vit", "image_size": -3})"), "image_size: expected a whole");
  Contains(error(R"({"model_type": "vit", "image_size": [0, 4]})"), "image_size: expected [rows");
  Contains(error(R"({"model_type": "vit", "layer_norm_eps": "1"})"), "layer_norm_eps: expected");
  Contains(error(R"({"model_type": "vit", "patch_size": [4, 8]})"), "only square patches");
  Contains(error(R"({"model_type": "vit", "id2label": {"x": "a"}})"), "id2label: expected whole");
  Contains(error("[1]"), "config.json beside memory: expected a JSON object");
}

TEST_CASE("NaN in a tensor that is used is an error that names it, elsewhere it is not") {
  FakeFile file = TimmTower();
  const auto nan = [](Shape shape) {
    Tensor tensor(std::move(shape));
    for (float& value : tensor.values) value = std::numeric_limits<float>::quiet_NaN();
    return SharedTensor(std::move(tensor));
  };
  file.Add("decoder_embed.weight", {4, 4});
  file.values["decoder_embed.weight"] = nan({4, 4});
  CHECK_NOTHROW(file.Load());
  file.values["blocks.1.norm2.bias"] = nan({kDim});
  Contains(LoadError(file), "tensor 'blocks.1.norm2.bias' holds a NaN or an infinity");
}

}  // namespace
}  // namespace attnmap
