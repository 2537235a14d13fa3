#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "attnmap/formats/arrays.h"
#include "attnmap/formats/file.h"
#include "cli/support.h"
#include "support/catch.h"
#include "support/shared.h"

using namespace attnmap::test;
using nlohmann::json;

namespace {

constexpr const char* kNumbers[] = {"entropy",    "distance",   "class_mass",    "register_mass",
                                    "patches_50", "patches_90", "outlier_share", "outlier_mass"};

std::vector<json> Records(const std::vector<std::string>& args) {
  std::vector<std::string> all = {"stats", "--json"};
  all.insert(all.end(), args.begin(), args.end());
  const RunResult result = Run(all);
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  return JsonLines(result.out);
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

}  // namespace

TEST_CASE("stats: a table with a line a head, a mean a layer, units in the head") {
  const RunResult result = Run({"stats", Photo("chelsea.png")});
  CHECK(result.status == 0);
  for (const char* part : {"chelsea.png: 14 x 21 patches of 16 px, 295 tokens",
                           "entropy 5.687 nats", "layer head", "nats", "px", "mass %", "patch %"}) {
    INFO(result.out);
    INFO("should hold: " << part);
    CHECK(result.out.find(part) != std::string::npos);
  }
  CHECK(Count(result.out, " mean ") == 4);
  std::istringstream in(result.out);
  int rows = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.find("chelsea") == std::string::npos) CHECK(line.size() <= 100);
    rows += line.size() > 5 && line[4] >= '0' && line[4] <= '3' && line[3] == ' ' ? 1 : 0;
  }
  CHECK(rows == 16);
}

TEST_CASE("stats --json: one record a layer and head with the interface's fields") {
  const auto records = Records({Photo("coffee.png")});
  REQUIRE(records.size() == 16);
  for (size_t i = 0; i < records.size(); ++i) {
    const json& record = records[i];
    CHECK(record.size() == 11);
    CHECK(record["image"] == Photo("coffee.png").string());
    CHECK(record["layer"] == i / 4);
    CHECK(record["head"] == i % 4);
    for (const char* name : kNumbers) CHECK(record.contains(name));
    CHECK(record["register_mass"].is_null());  // the demo model has no registers
    CHECK(record["entropy"].get<double>() > 0);
    CHECK(record["entropy"].get<double>() < std::log(295.0) + 1e-6);
    CHECK(record["patches_50"].get<double>() <= record["patches_90"].get<double>());
    for (const char* name : {"class_mass", "patches_90", "outlier_share", "outlier_mass"}) {
      CHECK(record[name].get<double>() >= 0);
      CHECK(record[name].get<double>() <= 1);
    }
  }
  const auto one = Records({Photo("coffee.png"), "--layer", "1:3", "--head", "2"});
  REQUIRE(one.size() == 2);
  CHECK(one[0] == records[6]);
  CHECK(one[1] == records[10]);
  // Without a class token there is no mass on it, and no row to look at outliers with.
  const json bare = Records({Photo("coffee.png"), "-m", kOneLayerModel}).at(0);
  CHECK(bare["class_mass"].is_null() == bare["outlier_mass"].is_null());
  CHECK(Records({Photo("coffee.png"), "-m", kOneLayerModel, "--query", "0,0"})
            .at(0)["outlier_mass"]
            .is_number());
}

TEST_CASE("stats: the same numbers for any number of threads") {
  const auto one = Records({Photo("chelsea.png"), "--threads", "1"});
  CHECK(Records({Photo("chelsea.png"), "--threads", "2"}) == one);
  CHECK(Records({Photo("chelsea.png"), "--threads", "3"}) == one);
}

TEST_CASE("stats: entropy and distance of the reference, within 1e-5") {
  const auto golden = SharedFolder("golden/methods-vit");
  if (!golden) return;
  const auto expected = attnmap::OpenSafetensors(
      attnmap::MappedFile::Open((*golden / "expected.safetensors").string()));
  const auto load = [&](const std::string& name) {
    for (size_t i = 0; i < expected->tensors().size(); ++i) {
      if (expected->tensors()[i].name == name) return expected->Load(i);
    }
    FAIL("no tensor " << name);
    return attnmap::SharedTensor();
  };
  const attnmap::SharedTensor pixels = load("pixel_values");
  const TempFolder folder;
  attnmap::WriteFileAtomically((folder / "p.npy").string(),
                               attnmap::NpyBytes(pixels.shape(), pixels.values()));
  const auto records = Records({folder / "p.npy", "-m", *golden / "model"});
  REQUIRE(records.size() == 12);
  for (const std::string name : {"entropy", "distance"}) {
    const attnmap::SharedTensor numbers = load(name);
    for (size_t i = 0; i < 12; ++i) {
      CAPTURE(name, i);
      CHECK(records[i][name].get<double>() == Approx(numbers.values()[i]).margin(1e-5));
    }
  }
}

TEST_CASE("stats: CSV and JSON files hold what --json prints") {
  const TempFolder folder;
  folder.Write("a,\"b\".png", ReadText(Photo("coffee.png")));
  const RunResult lines = Run({"stats", "--json", "a,\"b\".png"}, {.folder = folder.path()});
  const auto records = JsonLines(lines.out);
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"stats", "a,\"b\".png"};
    args.insert(args.end(), more.begin(), more.end());
    const RunResult result = Run(args, {.folder = folder.path()});
    CHECK(result.status == 0);
    return result.out;
  };
  CHECK(run({"-o", "s.json"}).empty());
  CHECK(json::parse(ReadText(folder / "s.json")) == json(records));
  CHECK(run({"-o", "s.csv"}).empty());
  const std::string csv = ReadText(folder / "s.csv");
  CHECK(run({"--format", "csv"}) == csv);
  CHECK(run({"-o", "-", "--format", "csv"}) == csv);

  std::istringstream in(csv);
  std::string line;
  std::getline(in, line);
  CHECK(line ==
        "image,layer,head,entropy,distance,class_mass,register_mass,patches_50,patches_90,"
        "outlier_share,outlier_mass");
  for (const json& record : records) {
    REQUIRE(std::getline(in, line));
    std::string expected =
        "\"a,\"\"b\"\".png\"," + record["layer"].dump() + "," + record["head"].dump();
    for (const char* name : kNumbers) {
      expected += "," + (record[name].is_null() ? std::string() : record[name].dump());
    }
    CHECK(line == expected);
  }
  CHECK_FALSE(std::getline(in, line));
}

TEST_CASE("stats: several pictures, a table each; one that is broken ends it") {
  const RunResult two =
      Run({"stats", Photo("coffee.png"), Photo("chelsea.png"), "--layer", "last"});
  CHECK(two.status == 0);
  CHECK(Count(two.out, "layer head") == 2);
  CHECK(two.out.find("coffee.png") < two.out.find("chelsea.png"));
  const auto records = Records({Photo("coffee.png"), Photo("chelsea.png"), "--layer", "last"});
  REQUIRE(records.size() == 8);
  CHECK(records[7]["image"] == Photo("chelsea.png").string());

  const TempFolder folder;
  folder.Write("broken.png", "no picture");
  const RunResult broken = Run({"stats", "broken.png", "-o", "s.csv"}, {.folder = folder.path()});
  CheckFailure(broken, 1, {"broken.png"});
  CHECK(folder.List() == std::vector<std::string>{"broken.png"});
  // Both files or neither.
  CheckFailure(Run({"stats", Photo("coffee.png"), "--plot", "no/p.png", "-o", "s.csv"},
                   {.folder = folder.path()}),
               1, {"no/p.png"});
  CHECK(folder.List() == std::vector<std::string>{"broken.png"});
  CheckFailure(Run({"stats", "none.png", "--plot", "p.txt"}), 2, {"--plot 'p.txt'", "tiff"});
  CheckFailure(Run({"stats", "none.png", "-o", "p.xlsx"}), 2, {"csv or json", "p.xlsx"});
}

TEST_CASE("stats --plot: a picture for one layer and for all, of one picture and of several") {
  const TempFolder folder;
  const auto plot = [&](std::vector<std::string> args, const std::string& name) {
    args.insert(args.begin(), "stats");
    args.insert(args.end(), {"--plot", name, "-o", "x.csv"});
    const RunResult result = Run(args, {.folder = folder.path()});
    CAPTURE(result.err);
    REQUIRE(result.status == 0);
    CHECK(result.out.empty());
    CHECK(result.err.find(name) != std::string::npos);
    return ReadPicture(folder / name);
  };
  const attnmap::Image all = plot({Photo("coffee.png")}, "all.png");
  const attnmap::Image last = plot({Photo("coffee.png"), "--layer", "last"}, "last.png");
  CHECK(all.rows == last.rows);
  CHECK(plot({Photo("coffee.png"), Photo("rocket.jpg")}, "two.jpg").size() == all.size());
  CHECK(plot({Photo("coffee.png")}, "all.webp").size() == all.size());
  // The figure alone: the table is printed as without it.
  const RunResult table =
      Run({"stats", Photo("coffee.png"), "--plot", "a.png"}, {.folder = folder.path()});
  CHECK(table.out == Run({"stats", Photo("coffee.png")}).out);
  CHECK(LargestDifference(ReadPicture(folder / "a.png"), all) == 0);
}

TEST_CASE("stats: notes of all pictures, each once, when all is done; an error stands alone") {
  const TempFolder folder;
  folder.Write("rocket.jpg", ReadText(Photo("rocket.jpg")));
  folder.Write("broken.png", "no picture");
  const auto stats = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"stats", "--layer", "last"});
    return Run(args, {.folder = folder.path()});
  };
  const std::string note = "resized 640 x 427";
  const RunResult later = stats({Photo("coffee.png"), "rocket.jpg", "rocket.jpg", "-q"});
  CHECK(later.status == 0);
  CHECK(later.err.empty());
  const RunResult table = stats({Photo("coffee.png"), "rocket.jpg", "rocket.jpg"});
  CHECK(table.status == 0);
  CHECK(Count(table.err, note) == 1);
  const RunResult file = stats({Photo("coffee.png"), "rocket.jpg", "rocket.jpg", "-o", "s.csv"});
  CHECK(file.status == 0);
  CHECK(file.ErrorLines().size() == 1);
  CHECK(file.err.find("attnmap: wrote s.csv: 4 heads, of each of 3 pictures; ") == 0);
  CHECK(Count(file.err, note) == 1);

  CheckFailure(stats({"rocket.jpg", "broken.png", "-o", "t.csv"}), 1, {"broken.png"});
  const RunResult full =
      Run({"stats", "rocket.jpg"}, {.folder = folder.path(), .out_path = "/dev/full"});
  CheckFailure(full, 1, {"standard output"});
}
