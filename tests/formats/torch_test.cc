#include <cmath>
#include <string>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "formats/archives.h"
#include "support/catch.h"
#include "support/shared.h"
#include "support/torch_writer.h"
#include "support/zip_writer.h"

namespace attnmap {
namespace {

using test::ContiguousStrides;
using test::NumberBytes;
using test::PickleWriter;
using test::StorageBytes;
using test::TorchZipOf;
using test::Values;

std::unique_ptr<TensorArchive> OpenTorchBytes(std::vector<uint8_t> bytes,
                                              const std::string& key = {}) {
  return OpenTorch(MappedFile::FromBytes(std::move(bytes), "w.pth"), key);
}

std::vector<std::string> Names(const TensorArchive& archive) {
  std::vector<std::string> names;
  for (const TensorInfo& info : archive.tensors()) names.push_back(info.name);
  return names;
}

std::vector<float> CountUp(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return values;
}

// A storage "0" of float32 0, 1, 2, ...
std::vector<StorageBytes> Counting(int64_t count) {
  return {{"0", NumberBytes(CountUp(count), DataType::kF32)}};
}

// {"w": a view of a storage of `count` numbers}.
PickleWriter OneTensor(int64_t count, const PickleWriter::View& view) {
  PickleWriter pickle;
  pickle.Proto()
      .Op('}')
      .Text("w")
      .RebuildTensor({"FloatStorage", "0", count}, view)
      .Op('s')
      .Op('.');
  return pickle;
}

std::vector<float> Viewed(int64_t count, const PickleWriter::View& view) {
  return Values(
      OpenTorchBytes(TorchZipOf(OneTensor(count, view).bytes(), Counting(count)))->Load(0));
}

// Appends "key": a small tensor, for a dictionary under construction.
void PutTensor(PickleWriter& pickle, std::string_view key) {
  pickle.Text(key).RebuildTensor({"FloatStorage", "0", 4}, {0, {2, 2}, {2, 1}}).Op('s');
}

TEST_CASE("torch: the annotated example of the specification reads") {
  PickleWriter p;
  p.Raw("\x80\x02").Raw("ccollections\nOrderedDict\nq").Op(uint8_t{0}).Raw(")Rq\x01(");
  p.Text("w").Raw(
      "q\x02"
      "ctorch._utils\n_rebuild_tensor_v2\nq\x03((");
  p.Text("storage")
      .Raw(
          "q\x04"
          "ctorch\nFloatStorage\nq\x05")
      .Text("0")
      .Raw("q\x06")
      .Text("cpu");
  p.Raw("q\x07K\x04tq\x08QK").Op(uint8_t{0}).Raw("K\x02K\x02\x86q\x09K\x02K\x01\x86q\x0a\x89h");
  p.Op(uint8_t{0}).Raw(")Rq\x0btq\x0cRq\x0d");
  p.Text("b")
      .Raw(
          "q\x0eh\x03((h\x04"
          "ctorch\nHalfStorage\nq\x0f")
      .Text("1")
      .Raw("q\x10h\x07K\x01tq\x11QK");
  p.Op(uint8_t{0})
      .Raw("K\x01\x85q\x12K\x01\x85q\x13\x89h")
      .Op(uint8_t{0})
      .Raw(")Rq\x14tq\x15Rq\x16u.");
  const std::vector<float> w = {1, 2, 3, 4};
  const std::vector<float> b = {0.5F};
  const std::vector<StorageBytes> storages = {{"0", NumberBytes(w, DataType::kF32)},
                                              {"1", NumberBytes(b, DataType::kF16)}};
  const auto archive = OpenTorchBytes(TorchZipOf(p.bytes(), storages));
  CHECK(archive->format() == "pytorch");
  REQUIRE(Names(*archive) == std::vector<std::string>{"w", "b"});
  CHECK(archive->tensors()[0].shape == Shape{2, 2});
  CHECK(archive->tensors()[1].type == DataType::kF16);
  CHECK(Values(archive->Load(0)) == w);
  CHECK(Values(archive->Load(1)) == b);
  CHECK_FALSE(archive->Text("checkpoint_path").has_value());
}

TEST_CASE("torch: both forms give the same tensors, in every type") {
  const std::vector<NamedTensor> tensors = {
      {"blocks.0.attn.qkv.weight", SharedTensor(Tensor({3, 2}, {1, -2, 3.5, 0.25, -5, 6}))},
      {"cls_token", SharedTensor(Tensor({1, 1, 2}, {7, 8}))},
      {"logit_scale", SharedTensor(Tensor({}, {4.5}))},
      {"empty", SharedTensor(Tensor(Shape{0, 3}))}};
  const DataType type = GENERATE(DataType::kF32, DataType::kF16, DataType::kBF16, DataType::kF64);
  const bool legacy = GENERATE(false, true);
  const auto archive = OpenTorchBytes(legacy ? test::TorchLegacyBytes(tensors, type)
                                             : test::TorchZipBytes(tensors, type));
  REQUIRE(archive->tensors().size() == tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    CHECK(archive->tensors()[i].name == tensors[i].name);
    CHECK(archive->tensors()[i].type == type);
    CHECK(archive->Load(i).shape() == tensors[i].tensor.shape());
    CHECK(Values(archive->Load(i)) == Values(tensors[i].tensor));
  }
}

TEST_CASE("torch: float32 in a stored entry is used where it lies, and outlives the archive") {
  const std::vector<NamedTensor> tensors = {{"w", SharedTensor(Tensor({2, 2}, {1, 2, 3, 4}))}};
  const auto file = MappedFile::FromBytes(test::TorchZipBytes(tensors), "w.pth");
  SharedTensor loaded = OpenTorch(file)->Load(0);
  const auto* data = reinterpret_cast<const uint8_t*>(loaded.data());
  CHECK(data >= file->bytes().data());
  CHECK(data < file->bytes().data() + file->bytes().size());
  CHECK(Values(loaded) == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("torch: views of a storage are gathered") {
  CHECK(Viewed(6, {0, {2, 3}, {3, 1}}) == CountUp(6));
  CHECK(Viewed(6, {0, {2, 3}, {1, 2}}) == std::vector<float>{0, 2, 4, 1, 3, 5});  // transposed
  CHECK(Viewed(6, {2, {3}, {1}}) == std::vector<float>{2, 3, 4});
  CHECK(Viewed(6, {1, {2, 2}, {3, 1}}) == std::vector<float>{1, 2, 4, 5});
  CHECK(Viewed(2, {1, {3, 2}, {0, 0}}) == std::vector<float>(6, 1.0F));  // expanded
  CHECK(Viewed(6, {5, {}, {}}) == std::vector<float>{5});
  CHECK(Viewed(6, {6, {0, 2}, {2, 1}}).empty());
  CHECK(Viewed(4, {0, {1, 4, 1}, {999, 1, INT64_MAX}}) == CountUp(4));  // strides of 1 are moot
}

TEST_CASE("torch: parameters, typed tensors and explicit types") {
  const PickleWriter::Storage storage = {"FloatStorage", "0", 4};
  const PickleWriter::View view = {0, {4}, {1}};
  const std::vector<uint8_t> tensor = PickleWriter().RebuildTensor(storage, view).bytes();
  PickleWriter p;
  p.Proto().Op('}');
  p.Text("parameter").Global("torch._utils", "_rebuild_parameter").Op('(').Raw(tensor);
  p.Op(uint8_t{0x88}).OrderedDict().Op('t').Op('R').Op('s');
  p.Text("with_state").Global("torch._utils", "_rebuild_parameter_with_state").Op('(').Raw(tensor);
  p.Op(uint8_t{0x88}).OrderedDict().Op('}').Op('t').Op('R').Op('s');
  p.Text("typed").Global("torch._tensor", "_rebuild_from_type_v2").Op('(');
  p.Global("torch._utils", "_rebuild_tensor_v2").Global("torch.nn", "Buffer").Op('(');
  p.Persistent(storage)
      .Int(0)
      .Tuple(view.shape)
      .Tuple(view.strides)
      .Op(uint8_t{0x89})
      .OrderedDict();
  p.Op('t').Op('}').Op('t').Op('R').Op('s');
  p.Text("v3").Global("torch._utils", "_rebuild_tensor_v3").Op('(');
  p.Persistent({"UntypedStorage", "0", 16}).Int(0).Tuple(view.shape).Tuple(view.strides);
  p.Op(uint8_t{0x89}).OrderedDict().Global("torch", "float32").Op('t').Op('R').Op('s');
  p.Text("v3half").Global("torch._utils", "_rebuild_tensor_v3").Op('(');
  p.Persistent({"UntypedStorage", "0", 16}).Int(3).Tuple(Shape{2}).Tuple(Shape{1});
  p.Op(uint8_t{0x89}).OrderedDict().Global("torch", "uint16").Op('t').Op('R').Op('s').Op('.');
  const auto archive = OpenTorchBytes(TorchZipOf(p.bytes(), Counting(4)));
  REQUIRE(archive->tensors().size() == 5);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(archive->tensors()[i].type == DataType::kF32);
    CHECK(Values(archive->Load(i)) == CountUp(4));
  }
  CHECK(archive->tensors()[4].type == DataType::kU16);
  CHECK(Values(archive->Load(4)) == std::vector<float>{0x3F80, 0});  // the upper half of 1.0
}

TEST_CASE("torch: tensors may share a storage, values may share a container") {
  PickleWriter p;
  p.Proto().Op('}').Text("a").Op('}').Put(1);
  PutTensor(p, "w");
  p.Op('s').Text("b").Get(1).Op('s').Op('.');
  const auto archive = OpenTorchBytes(TorchZipOf(p.bytes(), Counting(4)));
  CHECK(Names(*archive) == std::vector<std::string>{"a.w", "b.w"});
  CHECK(archive->Load(0).data() == archive->Load(1).data());
}

TEST_CASE("torch: types that cannot be read are listed, and refused when loaded") {
  PickleWriter p;
  p.Proto().Op('}').Text("c");
  p.RebuildTensor({"ComplexFloatStorage", "0", 1}, {0, {1}, {1}}).Op('s');
  PutTensor(p, "w");
  const auto archive = OpenTorchBytes(TorchZipOf(p.Op('.').bytes(), Counting(4)));
  CHECK(archive->tensors()[0].type == DataType::kOther);
  CHECK_THROWS_WITH(archive->Load(0), Catch::Matchers::StartsWith("w.pth: tensor 'c': complex"));
  CHECK(Values(archive->Load(1)) == CountUp(4));
}

TEST_CASE("torch: big-endian checkpoints are swapped, old ones refused") {
  const auto pickle = OneTensor(1, {0, {1}, {1}}).bytes();
  std::vector<test::ZipTestEntry> entries(3);
  entries[0].name = "m/data.pkl";
  entries[0].data = pickle;
  entries[1].name = "m/byteorder";
  entries[1].data = test::TextBytes("big");
  entries[2].name = "m/data/0";
  entries[2].data = {0x3F, 0x80, 0, 0};
  CHECK(Values(OpenTorchBytes(test::ZipBytes(entries))->Load(0)) == std::vector<float>{1});
  entries[1].data = test::TextBytes("middle");
  CHECK_THROWS_AS(OpenTorchBytes(test::ZipBytes(entries)), Error);
  CHECK_THROWS_WITH(OpenTorchBytes(test::TorchLegacyOf(pickle, {}, false)),
                    Catch::Matchers::StartsWith("w.pth: written on a big-endian machine"));
}

TEST_CASE("torch: a repacked archive, deflated and without a folder, reads the same") {
  const std::vector<float> numbers(1000, 2.5F);
  std::vector<test::ZipTestEntry> entries(2);
  entries[0].name = "data.pkl";
  entries[0].data = OneTensor(1000, {0, {1000}, {1}}).bytes();
  entries[0].deflate = true;
  entries[1].name = "data/0";
  entries[1].data = NumberBytes(numbers, DataType::kF32);
  entries[1].deflate = true;
  const auto archive = OpenTorchBytes(test::ZipBytes(entries));
  const SharedTensor first = archive->Load(0);
  CHECK(Values(first) == numbers);
  CHECK(archive->Load(0).data() == first.data());  // unpacked once while in use
}

TEST_CASE("torch: views of old files are parts of their root") {
  PickleWriter p;
  p.Proto().Op('}').Text("w").Global("torch._utils", "_rebuild_tensor").Op('(').Op('(');
  p.Text("storage").Global("torch", "FloatStorage").Text("94").Text("cpu").Int(6);
  p.Op('(').Text("95").Int(2).Int(3).Op('t').Op('t').Op('Q').Int(1).Tuple(Shape{2}).Tuple(Shape{1});
  p.Op('t').Op('R').Op('s').Op('.');
  PickleWriter rest;
  rest.Proto().Op(']').Text("94").Op('a').Op('.').Raw(std::string("\x06\0\0\0\0\0\0\0", 8));
  rest.Raw(NumberBytes(CountUp(6), DataType::kF32));
  CHECK(Values(OpenTorchBytes(test::TorchLegacyOf(p.bytes(), rest.bytes()))->Load(0)) ==
        std::vector<float>{3, 4});
}

// ---- which dictionary

TEST_CASE("torch: the dictionary with the model's tensors is found") {
  PickleWriter p;
  p.Proto().Op('}');
  for (const char* key : {"student", "teacher"}) {
    p.Text(key).OrderedDict();
    PutTensor(p, "backbone.w");
    p.Op('s');
  }
  p.Text("optimizer").Op('}').Text("state").Op('}').Op('s').Op('s');
  p.Text("dino_loss").Op('}');
  PutTensor(p, "center");
  p.Op('s').Text("epoch").Int(7).Op('s').Op('.');
  const auto bytes = TorchZipOf(p.bytes(), Counting(4));
  const auto archive = OpenTorchBytes(bytes);
  CHECK(archive->Text("checkpoint_path") == "teacher");
  CHECK(archive->Text("checkpoint_alternatives") == "student");
  CHECK(Names(*archive) == std::vector<std::string>{"backbone.w"});
  CHECK(OpenTorchBytes(bytes, "student")->Text("checkpoint_path") == "student");
  CHECK_THROWS_WITH(OpenTorchBytes(bytes, "ema"),
                    "w.pth: the checkpoint key 'ema' is not there; these do: 'student', 'teacher'");
  CHECK_THROWS_WITH(
      OpenTorchBytes(bytes, "optimizer"),
      "w.pth: the checkpoint key 'optimizer' holds no tensors; these do: 'student', 'teacher'");
}

TEST_CASE("torch: wrappers within wrappers are gone through (U-14)") {
  PickleWriter p;
  p.Proto().Op('}').Text("model_ema").Op('}').Text("model").Op('}').Text("module").Op('}');
  p.Text("state_dict").OrderedDict();
  PutTensor(p, "module.blocks.0.0.w");
  p.Op('s').Op('s').Op('s').Op('s').Text("args").Global("argparse", "Namespace").Op(')');
  p.Op(uint8_t{0x81}).Op('}').Op('b').Op('s').Op('.');
  const auto bytes = TorchZipOf(p.bytes(), Counting(4));
  CHECK(OpenTorchBytes(bytes)->Text("checkpoint_path") == "model_ema.model.module.state_dict");
  CHECK(Names(*OpenTorchBytes(bytes)) == std::vector<std::string>{"module.blocks.0.0.w"});
  CHECK(OpenTorchBytes(bytes, "model_ema.model")->Text("checkpoint_path") ==
        "model_ema.model.module.state_dict");
}

TEST_CASE("torch: averaged weights come before raw ones, unless they hold no tensors") {
  const bool empty = GENERATE(false, true);
  PickleWriter p;
  p.Proto().Op('}').Text("state_dict").Op('}');
  PutTensor(p, "raw");
  p.Op('s').Text("state_dict_ema").Op('}');
  if (!empty) PutTensor(p, "averaged");
  p.Op('s').Op('.');
  CHECK(Names(*OpenTorchBytes(TorchZipOf(p.bytes(), Counting(4)))) ==
        std::vector<std::string>{empty ? "raw" : "averaged"});
}

TEST_CASE("torch: an unknown nesting is flattened with dots") {
  PickleWriter p;
  p.Proto().Op('}').Text("weights").Op('}');
  PutTensor(p, "w");
  p.Op('s').Int(3).Op('}');  // a key that is no string
  PutTensor(p, "ignored");
  p.Op('s').Text("note").Text("a string").Op('s').Op('.');
  const auto archive = OpenTorchBytes(TorchZipOf(p.bytes(), Counting(4)));
  CHECK(Names(*archive) == std::vector<std::string>{"weights.w"});
  CHECK_FALSE(archive->Text("checkpoint_path").has_value());
}

TEST_CASE("torch: _metadata on a state dict is no tensor") {
  PickleWriter p;
  p.Proto().OrderedDict();
  PutTensor(p, "w");
  p.Op('}').Text("_metadata").OrderedDict().Op('s').Op('b').Op('.');
  CHECK(Names(*OpenTorchBytes(TorchZipOf(p.bytes(), Counting(4)))) ==
        std::vector<std::string>{"w"});
}

// NEWOBJ of a class and the opening of its state; closed by Op('b').
PickleWriter& Module(PickleWriter& p, std::string_view module, std::string_view name) {
  return p.Global(module, name).Op(')').Op(uint8_t{0x81}).Op('}');
}

TEST_CASE("torch: a model saved whole gives the names of its state dict") {
  PickleWriter p;
  p.Proto().Op('}').Text("model");
  Module(p, "timm.models.vision_transformer", "VisionTransformer");
  p.Text("training").Op(uint8_t{0x89}).Op('s');
  p.Text("_parameters").OrderedDict();
  PutTensor(p, "cls_token");
  p.Text("bias").Op('N').Op('s').Op('s');
  p.Text("_buffers").OrderedDict();
  PutTensor(p, "kept");
  PutTensor(p, "transient");
  p.Op('s').Text("_non_persistent_buffers_set").Global("builtins", "set").Op(']').Text("transient");
  p.Op('a').Op(uint8_t{0x85}).Op('R').Op('s').Text("_modules").OrderedDict().Text("head");
  Module(p, "torch.nn.modules.linear", "Linear").Text("_parameters").OrderedDict();
  PutTensor(p, "weight");
  p.Op('s').Op('b').Op('s').Op('s').Op('b').Op('s').Op('.');
  const auto archive = OpenTorchBytes(TorchZipOf(p.bytes(), Counting(4)));
  CHECK(Names(*archive) == std::vector<std::string>{"cls_token", "kept", "head.weight"});
  CHECK(archive->Text("checkpoint_path") == "model");
}

TEST_CASE("torch: TorchScript attributes become names, its code is not looked at") {
  PickleWriter p;
  Module(p.Proto(), "__torch__.multimodal.model", "Multimodal");
  p.Text("training").Op(uint8_t{0x88}).Op('s').Text("visual");
  Module(p, "__torch__.multimodal.model.___torch_mangle_9547", "VisualTransformer");
  PutTensor(p, "class_embedding");
  p.Op('b').Op('s').Op('b').Op('.');
  CHECK(Names(*OpenTorchBytes(TorchZipOf(p.bytes(), Counting(4)))) ==
        std::vector<std::string>{"visual.class_embedding"});
}

TEST_CASE("torch: every golden checkpoint opens and all its tensors load") {
  const auto golden = test::SharedFolder("golden");
  if (!golden) return;
  struct Case {
    const char* file;
    size_t num_tensors;
    const char* first;
    const char* path;
  };
  const Case cases[] = {
      {"clip-openai-half/model/checkpoint.pth", 62, "positional_embedding", ""},
      {"clip-openai-torchscript/model/checkpoint.pth", 45, "logit_scale", ""},
      {"dino-official-56x80/model/checkpoint.pth", 42, "cls_token", ""},
      {"dino-official-full-checkpoint/model/checkpoint.pth", 44, "backbone.cls_token", "teacher"},
      {"dino-official-half-pth/model/checkpoint.pth", 42, "cls_token", ""},
      {"dino-official-legacy-pth/model/checkpoint.pth", 42, "cls_token", ""},
      {"dinov2-official-chunked-teacher/model/checkpoint.pth", 64, "backbone.cls_token", "teacher"},
      {"dinov2-official/model/checkpoint.pth", 49, "cls_token", ""},
      {"dinov3-official-swiglu/model/checkpoint.pth", 61, "cls_token", ""},
      {"mae-official-finetuned/model/checkpoint.pth", 44, "cls_token", "model"},
      {"open-clip/model/open_clip_pytorch_model.bin", 62, "positional_embedding", ""},
      {"timm-vit-pth/model/checkpoint.pth", 44, "cls_token", ""},
      {"timm-vit-pth-model/model/checkpoint.pth", 44, "cls_token", "model"},
      {"timm-vit-pth-module/model/checkpoint.pth", 44, "module.cls_token", "state_dict"},
      {"torchvision-vit/model/checkpoint.pth", 44, "class_token", ""},
  };
  for (const Case& c : cases) {
    INFO(c.file);
    const auto archive = OpenTorch(MappedFile::Open((*golden / c.file).string()));
    REQUIRE(archive->tensors().size() == c.num_tensors);
    CHECK(archive->tensors()[0].name == c.first);
    CHECK(archive->Text("checkpoint_path").value_or("") == c.path);
    for (size_t i = 0; i < archive->tensors().size(); ++i) {
      const SharedTensor tensor = archive->Load(i);
      CHECK(tensor.shape() == archive->tensors()[i].shape);
      for (const float value : tensor.values()) {
        if (!(value > -1e4F && value < 1e4F)) FAIL(archive->tensors()[i].name << ": " << value);
      }
    }
  }
}

TEST_CASE("torch: the legacy and the half form of one teacher agree") {
  const auto golden = test::SharedFolder("golden");
  if (!golden) return;
  const auto open = [&](const char* folder) {
    return OpenTorch(MappedFile::Open((*golden / folder / "model/checkpoint.pth").string()));
  };
  const auto legacy = open("dino-official-legacy-pth");
  const auto half = open("dino-official-half-pth");
  REQUIRE(Names(*legacy) == Names(*half));
  for (size_t i = 0; i < legacy->tensors().size(); ++i) {
    const SharedTensor a = legacy->Load(i);
    const SharedTensor b = half->Load(i);
    REQUIRE(a.shape() == b.shape());
    for (size_t j = 0; j < a.values().size(); ++j) {
      if (std::abs(a.values()[j] - b.values()[j]) > 1e-3F + 1e-3F * std::abs(a.values()[j])) {
        FAIL(legacy->tensors()[i].name << " element " << j);
      }
    }
  }
}

}  // namespace
}  // namespace attnmap
