#include <nlohmann/json.hpp>

#include "attnmap/encoder/encoder.h"
#include "cli/support.h"
#include "support/catch.h"

using namespace attnmap::test;

namespace {

// Multiplications and additions as the field counts them for a ViT's map:
// 2 ((L - 1) (12 N D^2 + 2 N^2 D) + N D^2).
double Operations(double layers, double n, double d) {
  return 2 * ((layers - 1) * (12 * n * d * d + 2 * n * n * d) + n * d * d);
}

}  // namespace

TEST_CASE("bench: a record a model, rates that follow from its time") {
  const RunResult result = Run(
      {"bench", "vit-ti16", "--size", "64x96", "--seconds", "0.01", "--threads", "1", "--json"});
  REQUIRE(result.status == 0);
  CHECK(result.err.empty());
  const auto table = nlohmann::json::parse(result.out);
  CHECK(table["threads"] == 1);
  CHECK(table["precision"] == "f32");
  CHECK(!table["instruction_set"].get<std::string>().empty());
  REQUIRE(table["models"].size() == 1);
  const auto& row = table["models"][0];
  CHECK(row["model"] == "vit-ti16");
  CHECK(row["size"] == nlohmann::json{64, 96});
  CHECK(row["tokens"] == 4 * 6 + 1);
  CHECK(row["images"].get<int>() >= 3);
  CHECK(row["operations"].get<double>() == Approx(Operations(12, 25, 192)));
  const double rate = row["operations"].get<double>() / row["median_ms"].get<double>() / 1e6;
  CHECK(row["gflops"].get<double>() == Approx(rate));
  const double median = row["median_ms"];
  CHECK(row["images_per_second"].get<double>() == Approx(1e3 / median));
  CHECK(row["best_ms"].get<double>() <= median);
  // 23 MB of weights, and the same again packed.
  CHECK(row["peak_megabytes"].get<double>() > 40);
  CHECK(row["peak_megabytes"].get<double>() < 400);
  double all = 0;
  for (const auto& [stage, share] : row["stages"].items()) {
    INFO(stage);
    CHECK(share.get<double>() > 0);
    all += share.get<double>();
  }
  CHECK(all == Approx(1.0));
  CHECK(row["stages"].size() == 5);
  // 8 of a layer's 12 N D^2 are the MLP's.
  CHECK(row["stages"]["mlp"].get<double>() > row["stages"]["output projection"].get<double>());
  CHECK(row["share"].get<double>() == Approx(rate / row["peak_gflops"].get<double>()));
}

TEST_CASE("bench: a table, and a model of one's own") {
  const RunResult result = Run({"bench", "-m", kDemoModel, "--seconds", "0.01"});
  REQUIRE(result.status == 0);
  CHECK(result.err.empty());
  for (const char* word : {"GFLOP/s", "images/s", "peak", "MB", "attention", "mlp"}) {
    CHECK(result.out.find(word) != std::string::npos);
  }
  CHECK(result.out.find("demo-vit.json") != std::string::npos);
  CHECK(result.out.find("vit-b16") == std::string::npos);
}

TEST_CASE("bfloat16 is used where the processor has it, else refused plainly") {
  const TempFolder folder;
  const RunResult result = Run({"run", ATTNMAP_SOURCE_DIR "/data/images/coffee.png", "--precision",
                                "bf16", "-o", (folder / "map.png").string()});
  if (attnmap::RunsWell(attnmap::Precision::kBfloat16)) {
    CHECK(result.status == 0);
    CHECK(result.err.find("precision bf16") != std::string::npos);
  } else {
    CheckFailure(result, 1, {"--precision bf16", "this processor"});
    CHECK(folder.List().empty());
    const RunResult batch = Run({"batch", ATTNMAP_SOURCE_DIR "/data/images", "--precision", "bf16",
                                 "-o", (folder / "maps").string()});
    CheckFailure(batch, 1, {"--precision bf16", "this processor"});
    CHECK(folder.List().empty());
  }
}
