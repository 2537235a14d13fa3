#include <nlohmann/json.hpp>

#include "attnmap/formats/arrays.h"
#include "attnmap/formats/file.h"
#include "cli/support.h"
#include "support/catch.h"

using namespace attnmap::test;
using nlohmann::json;

namespace {

std::filesystem::path Data(const std::string& name) {
  return std::filesystem::path(ATTNMAP_TEST_DATA) / "cli" / name;
}

std::vector<std::string> Textbook(const std::string& command, std::vector<std::string> more) {
  std::vector<std::string> args = {
      command, Data("three-pixels.png"), "-m", Data("textbook.json"), "--fit", "stretch", "--size",
      "1x3"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

json Dumped(const std::vector<std::string>& args) {
  const RunResult result = Run(args);
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  return json::parse(result.out);
}

}  // namespace

TEST_CASE("the textbook's worked example through the command line") {
  // Three one-hot tokens, so that the rows of W_Q, W_K, W_V are q, k, v:
  // q1 = [1,0]; k = v = [1,0], [0,1], [1,1]; d_k = 2.
  const json attention = Dumped(Textbook(
      "dump", {"--what", "attention", "--query", "token:0", "-o", "-", "--format", "json"}));
  CHECK(attention["name"] == "attention.0");
  CHECK(attention["shape"] == json({1, 1, 3}));
  CHECK(attention["layer"] == 0);
  CHECK(attention["query"] == "token 0");
  const json& row = attention["data"][0][0];
  CHECK(row[0].get<double>() == Approx(0.4011).margin(1e-4));
  CHECK(row[1].get<double>() == Approx(0.1978).margin(1e-4));
  CHECK(row[2].get<double>() == Approx(0.4011).margin(1e-4));

  const json both = Dumped(Textbook(
      "dump", {"--what", "output,scores,query", "--query", "0,0", "-o", "-", "--format", "json"}));
  CHECK(both["output.0"]["shape"] == json({1, 1, 2}));
  CHECK(both["output.0"]["data"][0][0][0].get<double>() == Approx(0.8022).margin(1e-4));
  CHECK(both["output.0"]["data"][0][0][1].get<double>() == Approx(0.5989).margin(1e-4));
  CHECK(both["scores.0"]["data"] == json({{{1, 0, 1}}}));  // before scaling
  CHECK(both["query.0"]["data"] == json({{{1, 0}}}));
}

TEST_CASE("explain says the textbook's numbers") {
  const json record = Dumped(Textbook("explain", {"--query", "token:0", "--json"}));
  CHECK(record["query_vector"] == json({1, 0}));
  CHECK(record["strongest"][0]["token"] == 0);
  CHECK(record["strongest"][1]["token"] == 2);
  CHECK(record["strongest"][0]["score"].get<double>() == Approx(1));
  CHECK(record["strongest"][0]["scaled"].get<double>() == Approx(0.70711).margin(1e-5));
  CHECK(record["strongest"][0]["exponential"].get<double>() == Approx(1));
  CHECK(record["strongest"][2]["exponential"].get<double>() == Approx(0.49307).margin(1e-5));
  CHECK(record["strongest"][0]["weight"].get<double>() == Approx(0.4011).margin(1e-4));
  CHECK(record["sum"].get<double>() == Approx(2.49307).margin(1e-5));
  CHECK(record["output"][0].get<double>() == Approx(0.8022).margin(1e-4));
  CHECK(record["output"][1].get<double>() == Approx(0.5989).margin(1e-4));
  // Without scaling: softmax(1, 0, 1).
  CHECK(record["top_weight_unscaled"].get<double>() == Approx(0.42232).margin(1e-5));

  const RunResult text = Run(Textbook("explain", {"--query", "token:0"}));
  CHECK(text.status == 0);
  for (const char* part : {"q = [1.0000, 0.0000]", "1/√2 = 0.7071", "0.4011", "0.1978",
                           "[0.8022, 0.5989]", "without scaling"}) {
    CAPTURE(part);
    CHECK(text.out.find(part) != std::string::npos);
  }
}

TEST_CASE("--scale none leaves the scores as they are") {
  const json attention =
      Dumped(Textbook("dump", {"--what", "attention", "--query", "token:0", "--scale", "none", "-o",
                               "-", "--format", "json"}));
  CHECK(attention["data"][0][0][0].get<double>() == Approx(0.42232).margin(1e-5));
  const json doubled = Dumped(Textbook("dump", {"--what", "attention", "--query", "token:0",
                                                "--scale", "0.0", "-o", "-", "--format", "json"}));
  CHECK(doubled["data"][0][0][1].get<double>() == Approx(1.0 / 3));
}

TEST_CASE("dump: names and shapes of every matrix of the demo model") {
  const TempFolder folder;
  const std::string path = folder / "all.npz";
  const RunResult result =
      Run({"dump", Photo("coffee.png"), "--fit", "crop", "--layer", "1:3", "--what",
           "attention,scores,query,key,value,tokens,output,hidden,pixels,map,class_token_output,"
           "last_hidden_state",
           "-o", path});
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  CHECK(result.out.empty());
  CHECK(result.ErrorLines().size() == 1);
  const auto archive = attnmap::OpenNpz(attnmap::MappedFile::Open(path));
  std::map<std::string, attnmap::Shape> shapes;
  for (const attnmap::TensorInfo& info : archive->tensors()) shapes[info.name] = info.shape;
  std::map<std::string, attnmap::Shape> expected = {{"pixels", {3, 224, 224}},
                                                    {"map.1.mean", {14, 14}},
                                                    {"map.2.mean", {14, 14}},
                                                    {"class_token_output", {128}},
                                                    {"last_hidden_state", {197, 128}}};
  for (const std::string layer : {"1", "2"}) {
    expected["attention." + layer] = {4, 1, 197};
    expected["scores." + layer] = {4, 1, 197};
    for (const std::string name : {"query.", "key.", "value.", "output."}) {
      expected[name + layer] = {4, 197, 32};
    }
    expected["tokens." + layer] = {197, 128};
    expected["hidden." + layer] = {197, 128};
  }
  CHECK(shapes == expected);
}

TEST_CASE("dump: heads and rows are chosen, no axis is dropped") {
  const json record =
      Dumped({"dump", Photo("coffee.png"), "--fit", "crop", "--what", "attention,key,hidden",
              "--head", "2,0", "--query", "3,4", "-o", "-", "--format", "json"});
  CHECK(record["attention.3"]["shape"] == json({2, 1, 197}));
  CHECK(record["attention.3"]["head"] == "2,0");
  CHECK(record["attention.3"]["query"] == "patch 3,4");
  CHECK(record["key.3"]["shape"] == json({2, 1, 32}));
  CHECK(record["hidden.3"]["shape"] == json({1, 128}));
  const json all = Dumped({"dump", Photo("coffee.png"), "--fit", "crop", "--what", "attention,map",
                           "--query", "all", "-o", "-", "--format", "json"});
  CHECK(all["attention.3"]["shape"] == json({4, 197, 197}));
  CHECK(all["map"]["shape"] == json({197, 14, 14}));
  // Row 0 of the first is the class token's; heads are in the order asked for.
  const json heads = Dumped({"dump", Photo("coffee.png"), "--fit", "crop", "--what", "attention",
                             "--head", "0", "--query", "3,4", "-o", "-", "--format", "json"});
  CHECK(heads["data"][0][0] == record["attention.3"]["data"][1][0]);
  CHECK(all["attention.3"]["data"][0][1 + 3 * 14 + 4] == heads["data"][0][0]);
}

TEST_CASE("dump: every row of attention sums to 1") {
  const json all = Dumped({"dump", Photo("chelsea.png"), "--what", "attention", "--query", "all",
                           "--layer", "all", "-o", "-", "--format", "json"});
  for (const auto& [name, array] : all.items()) {
    for (const json& head : array["data"]) {
      for (const json& row : head) {
        double sum = 0;
        for (const json& weight : row) sum += weight.get<double>();
        REQUIRE(sum == Approx(1).margin(1e-5));
      }
    }
  }
}

TEST_CASE("dump: the model's own matrices need no picture") {
  const json model = Dumped(
      {"dump", "--what", "model", "-m", Data("textbook.json"), "-o", "-", "--format", "json"});
  CHECK(model["W_Q"]["data"] == json({{1, 0}, {0, 1}, {1, 1}}));
  CHECK(model.size() == 3);
}

TEST_CASE("dump: pixels run no encoder and are normalised") {
  const json pixels = Dumped(Textbook("dump", {"--what", "pixels", "-o", "-", "--format", "json"}));
  CHECK(pixels["shape"] == json({3, 1, 3}));
  CHECK(pixels["data"] == json({{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}}));
}

TEST_CASE("dump: npy and csv take one matrix, csv of rank 2 at most") {
  const TempFolder folder;
  const RunResult several =
      Run({"dump", Photo("coffee.png"), "--what", "map,tokens", "-o", "x.npy"},
          {.folder = folder.path()});
  CheckFailure(several, 2, {"npy"});
  const RunResult rank = Run({"dump", Photo("coffee.png"), "--what", "attention", "-o", "x.csv"},
                             {.folder = folder.path()});
  CheckFailure(rank, 2, {"csv"});
  CHECK(folder.List().empty());
  const RunResult csv = Run({"dump", Photo("coffee.png"), "--fit", "crop", "--what", "map", "-o",
                             "-", "--format", "csv"});
  CHECK(csv.status == 0);
  CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 14);
}
