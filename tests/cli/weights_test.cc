#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "attnmap/weights/weight_source.h"
#include "cli/support.h"
#include "support/catch.h"
#include "support/torch_writer.h"

using namespace attnmap::test;
using nlohmann::json;

namespace {

json MapOf(const TempFolder& folder, const std::string& model) {
  const RunResult result =
      Run({"run", Photo("coffee.png"), "-m", model, "-o", "-", "--format", "json"},
          {.folder = folder.path()});
  CAPTURE(model, result.err);
  REQUIRE(result.status == 0);
  return json::parse(result.out)["data"];
}

}  // namespace

TEST_CASE("inspect: configuration with its sources, and every tensor") {
  const RunResult text = Run({"inspect", kDemoModel});
  CHECK(text.status == 0);
  CHECK(text.err.empty());
  for (const char* part :
       {"demo-vit.json", "num_layers", "(file)", "blocks.3.mlp.fc2.weight", "128 x 512", "f32"}) {
    CAPTURE(part);
    CHECK(text.out.find(part) != std::string::npos);
  }
  const json record = json::parse(Run({"inspect", kDemoModel, "--json"}).out);
  CHECK(record["config"]["num_heads"]["value"] == "4");
  CHECK(record["config"]["num_heads"]["source"] == "file");
  int64_t count = 0;
  for (const json& tensor : record["tensors"]) {
    int64_t size = 1;
    for (const json& dim : tensor["shape"]) size *= dim.get<int64_t>();
    count += size;
    CHECK(tensor["used"] == true);
  }
  CHECK(record["parameters"] == count);
}

TEST_CASE("convert: every format and form gives the same map") {
  const TempFolder folder;
  for (const std::string& model : {kDemoModel, kOneLayerModel}) {
    const json expected = MapOf(folder, model);
    struct Target {
      std::string name;
      std::vector<std::string> args;
    };
    const std::vector<Target> targets = {
        {"flat.json", {}}, {"nested.json", {"--nested"}}, {"t.safetensors", {}}, {"t.npz", {}}};
    for (const Target& target : targets) {
      std::vector<std::string> args = {"convert", model, target.name};
      args.insert(args.end(), target.args.begin(), target.args.end());
      const RunResult result = Run(args, {.folder = folder.path()});
      CAPTURE(model, target.name, result.err);
      REQUIRE(result.status == 0);
      CHECK(result.ErrorLines().size() == 1);
      CHECK(MapOf(folder, target.name) == expected);
    }
  }
}

TEST_CASE("one model saved every way gives one map, to the precision of the format") {
  const TempFolder folder;
  const auto source = attnmap::OpenWeights(kDemoModel);
  std::vector<attnmap::NamedTensor> tensors;
  for (const attnmap::TensorInfo& info : source->tensors()) {
    tensors.push_back({info.name, source->Load(info.name)});
  }
  const auto text = [](const std::vector<uint8_t>& bytes) {
    return std::string(bytes.begin(), bytes.end());
  };
  folder.Write("zip.pth", text(TorchZipBytes(tensors, attnmap::DataType::kF32)));
  folder.Write("legacy.pth", text(TorchLegacyBytes(tensors, attnmap::DataType::kF32)));
  folder.Write("half.pth", text(TorchZipBytes(tensors, attnmap::DataType::kF16)));
  const auto convert = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> args = {"convert", kDemoModel, name};
    args.insert(args.end(), more.begin(), more.end());
    REQUIRE(Run(args, {.folder = folder.path()}).status == 0);
  };
  convert("f32.safetensors", {});
  convert("f16.safetensors", {"--dtype", "f16"});
  convert("bf16.safetensors", {"--dtype", "bf16"});
  std::filesystem::create_directory(folder / "sharded");
  convert("sharded/model.safetensors", {"--shard-size", "1MB"});
  convert("npz.npz", {});
  convert("json.json", {});

  const auto map_of = [&](const std::string& model) {
    // The square the positions are for, so that no file need say how to resize
    // them; a bare .pth cannot say how many heads there are.
    const RunResult result = Run({"run", Photo("coffee.png"), "-m", model, "--num-heads", "4",
                                  "--fit", "stretch", "-o", "-", "--format", "json"},
                                 {.folder = folder.path()});
    CAPTURE(model, result.err);
    REQUIRE(result.status == 0);
    std::vector<double> values;
    const json record = json::parse(result.out);
    for (const json& row : record["data"]) {
      for (const json& value : row) values.push_back(value.get<double>());
    }
    return values;
  };
  const std::vector<double> expected = map_of(kDemoModel);
  const double largest = *std::max_element(expected.begin(), expected.end());
  struct Saved {
    std::string name;
    double tolerance;  // of the largest value
  };
  const std::vector<Saved> all = {
      {"f32.safetensors", 0},    {"sharded", 0},     {"npz.npz", 0},
      {"json.json", 0},          {"zip.pth", 0},     {"legacy.pth", 0},
      {"f16.safetensors", 0.01}, {"half.pth", 0.01}, {"bf16.safetensors", 0.08}};
  for (const Saved& saved : all) {
    const std::vector<double> map = map_of(saved.name);
    REQUIRE(map.size() == expected.size());
    double worst = 0;
    for (size_t i = 0; i < map.size(); ++i) {
      worst = std::max(worst, std::abs(map[i] - expected[i]));
    }
    CAPTURE(saved.name);
    CHECK(worst <= saved.tolerance * largest);
    CHECK((worst > 0) == (saved.tolerance > 0));
  }
  // More than one shard was written, and a folder is enough to name them.
  CHECK(std::filesystem::exists(folder / "sharded/model.safetensors.index.json"));
  CHECK(std::filesystem::exists(folder / "sharded/model-00002-of-00005.safetensors"));
}

TEST_CASE("a number that is none is found in any tensor that is used, nothing is written") {
  const TempFolder folder;
  const auto source = attnmap::OpenWeights(kDemoModel);
  for (const std::string bad : {"blocks.3.mlp.fc2.bias", "cls_token"}) {
    std::vector<attnmap::NamedTensor> tensors;
    for (const attnmap::TensorInfo& info : source->tensors()) {
      attnmap::SharedTensor tensor = source->Load(info.name);
      if (info.name == bad) {
        std::vector<float> values(tensor.values().begin(), tensor.values().end());
        values.back() = std::numeric_limits<float>::quiet_NaN();
        tensor = attnmap::SharedTensor(attnmap::Tensor(info.shape, values));
      }
      tensors.push_back({info.name, tensor});
    }
    const auto bytes = TorchZipBytes(tensors, attnmap::DataType::kF32);
    folder.Write("bad.pth", std::string(bytes.begin(), bytes.end()));
    for (const std::string command : {"run", "explain"}) {
      CheckFailure(Run({command, Photo("coffee.png"), "-m", "bad.pth", "--num-heads", "4"},
                       {.folder = folder.path()}),
                   1, {"bad.pth", bad, "NaN"});
    }
    CHECK(folder.List() == std::vector<std::string>{"bad.pth"});
  }
}

TEST_CASE("convert: half precision is near, and says so by its size") {
  const TempFolder folder;
  const json expected = MapOf(folder, kDemoModel);
  REQUIRE(Run({"convert", kDemoModel, "full.safetensors"}, {.folder = folder.path()}).status == 0);
  for (const std::string type : {"f16", "bf16"}) {
    const std::string name = type + ".safetensors";
    REQUIRE(Run({"convert", kDemoModel, name, "--dtype", type}, {.folder = folder.path()}).status ==
            0);
    CHECK(std::filesystem::file_size(folder / name) <
          0.55 * static_cast<double>(std::filesystem::file_size(folder / "full.safetensors")));
    const json map = MapOf(folder, name);
    double largest = 0;
    double worst = 0;
    for (size_t r = 0; r < map.size(); ++r) {
      for (size_t c = 0; c < map[r].size(); ++c) {
        largest = std::max(largest, expected[r][c].get<double>());
        worst = std::max(worst, std::abs(map[r][c].get<double>() - expected[r][c].get<double>()));
      }
    }
    CHECK(worst > 0);
    CHECK(worst < (type == "f16" ? 0.01 : 0.08) * largest);
  }
}

TEST_CASE("init: the same seed gives the same file, another seed another; both forms run") {
  const TempFolder folder;
  const std::vector<std::string> small = {"--embed-dim", "32",           "--num-heads",
                                          "2",           "--image-size", "64x96"};
  const auto init = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> args = {"init", name};
    args.insert(args.end(), small.begin(), small.end());
    args.insert(args.end(), more.begin(), more.end());
    const RunResult result = Run(args, {.folder = folder.path()});
    CAPTURE(result.err);
    REQUIRE(result.status == 0);
    return ReadText(folder / name);
  };
  const std::string a = init("a.json", {"--num-layers", "2", "--seed", "5"});
  CHECK(a == init("b.json", {"--num-layers", "2", "--seed", "5"}));
  CHECK(a != init("c.json", {"--num-layers", "2", "--seed", "6"}));
  CHECK_FALSE(MapOf(folder, "a.json").empty());
  const json layer = json::parse(init("l.json", {"--form", "one-layer"}));
  CHECK(layer.contains("heads"));
  CHECK_FALSE(MapOf(folder, "l.json").empty());
}

TEST_CASE("weights that are wrong: one line that names the key, nothing written") {
  struct Wrong {
    std::string text;
    std::string part;
  };
  const std::string good = R"("W_K": [[1,0],[0,1],[1,1]], "W_V": [[1,0],[0,1],[1,1]])";
  const std::vector<Wrong> cases = {
      {R"({"patch_size": 1, )" + good + "}", "W_Q"},
      {R"({"patch_size": 1, "W_Q": [[1,0],[0,1]], )" + good + "}", "W_Q"},
      {R"({"patch_size": 1, "W_Q": [[1,0],[0],[1,1]], )" + good + "}", "W_Q"},
      {R"({"patch_size": 1, "W_Q": [[1,0],[0,NaN],[1,1]], )" + good + "}", "W_Q"},
      {R"({"patch_size": 1, "W_Q": [[1,0],[0,null],[1,1]], )" + good + "}", "W_Q"},
      {R"({"patch_size": 1, "W_Q": [[1,0],[0,"1"],[1,1]], )" + good + "}", "W_Q"},
      {R"({"patch_size": 1, "W_Q": [[1,0],[0,1e99],[1,1]], )" + good + "}", "W_Q"},
      {R"({"patch_size": 1, "W_q": [[1,0],[0,1],[1,1]], )" + good + "}", "W_q"},
      {R"({"patch_size": 1, "W_Q": [[1,0],[0,1],[1,1]], "W_Q": [[1,0],[0,1],[1,1]], )" + good + "}",
       "W_Q"},
      {R"({"patch_size": 1, "W_Q": [[1,0],[0,1)", "W_Q"},
      {R"({"patch_size": -1, "W_Q": [[1,0],[0,1],[1,1]], )" + good + "}", "patch_size"},
      {R"({"patch_size": 1, "W_Q": {"shape": [3000000000, 2], "data": [1]}, )" + good + "}", "W_Q"},
      {R"({"patch_size": 1, "W_Q": )" + std::string(100000, '[') + "}", "W_Q"},
      {"{\"patch_size\": 1, \"W_Q\xff\": 1}", "UTF-8"},
      {"", "empty"},
      {"[1, 2]", "weights"},
      {R"({"format": "attnmap-weights", "version": 99, "config": {}, "tensors": {}})", "99"},
  };
  for (const Wrong& wrong : cases) {
    const TempFolder folder;
    folder.Write("w.json", wrong.text);
    CAPTURE(wrong.text.substr(0, 120));
    CheckFailure(Run({"run", Photo("coffee.png"), "-m", "w.json"}, {.folder = folder.path()}), 1,
                 {"w.json", wrong.part});
    CHECK(folder.List() == std::vector<std::string>{"w.json"});
  }
}
