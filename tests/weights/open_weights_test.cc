#include <cstring>
#include <filesystem>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "attnmap/formats/json_weights.h"
#include "attnmap/weights/weight_source.h"
#include "support/catch.h"
#include "support/golden.h"
#include "support/temporary.h"

namespace attnmap {
namespace {

using Catch::Matchers::Contains;
using test::TemporaryFolder;
namespace fs = std::filesystem;

std::string AsText(const std::vector<uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }

// Bytes of a small file of each format, with one tensor "w" of that value.
std::string Safetensors(float value, const std::string& name = "w") {
  const std::vector<float> values = {value};
  const std::vector<ArrayToWrite> arrays = {{name, {1}, values}};
  return AsText(SafetensorsBytes(arrays));
}
std::string Npz(float value) {
  const std::vector<float> values = {value};
  const std::vector<ArrayToWrite> arrays = {{"w", {1}, values}};
  return AsText(NpzBytes(arrays));
}
std::string Json(float value) {
  std::string text = R"({"format":"attnmap-weights","version":1,"config":{},"tensors":{"w":[)";
  AppendFloat(text, value);
  return text + "]}}";
}

float Value(const WeightSource& source) { return source.Load("w").values()[0]; }

std::string ErrorOf(const std::string& path) {
  try {
    OpenWeights(path);
  } catch (const Error& error) {
    const std::string what = error.what();
    CHECK(what.find('\n') == std::string::npos);
    return what;
  }
  return "no error";
}

TEST_CASE("weights are opened by content, whatever the file is called") {
  const TemporaryFolder folder;
  const auto format = [&](const std::string& name, const std::string& bytes) {
    const auto source = OpenWeights(folder.Write(name, bytes));
    CHECK(source->path() == folder / name);
    CHECK(source->tensors().size() == 1);
    CHECK(Value(*source) == 3);
    CHECK(source->Find("w")->shape == Shape{1});
    CHECK(source->Find("v") == nullptr);
    return std::string(source->format());
  };
  CHECK(format("a.npz", Safetensors(3)) == "safetensors");
  CHECK(format("a.json", Npz(3)) == "npz");
  CHECK(format("a.safetensors", " \n" + Json(3)) == "json");
  CHECK(format("no ending", Json(3)) == "json");
}

TEST_CASE("a tensor that is not there is an error with its name and the file's") {
  const TemporaryFolder folder;
  const auto source = OpenWeights(folder.Write("a.safetensors", Safetensors(3)));
  CHECK_THROWS_WITH(source->Load("head.weight"),
                    Contains(folder / "a.safetensors") && Contains("'head.weight'"));
}

TEST_CASE("what is no weights file is refused by its name") {
  const TemporaryFolder folder;
  const auto refused = [&](std::string bytes, const std::string& says) {
    const std::string error = ErrorOf(folder.Write("f", bytes));
    CHECK_THAT(error, Contains(folder / "f") && Contains(says));
  };
  refused("", "is empty");
  refused("GGUF\x03", "GGUF, which is not supported yet");
  refused("FUGG\x03", "big-endian GGUF");
  refused("lmgg\x01", "ggml");
  refused("\x89HDF\r\n\x1a\n", "HDF5");
  refused(std::string(257, '\0') + "ustar", "tar archive");
  refused("\x80\x04\x95.", "bare Python pickle");
  refused("\x80\x02}q\x01.", "bare Python pickle");
  refused("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS pointer");
  refused("\xFF\xD8\xFF\xE0", "picture (JPEG)");
  refused("\x89PNG\r\n", "picture (PNG)");
  refused("RIFF1234WEBPVP8 ", "picture (WebP)");
  refused("\x1F\x8B\x08", "gzip");
  refused("<!DOCTYPE html><html>", "web page");
  refused("\n\n  <html>", "web page");
  refused("[1, 2]", "JSON list");
  refused(std::string("\xFF\xFE{\0", 4), "UTF-16");
  refused("PK\x05\x06", "empty zip");
  refused("  \n ", "white space");
  refused("hello", "no weights file that is known");
  refused(AsText(NpyBytes({1}, std::vector<float>{1})), "single array");
  CHECK_THAT(ErrorOf(folder / "none"), Contains("No such file"));
}

TEST_CASE("a damaged file is still told by its beginning") {
  const TemporaryFolder folder;
  const std::string whole = Safetensors(3);
  CHECK_THAT(ErrorOf(folder.Write("m", whole.substr(0, whole.size() - 1))), Contains("incomplete"));
  const std::string zip = Npz(3);
  CHECK_THAT(ErrorOf(folder.Write("z", zip.substr(0, zip.size() / 2))), Contains(folder / "z"));
}

TEST_CASE("a folder is searched in the promised order") {
  const TemporaryFolder folder;
  const std::string path = folder.path().string();
  folder.Write("other.json", Json(1));
  CHECK(Value(*OpenWeights(path)) == 1);
  folder.Write("open_clip_pytorch_model.bin", Safetensors(2));
  CHECK(Value(*OpenWeights(path)) == 2);
  folder.Write("open_clip_model.safetensors", Safetensors(3));
  CHECK(Value(*OpenWeights(path)) == 3);
  folder.Write("pytorch_model.bin", Npz(4));
  CHECK(Value(*OpenWeights(path)) == 4);
  folder.Write("model.safetensors", Safetensors(5));
  CHECK(Value(*OpenWeights(path)) == 5);
  folder.Write("shard-1", Safetensors(6));
  folder.Write("pytorch_model.bin.index.json", R"({"weight_map": {"w": "shard-1"}})");
  CHECK(Value(*OpenWeights(path)) == 6);
  folder.Write("shard-2", Safetensors(7));
  folder.Write("model.safetensors.index.json", R"({"weight_map": {"w": "shard-2"}})");
  CHECK(Value(*OpenWeights(path)) == 7);
  CHECK(Value(*OpenWeights(path + "/")) == 7);
}

TEST_CASE("a folder's only weights file is taken, what else lies there does not matter") {
  const TemporaryFolder folder;
  folder.Write("config.json", R"({"architectures": ["ViTModel"], "hidden_size": 8})");
  folder.Write("preprocessor_config.json", "{}");
  folder.Write("tokenizer.json", R"({"model": {}})");
  folder.Write("README.md", "words");
  folder.Write("photo.jpg", "\xFF\xD8\xFF");
  folder.Write("vector.npy", AsText(NpyBytes({1}, std::vector<float>{1})));
  folder.Write("optimizer.pt", Npz(9));
  folder.Write(".hidden", Safetensors(8));
  fs::create_directory(folder.path() / "folder.safetensors");
  CHECK_THAT(ErrorOf(folder.path().string()), Contains("no weights file") && Contains("README.md"));
  folder.Write("deit", Safetensors(4));
  CHECK(Value(*OpenWeights(folder.path().string())) == 4);
}

TEST_CASE("several weights files in a folder are an error that lists them") {
  const TemporaryFolder folder;
  folder.Write("b.safetensors", Safetensors(1));
  folder.Write("a.npz", Npz(1));
  folder.Write("c.json", Json(1));
  CHECK_THAT(ErrorOf(folder.path().string()), Contains("a.npz, b.safetensors, c.json"));
  const TemporaryFolder empty;
  CHECK_THAT(ErrorOf(empty.path().string()), Contains("it is empty"));
}

TEST_CASE("configuration beside the weights is read, file or folder named") {
  const TemporaryFolder folder;
  const std::string file = folder.Write("model.safetensors", Safetensors(1));
  folder.Write("config.json", "{\"a\":1}");
  folder.Write("labels.txt", "cat\ndog\n");
  folder.Write("secret.txt", "no");
  for (const std::string& path : {file, folder.path().string()}) {
    const auto source = OpenWeights(path);
    CHECK(source->Text("config.json") == "{\"a\":1}");
    CHECK(source->Text("labels.txt") == "cat\ndog\n");
    CHECK(!source->Text("preprocessor_config.json"));
    CHECK(!source->Text("open_clip_config.json"));
    CHECK(!source->Text("secret.txt"));
    CHECK(!source->Text("config"));
  }
  folder.Write("labels.txt", std::string(17 << 20, 'x'));
  CHECK_THROWS_WITH(OpenWeights(file)->Text("labels.txt"),
                    Contains("labels.txt") && Contains("longer"));
}

TEST_CASE("weights that are called config.json are not their own configuration") {
  const TemporaryFolder folder;
  const auto source = OpenWeights(folder.Write("config.json", Json(2)));
  CHECK(!source->Text("config.json"));
  CHECK(source->Text("config").has_value());
}

TEST_CASE("configuration beside weights named without a folder is found") {
  const TemporaryFolder folder;
  folder.Write("m", Safetensors(1));
  folder.Write("config.json", "{}");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const auto text = OpenWeights("m")->Text("config.json");
  fs::current_path(before);
  CHECK(text == "{}");
}

TEST_CASE("sharded weights are joined") {
  const TemporaryFolder folder;
  folder.Write("m-1", Safetensors(1, "w"));
  folder.Write("m-2", Safetensors(2, "v"));
  const std::string index = folder.Write(
      "any.json",
      R"({"metadata": {"total_size": 8.0, "x": [{}]}, "weight_map": {"v": "m-2", "w": "m-1"}})");
  folder.Write("config.json", "{}");
  const auto source = OpenWeights(index);
  CHECK(source->format() == "safetensors");
  CHECK(source->path() == index);
  REQUIRE(source->tensors().size() == 2);
  CHECK(source->tensors()[0].name == "v");
  CHECK(source->Load("w").values()[0] == 1);
  CHECK(source->Load("v").values()[0] == 2);
  CHECK(source->Text("config.json") == "{}");
  CHECK_THROWS_WITH(source->Load("u"), Contains("'u'"));
}

TEST_CASE("what the writer of shards writes is joined again") {
  const TemporaryFolder folder;
  const std::vector<float> values = {1, 2, 3, 4};
  std::vector<ArrayToWrite> arrays;
  for (const char* name : {"a", "b", "c"}) arrays.push_back({name, {2, 2}, values});
  const auto paths = WriteSafetensorsShards(folder / "model.safetensors", arrays, 32,
                                            {DataType::kF32, {{kArchiveHeader, "{}"}}});
  CHECK(paths.size() == 3);
  const auto source = OpenWeights(folder.path().string());
  CHECK(source->tensors().size() == 3);
  CHECK(source->Load("c").values()[3] == 4);
  CHECK(source->Text("config") == "{}");
}

TEST_CASE("a shard index that could lead elsewhere, or does not fit, is refused") {
  const TemporaryFolder folder;
  folder.Write("m-1", Safetensors(1, "w"));
  folder.Write("m-2", Safetensors(2, "v"));
  folder.Write("m-3", Safetensors(2, "v"));
  folder.Write("m-4", "GGUF");
  const auto map = [&](const std::string& entries) {
    return ErrorOf(folder.Write("i.json", "{\"weight_map\": {" + entries + "}}"));
  };
  for (const char* name : {"../m-1", "/etc/passwd", "..", ".", "", "a/m-1", "a\\\\m-1", "C:m-1",
                           "m\\u0000-1", "m\\n-1"}) {
    INFO(name);
    CHECK_THAT(map("\"w\": \"" + std::string(name) + "\""), Contains("no plain name"));
  }
  CHECK_THAT(map(R"("w": "m-9")"),
             Contains("i.json") && Contains("m-9") && Contains("No such file"));
  CHECK_THAT(map(R"("u": "m-1")"), Contains("'u' is not in m-1"));
  CHECK_THAT(map(R"("w": "m-2", "v": "m-1")"), Contains("'w' is not in m-2"));
  CHECK_THAT(map(R"("w": "m-1", "v": "m-2", "x": "m-3")"),
             Contains("'v' is in two files, m-2 and m-3"));
  CHECK_THAT(map(R"("w": "m-1", "w": "m-1")"), Contains("'w' is there twice"));
  CHECK_THAT(map(R"("w": "m-4")"), Contains("m-4") && Contains("GGUF"));
  CHECK_THAT(map(R"("w": "i.json")"), Contains("is an index"));
  CHECK_THAT(map(R"("w": 1)"), Contains("a file name for 'w'"));
  CHECK_THAT(map(R"("w": {})"), Contains("a file name for 'w'"));
  CHECK_THAT(map(R"("w": ["m-1"])"), Contains("a file name for 'w'"));
  CHECK_THAT(map(""), Contains("weight_map is empty"));
  CHECK(map(R"("w": "m-1")") == "no error");
  const auto text = [&](const std::string& whole) {
    return ErrorOf(folder.Write("i.json", whole));
  };
  CHECK_THAT(text(R"({"weight_map": []})"), Contains("expected an object"));
  CHECK_THAT(text(R"({"weight_map": {"w": "m-1"}, "weight_map": {}})"), Contains("twice"));
  CHECK_THAT(text(R"({"weight_map": {"w": "m-1")"), Contains("cut short"));
  CHECK_THAT(text(R"({"a": {"weight_map": {}}})"), Contains("missing key 'weight_map'"));
  std::string deep = R"({"weight_map": {"w": "m-1"}, "m": )";
  for (int i = 0; i < 1000; ++i) deep += "[";
  CHECK_THAT(text(deep), Contains("64 deep"));
}

TEST_CASE("weights in memory are a source like any other") {
  std::vector<NamedTensor> tensors = {{"w", SharedTensor(Tensor({2}, {1, 2}))}};
  const auto source =
      MakeMemorySource(tensors, {{"config", "{}"}, {"labels.txt", "cat"}}, "json-layer");
  CHECK(source->format() == "json-layer");
  CHECK(source->tensors()[0].name == "w");
  CHECK(source->Find("w")->shape == Shape{2});
  CHECK(source->Load("w").data() == tensors[0].tensor.data());
  CHECK(source->Text("config") == "{}");
  CHECK(!source->Text("config.json"));
  CHECK_THROWS_WITH(source->Load("v"), Contains("memory") && Contains("'v'"));
}

TEST_CASE("every golden model opens, and each of its tensors loads") {
  for (const auto& golden : test::GoldenCases()) {
    for (const auto& model : golden.models) {
      INFO(model.string());
      const auto source = OpenWeights(model.string());
      CHECK(source->tensors().size() >= 5);
      for (const TensorInfo& info : source->tensors()) {
        const SharedTensor tensor = source->Load(info.name);
        if (tensor.shape() != info.shape) FAIL(info.name);
      }
    }
  }
}

}  // namespace
}  // namespace attnmap
