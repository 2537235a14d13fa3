#include <nlohmann/json.hpp>

#include "cli/support.h"
#include "support/catch.h"

using namespace attnmap::test;
using nlohmann::json;

namespace {

std::string DemoModel() { return std::string(ATTNMAP_SOURCE_DIR) + "/data/models/demo-vit.json"; }

std::string OneLayer() { return std::string(ATTNMAP_SOURCE_DIR) + "/data/models/one-layer.json"; }

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
  const RunResult text = Run({"inspect", DemoModel()});
  CHECK(text.status == 0);
  CHECK(text.err.empty());
  for (const char* part :
       {"demo-vit.json", "num_layers", "(file)", "blocks.3.mlp.fc2.weight", "128 x 512", "f32"}) {
    CAPTURE(part);
    CHECK(text.out.find(part) != std::string::npos);
  }
  const json record = json::parse(Run({"inspect", DemoModel(), "--json"}).out);
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
  for (const std::string& model : {DemoModel(), OneLayer()}) {
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

TEST_CASE("convert: half precision is near, and says so by its size") {
  const TempFolder folder;
  const json expected = MapOf(folder, DemoModel());
  REQUIRE(Run({"convert", DemoModel(), "full.safetensors"}, {.folder = folder.path()}).status == 0);
  for (const std::string type : {"f16", "bf16"}) {
    const std::string name = type + ".safetensors";
    REQUIRE(
        Run({"convert", DemoModel(), name, "--dtype", type}, {.folder = folder.path()}).status ==
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
