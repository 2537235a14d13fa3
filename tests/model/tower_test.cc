// Where in a file the tower is, and under which names.
#include "model/towers.h"

namespace attnmap {
namespace {

TEST_CASE("Wrappers of any name are seen through (U-14)") {
  for (const char* prefix : {"", "module.", "model.", "backbone.", "state_dict.module.",
                             "module.backbone.", "pretrained.", "a.b.c.", "timm_model."}) {
    INFO(prefix);
    const VitModel model = TimmTower(prefix).Load();
    CHECK(model.config.num_layers == 2);
    CHECK(model.head.present());
    CHECK(model.unused_tensors.empty());
  }
}

TEST_CASE("Components that compilers and sharding put into names are dropped (U-14)") {
  FakeFile file = TimmTower("module._orig_mod.");
  Rename(file, "blocks.0.attn", "blocks.0._fsdp_wrapped_module.attn");
  Rename(file, "blocks.1.mlp", "blocks.1._checkpoint_wrapped_module.mlp");
  CHECK(file.Load().unused_tensors.empty());
}

TEST_CASE("Chunked block names carry the layer's own number (U-14)") {
  FakeFile file = TimmTower("teacher.backbone.");
  Rename(file, "blocks.0.", "blocks.0.0.");
  Rename(file, "blocks.1.", "blocks.1.1.");
  const VitModel model = file.Load();
  CHECK(model.config.num_layers == 2);
  CHECK(model.unused_tensors.empty());
}

TEST_CASE("Of teacher and student the teacher is used, and the note says so (U-14)") {
  FakeFile file = TimmTower("student.module.backbone.");
  for (const auto& [name, shape] : TimmTower("teacher.backbone.").shapes) file.Add(name, shape);
  const auto source = file.Source();
  const VitModel model = LoadVitModel(*source);
  CHECK(model.class_token.data() == source->Load("teacher.backbone.cls_token").data());
  CHECK(HasNote(model, "'teacher.backbone.' is used, not 'student.module.backbone.'"));
}

TEST_CASE("Averaged weights come before raw ones; a word within a word does not count") {
  FakeFile file = TimmTower("model.");
  for (const auto& [name, shape] : TimmTower("model_ema.module.").shapes) file.Add(name, shape);
  auto source = file.Source();
  CHECK(LoadVitModel(*source).class_token.data() ==
        source->Load("model_ema.module.cls_token").data());
  file = TimmTower("net.");
  for (const auto& [name, shape] : TimmTower("schema.net.").shapes) file.Add(name, shape);
  source = file.Source();
  CHECK(LoadVitModel(*source).class_token.data() == source->Load("net.cls_token").data());
}

TEST_CASE("Heads beside the tower belong to it") {
  const VitModel model = TransformersTower("vit.").Load();
  CHECK(model.config.num_classes == 5);
  CHECK(model.unused_tensors.empty());
  const VitModel clip = TransformersClipTower(true).Load();
  CHECK(clip.projection.weight.shape() == Shape{7, kDim});
}

TEST_CASE("The names that transformers 5 has in memory are known") {
  FakeFile file = TransformersTower("vit.", "layers.");
  Rename(file, "classifier", "vit.pooler.dense");  // a pooler, not a classifier
  FakeFile renamed;
  const std::pair<const char*, const char*> names[] = {
      {"attention.attention.query", "attention.q_proj"},
      {"attention.attention.key", "attention.k_proj"},
      {"attention.attention.value", "attention.v_proj"},
      {"attention.output.dense", "attention.o_proj"},
      {"intermediate.dense", "mlp.fc1"},
      {".output.dense", ".mlp.fc2"}};
  for (const auto& [from, to] : names) Rename(file, from, to);
  const VitModel model = file.Load();
  CHECK(model.config.family == "vit");
  CHECK(model.config.position_resize == PositionResize::kBicubic);
  CHECK(model.unused_tensors.size() == 2);  // the pooler's
  CHECK(model.unrecognised_tensors.empty());
}

TEST_CASE("Leftovers are listed, and warned about where they lie in the tower") {
  FakeFile file = TimmTower();
  file.Add("decoder_embed.weight", {3, 3}).Add("blocks.0.attn.rel_pos_index", {2});
  file.Add("mask_token", {1, kDim});
  const VitModel model = file.Load();
  CHECK(model.unused_tensors.size() == 3);
  CHECK(model.unrecognised_tensors == std::vector<std::string>{"blocks.0.attn.rel_pos_index"});
  CHECK(HasNote(model, "blocks.0.attn.rel_pos_index"));
}

TEST_CASE("A tensor that a block lacks is named as the file would call it (U-16)") {
  FakeFile file = TimmTower("teacher.backbone.");
  SECTION("missing weight") {
    file.shapes.erase("teacher.backbone.blocks.1.norm2.weight");
    Contains(LoadError(file), "tensor 'teacher.backbone.blocks.1.norm2.weight' is missing");
  }
  SECTION("missing bias that the first block has") {
    file.shapes.erase("teacher.backbone.blocks.1.mlp.fc1.bias");
    Contains(LoadError(file), "tensor 'teacher.backbone.blocks.1.mlp.fc1.bias' is missing");
  }
  SECTION("wrong shape") {
    file.Add("teacher.backbone.blocks.1.mlp.fc1.weight", {kMlp, 63});
    Contains(LoadError(file), "should be 96 x 64, found 96 x 63");
  }
  SECTION("no blocks") {
    Erase(file, "blocks.");
    Contains(LoadError(file),
             "no blocks found, expected tensors called teacher.backbone.blocks.0.");
  }
  SECTION("a patch embedding of no shape") {
    file.Add("teacher.backbone.patch_embed.proj.weight", {kDim, 3, 2, 4, 4});
    Contains(LoadError(file), "should have 4 dimensions");
  }
}

TEST_CASE("Only tensors of numbers with a point are read") {
  class Integers : public WeightSource {
   public:
    explicit Integers(std::unique_ptr<WeightSource> source) : source_(std::move(source)) {
      for (TensorInfo info : source_->tensors()) {
        if (info.name == "norm.bias") info.type = DataType::kI64;
        infos_.push_back(info);
      }
    }
    const std::string& path() const override { return source_->path(); }
    std::string_view format() const override { return "pytorch"; }
    std::span<const TensorInfo> tensors() const override { return infos_; }
    const TensorInfo* Find(std::string_view name) const override {
      for (const TensorInfo& info : infos_) {
        if (info.name == name) return &info;
      }
      return nullptr;
    }
    SharedTensor Load(std::string_view name) const override { return source_->Load(name); }
    std::optional<std::string> Text(std::string_view) const override { return std::nullopt; }

   private:
    std::unique_ptr<WeightSource> source_;
    std::vector<TensorInfo> infos_;
  };
  const Integers source(TimmTower().Source());
  Contains(MessageOf([&] { LoadVitModel(source); }),
           "tensor 'norm.bias' should hold floating-point numbers, found i64");
}

TEST_CASE("What is not supported is refused by its name") {
  struct Case {
    const char* tensor;
    const char* architecture;
  };
  const Case cases[] = {
      {"layers.0.blocks.0.attn.qkv.weight", "Swin"},
      {"encoder.layers.0.blocks.0.attention.self.query.weight", "Swin"},
      {"blocks.0.attns.0.qkv.weight", "parallel"},
      {"rope.freqs", "rotary frequencies"},
      {"beit3.encoder.layers.0.weight", "BEiT-3"},
      {"blocks.0.attn.rel_pos_h", "SAM"},
      {"blocks.0.attn.qkv.weight.SCB", "quantised"},
      {"det_token", "YOLOS"},
      {"patch_embed.backbone.stem.conv.weight", "hybrid"},
      {"stages.0.blocks.0.conv_dw.weight", "ConvNeXt"},
  };
  for (const Case& c : cases) {
    FakeFile file = TimmTower();
    file.Add(c.tensor, {3});
    const std::string message = LoadError(file);
    Contains(message, c.architecture);
    Contains(message, "is recognised but not supported");
    Contains(message, c.tensor);
  }
  FakeFile resnet;
  resnet.Add("conv1.weight", {64, 3, 7, 7}).Add("layer1.0.conv1.weight", {64, 64, 1, 1});
  Contains(LoadError(resnet), "ResNet is recognised but not supported");
  FakeFile bert;
  bert.Add("bert.embeddings.word_embeddings.weight", {30, 8});
  Contains(LoadError(bert), "a language model is recognised");
  FakeFile unknown;
  unknown.Add("weights", {3});
  Contains(LoadError(unknown), "no Vision Transformer recognised");
  Contains(LoadError(unknown), "1 tensors, the first is 'weights'");
}

TEST_CASE("Architectures that share all names are refused by their structure or configuration") {
  FakeFile file = TimmTower();
  SECTION("norms without a bias") {
    Erase(file, "norm1.bias");
    Contains(LoadError(file), "RMS norms");
  }
  SECTION("rotary positions alone") {
    file.shapes.erase("pos_embed");
    Contains(LoadError(file), "vit_*_rope_*");
  }
  SECTION("norms after the residual") {
    file.Text("config.json", TimmConfig("vit_base_patch16_rpn_224"));
    Contains(LoadError(file), "rpn");
  }
  SECTION("windows of relative positions") {
    AddToBlocks(file, "attn.relative_position_bias_table", {169, 4});
    Contains(LoadError(file), "Swin");
  }
  SECTION("a model type") {
    file = TransformersTower();
    file.Text("config.json", R"({"model_type": "swinv2"})");
    Contains(LoadError(file), "Swin v2 is recognised but not supported");
  }
}

TEST_CASE("What has its like in the tower of another model is no reason to refuse") {
  FakeFile file = TransformersClipTower(true);
  file.Add("text_model.embeddings.word_embeddings.weight", {30, 8});
  file.Add("language_model.embed_tokens.weight", {30, 8});
  CHECK(file.Load().config.family == "clip");
}

}  // namespace
}  // namespace attnmap
