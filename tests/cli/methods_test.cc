// The methods as a user calls them, on the photos with the demo model.

#include <nlohmann/json.hpp>

#include "cli/support.h"
#include "support/catch.h"

using namespace attnmap::test;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json DumpedJson(std::vector<std::string> args) {
  args.insert(args.end(), {"-o", "-", "--format", "json"});
  const RunResult result = Run(args);
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  return json::parse(result.out);
}

double Sum(const json& numbers) {
  double sum = 0;
  for (const json& number : numbers) sum += number.is_array() ? Sum(number) : number.get<double>();
  return sum;
}

}  // namespace

TEST_CASE("run: each method draws a picture of the photo's size and says what it did") {
  struct Wanted {
    std::vector<std::string> options;
    std::vector<std::string> said;
  };
  const std::vector<Wanted> cases = {
      {{"--method", "rollout", "--start-layer", "1", "--discard-ratio", "0.5", "--head", "max"},
       {"max of 4 heads", "method rollout from layer 1, discard ratio 0.5"}},
      {{"--method", "rollout", "--start-layer", "-2", "--mass", "0.7"},
       {"method rollout from layer 2", "mass 0.7"}},
      {{"--method", "rollout", "--compat", "vit-explain", "--discard-ratio", "0.9"},
       {"compat vit-explain", " to 1"}},
      {{"--method", "value-norm", "--head", "2"}, {"head 2", "method value-norm"}},
      {{"--method", "similarity", "--query", "px:300,200"},
       {"query patch 7,10", "method similarity of outputs", " to 1"}},
      {{"--method", "similarity", "--query", "7,10", "--features", "keys", "--layer", "all"},
       {"layers 0 to 3", "method similarity of keys"}},
      {{"--method", "pca"}, {"method pca", "% of the variance"}},
      {{"--method", "pca", "--foreground", "below:0.7"},
       {"foreground below:0.7", "of 294 patches"}},
      {{"--outliers", "exclude"}, {"among 294 patches"}},
      {{"--method", "pca", "--outliers", "exclude"},
       {"% of the variance", "8 outlier tokens among 294 patches excluded"}},
      {{"--outliers", "clip", "--layer", "0:2"}, {"among 588 patches of 2 layers"}}};
  for (const Wanted& wanted : cases) {
    const TempFolder folder;
    std::vector<std::string> args{"run", Photo("coffee.png"), "-o", "x.png"};
    args.insert(args.end(), wanted.options.begin(), wanted.options.end());
    const RunResult result = Run(args, {.folder = folder.path()});
    CAPTURE(wanted.options, result.err);
    REQUIRE(result.status == 0);
    REQUIRE(result.ErrorLines().size() == 1);
    for (const std::string& part : wanted.said) CHECK_THAT(result.err, Contains(part));
    if (result.err.find("layers") != std::string::npos) continue;  // a sheet
    CHECK(ReadPicture(folder.path() / "x.png").size() == attnmap::RowsCols{400, 600});
  }
}

TEST_CASE("pca has no heads and no query: the line and the record leave them out") {
  const TempFolder folder;
  const RunResult result =
      Run({"run", Photo("coffee.png"), "--method", "pca", "--json"}, {.folder = folder.path()});
  REQUIRE(result.status == 0);
  const json record = json::parse(result.out);
  CHECK(record["heads"].is_null());
  CHECK(record["query"].is_null());
  CHECK(record["layer"] == 3);
  CHECK(record["settings"]["method"] == "pca");
  CHECK_THAT(result.err, !Contains("query") && !Contains("heads"));
}

TEST_CASE("dump: maps of every method, with their shapes") {
  const std::string coffee = Photo("coffee.png");
  const json pca = DumpedJson({"dump", coffee, "--what", "map", "--method", "pca"});
  CHECK(pca["shape"] == json({3, 14, 21}));
  CHECK(pca["head"].is_null());
  const json part =
      DumpedJson({"dump", coffee, "--what", "map", "--method", "pca", "--foreground", "0.5"});
  size_t nothing = 0;
  for (const json& row : part["data"][0]) {
    for (const json& value : row) nothing += value.is_null() ? 1U : 0U;
  }
  CHECK(nothing > 0);
  CHECK(nothing < 294);
  // Beside a word that has queries and layers: pca has neither.
  const json beside = DumpedJson({"dump", coffee, "--what", "map,attention", "--method", "pca",
                                  "--query", "all", "--layer", "0"});
  CHECK(beside["map"]["shape"] == json({3, 14, 21}));
  CHECK(beside["map"]["layer"] == 3);
  CHECK(beside["map"]["data"] == pca["data"]);
  const json similar =
      DumpedJson({"dump", coffee, "--what", "map", "--method", "similarity", "--query", "7,10"});
  CHECK(similar["shape"] == json({14, 21}));
  CHECK(similar["data"][7][10].get<double>() == Approx(1).margin(1e-6));
  const json layers = DumpedJson({"dump", coffee, "--what", "map", "--method", "similarity",
                                  "--query", "7,10", "--layer", "1:3"});
  CHECK(layers.contains("map.1"));
  CHECK(layers.contains("map.2"));
  const json all =
      DumpedJson({"dump", coffee, "--what", "map", "--method", "rollout", "--query", "all"});
  CHECK(all["shape"] == json({295, 14, 21}));
  const json script = DumpedJson(
      {"dump", coffee, "--what", "map", "--method", "rollout", "--compat", "vit-explain"});
  double most = 0;
  for (const json& row : script["data"]) {
    for (const json& value : row) most = std::max(most, value.get<double>());
  }
  CHECK(most == 1);
}

TEST_CASE("clipping outliers keeps the map's sum") {
  const std::string coffee = Photo("coffee.png");
  const json kept = DumpedJson({"dump", coffee, "--what", "map"});
  const json clipped = DumpedJson({"dump", coffee, "--what", "map", "--outliers", "clip"});
  CHECK(Sum(clipped["data"]) == Approx(Sum(kept["data"])).epsilon(1e-5));
}

TEST_CASE("--objects: boxes and areas in pixels of the photo, in record and manifest") {
  const TempFolder folder;
  const RunResult result =
      Run({"run", Photo("chelsea.png"), "--json", "--objects", "--mass", "0.5", "--head", "0,1"},
          {.folder = folder.path()});
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  const json objects = json::parse(result.out)["objects"];
  REQUIRE(objects.size() >= 2);
  double mass = 0;
  for (const json& object : objects) {
    const json& box = object["box"];  // top, left, bottom, right of a 300 x 451 photo
    CHECK(box[0].get<double>() >= 0);
    CHECK(box[1].get<double>() >= 0);
    CHECK(box[2].get<double>() <= 300);
    CHECK(box[3].get<double>() <= 451);
    const double whole = (box[2].get<double>() - box[0].get<double>()) *
                         (box[3].get<double>() - box[1].get<double>());
    CHECK(object["area"].get<double>() > 0);
    CHECK(object["area"].get<double>() <= whole * 1.001);  // boxes are rounded
    CHECK(object["layer"] == 3);
    if (object["head"] == "0") mass += object["mass"].get<double>();
  }
  CHECK(mass >= 0.5);
  CHECK(mass < 0.7);
  const RunResult batch =
      Run({"batch", Photo("chelsea.png"), "-o", "maps", "--objects"}, {.folder = folder.path()});
  REQUIRE(batch.status == 0);
  CHECK(json::parse(ReadText(folder.path() / "maps/manifest.jsonl"))["objects"].size() >= 1);
}

TEST_CASE("what a method cannot do with this model is status 1") {
  CheckFailure(Run({"run", Photo("coffee.png"), "--method", "rollout", "--layer", "1",
                    "--start-layer", "-2", "-o", "-", "--format", "npy"}),
               1, {"--start-layer 2", "layer 1"});
  CheckFailure(Run({"run", "none.png", "--method", "rollout", "--layer", "1", "--start-layer", "2",
                    "-o", "-", "--format", "npy"}),
               2, {"--start-layer 2", "--layer 1"});
  CheckFailure(Run({"run", Photo("coffee.png"), "--method", "rollout", "--start-layer", "9", "-o",
                    "-", "--format", "npy"}),
               1, {"layer 9", "4"});
  CheckFailure(Run({"run", Photo("coffee.png"), "--method", "pca", "--foreground", "1", "-o", "-",
                    "--format", "npy"}),
               1, {"--foreground leaves 0 of 294"});
}
