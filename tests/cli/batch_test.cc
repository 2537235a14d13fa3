#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/support.h"
#include "support/catch.h"

using namespace attnmap::test;
using nlohmann::json;

namespace {

// A folder of three pictures, one broken, one that is none.
void Fill(const TempFolder& folder) {
  const std::string rocket = ReadText(Photo("rocket.jpg"));
  folder.Write("in/a.jpg", rocket);
  folder.Write("in/sub/deep/a.jpg", rocket);
  folder.Write("in/sub/b.png", ReadText(Photo("chelsea.png")));
  folder.Write("in/sub/broken.jpg", rocket.substr(0, rocket.size() / 3));
  folder.Write("in/notes.md", "not a picture");
}

}  // namespace

TEST_CASE("batch: a folder, recursively; goes on past bad files; status 1") {
  const TempFolder folder;
  Fill(folder);
  const RunResult result = Run({"batch", "in", "-o", "out"}, {.folder = folder.path()});
  CHECK(result.status == 1);
  CHECK(result.out.empty());
  CHECK(result.err.find("broken.jpg") != std::string::npos);
  CHECK(result.err.find("3 written to out, 1 failed") != std::string::npos);
  for (const char* name : {"out/a.attnmap.png", "out/sub/b.attnmap.png",
                           "out/sub/deep/a.attnmap.png", "out/manifest.jsonl"}) {
    CAPTURE(name);
    CHECK(std::filesystem::exists(folder / name));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "out/sub/broken.attnmap.png"));
  const std::vector<json> manifest = JsonLines(ReadText(folder / "out/manifest.jsonl"));
  REQUIRE(manifest.size() == 4);
  for (const json& line : manifest) {
    const bool broken = line["image"] == "in/sub/broken.jpg";
    CHECK(line["status"] == (broken ? "failed" : "ok"));
    CHECK(line["error"].is_null() != broken);
    CHECK(line["output"].is_null() == broken);
    CHECK(line.size() == 10);
    CHECK_FALSE(line.contains("query"));
  }
}

TEST_CASE("batch: the same pictures as run makes, for any number of threads") {
  const TempFolder folder;
  Fill(folder);
  REQUIRE(Run({"run", "in/sub/b.png", "-o", "one.png"}, {.folder = folder.path()}).status == 0);
  for (const std::string threads : {"1", "3"}) {
    const std::string out = "out" + threads;
    Run({"batch", "in", "-o", out, "--threads", threads}, {.folder = folder.path()});
    CHECK(ReadText(folder / (out + "/sub/b.attnmap.png")) == ReadText(folder / "one.png"));
  }
}

TEST_CASE("batch: run again, results and the output folder are not taken for input") {
  const TempFolder folder;
  folder.Write("in/a.jpg", ReadText(Photo("rocket.jpg")));
  for (int round = 0; round < 2; ++round) {
    const RunResult result =
        Run({"batch", "in", "-o", "in/out", "--force"}, {.folder = folder.path()});
    CHECK(result.status == 0);
    CHECK(result.err.find("1 written") != std::string::npos);
  }
}

TEST_CASE("batch: globs, list files and standard input name the same work") {
  const TempFolder folder;
  Fill(folder);
  const auto names = [&](const std::vector<std::string>& args, const std::string& input) {
    std::vector<std::string> all = {"batch", "-o", "out", "--json", "-q", "--format", "json"};
    all.insert(all.end(), args.begin(), args.end());
    const RunResult result = Run(all, {.input = input, .folder = folder.path()});
    CAPTURE(result.err);
    CHECK(result.status == 0);
    std::vector<std::string> outputs;
    for (const json& line : JsonLines(result.out)) outputs.push_back(line["output"]);
    std::sort(outputs.begin(), outputs.end());
    std::filesystem::remove_all(folder / "out");
    return outputs;
  };
  using Names = std::vector<std::string>;
  CHECK(names({"in/*/*.png"}, "") == Names{"out/sub/b.attnmap.json"});
  CHECK(names({"in/**/a.jpg"}, "") == Names{"out/a.attnmap.json", "out/sub/deep/a.attnmap.json"});
  CHECK(names({"in/**/s*/*.png"}, "") == Names{"out/sub/b.attnmap.json"});
  folder.Write("list.txt", "in/sub/b.png\r\n\nin/a.jpg\nin/a.jpg\n");
  CHECK(names({"list.txt"}, "") == Names{"out/a.attnmap.json", "out/sub/b.attnmap.json"});
  CHECK(names({"-"}, "in/sub/b.png\nin/a.jpg\n") ==
        Names{"out/a.attnmap.json", "out/sub/b.attnmap.json"});
  CHECK(names({"-"}, std::string("in/a.jpg\0", 9)) == Names{"out/a.attnmap.json"});
}

TEST_CASE("batch: two inputs that would write one file both keep their extension") {
  const TempFolder folder;
  folder.Write("in/a.jpg", ReadText(Photo("rocket.jpg")));
  folder.Write("in/a.png", ReadText(Photo("chelsea.png")));
  folder.Write("in/b.png", ReadText(Photo("chelsea.png")));
  folder.Write("two/b.png", ReadText(Photo("chelsea.png")));
  REQUIRE(Run({"batch", "in", "two", "-o", "out"}, {.folder = folder.path()}).status == 0);
  const TempFolder& f = folder;
  CHECK(std::filesystem::exists(f / "out/a.jpg.attnmap.png"));
  CHECK(std::filesystem::exists(f / "out/a.png.attnmap.png"));
  CHECK(std::filesystem::exists(f / "out/in/b.png.attnmap.png"));
  CHECK(std::filesystem::exists(f / "out/two/b.png.attnmap.png"));
}

TEST_CASE("batch: inputs that are not there fail, the rest is done") {
  const TempFolder folder;
  Fill(folder);
  const RunResult result =
      Run({"batch", "nowhere.png", "in/a.jpg", "no*.jpg", "-o", "out"}, {.folder = folder.path()});
  CHECK(result.status == 1);
  CHECK(result.err.find("nowhere.png") != std::string::npos);
  CHECK(result.err.find("no file matches") != std::string::npos);
  CHECK(result.err.find("1 written to out, 2 failed") != std::string::npos);
  const TempFolder empty;
  std::filesystem::create_directory(empty / "in");
  CheckFailure(Run({"batch", "in", "-o", "out"}, {.folder = empty.path()}), 1, {"no pictures"});
  CHECK_FALSE(std::filesystem::exists(empty / "out"));
}

TEST_CASE("U-24: --shared-scale draws all maps over one range") {
  const TempFolder folder;
  Fill(folder);
  std::filesystem::remove(folder / "in/sub/broken.jpg");
  const auto draw = [&](const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> args = {"batch",           "in",      "-o",         out,
                                     "--json",          "-q",      "--layout",   "heatmap",
                                     "--interpolation", "nearest", "--colormap", "bone"};
    args.insert(args.end(), more.begin(), more.end());
    const RunResult result = Run(args, {.folder = folder.path()});
    REQUIRE(result.status == 0);
    return JsonLines(result.out);
  };
  const auto records = draw("out", {"--shared-scale"});
  double low = 1;
  double high = 0;
  for (const json& record : records) {
    low = std::min(low, record["min"].get<double>());
    high = std::max(high, record["max"].get<double>());
  }
  std::ostringstream range;
  range.precision(17);
  range << "range:" << low << "," << high;
  draw("same", {"--normalize", range.str()});
  for (const char* name : {"a.attnmap.png", "sub/b.attnmap.png"}) {
    CHECK(LargestDifference(ReadPicture(folder / "out" / name),
                            ReadPicture(folder / "same" / name)) <= 1);
  }
  draw("own", {});
  CHECK(ReadText(folder / "own/sub/b.attnmap.png") != ReadText(folder / "out/sub/b.attnmap.png"));
}

TEST_CASE("batch: an interrupt ends with 130 and a manifest of whole lines") {
  const TempFolder folder;
  const std::string rocket = ReadText(Photo("rocket.jpg"));
  for (int i = 0; i < 400; ++i) folder.Write("in/" + std::to_string(i) + ".jpg", rocket);
  const RunResult result = Run({"batch", "in", "-o", "out"},
                               {.folder = folder.path(), .interrupt_after_milliseconds = 500});
  CHECK(result.status == 130);
  CHECK(result.err.find("interrupted") != std::string::npos);
  const std::vector<json> manifest = JsonLines(ReadText(folder / "out/manifest.jsonl"));
  for (const json& line : manifest) CHECK(line["status"] == "ok");
  for (const std::string& name : folder.List()) {
    CAPTURE(name);
    CHECK((name == "in" || name == "out" || name.starts_with("in/") ||
           name.ends_with(".attnmap.png") || name == "out/manifest.jsonl"));
  }
}
