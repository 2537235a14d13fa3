#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "attnmap/formats/arrays.h"
#include "attnmap/formats/file.h"
#include "cli/support.h"
#include "support/catch.h"
#include "support/shared.h"

using namespace attnmap::test;
using attnmap::Image;
using nlohmann::json;

namespace {}  // namespace

TEST_CASE("run: one picture in, an overlay of its size out, one line said") {
  const TempFolder folder;
  const RunResult result = RunIn(folder, {"run", Photo("chelsea.png")});
  CHECK(result.status == 0);
  CHECK(result.out.empty());
  REQUIRE(result.ErrorLines().size() == 1);
  const std::string line = result.ErrorLines()[0];
  for (const char* part : {"chelsea.attnmap.png", "layer 3 of 4", "mean of 4 heads", "query class",
                           "grid 14 x 21", "values", "451 x 300", "336 x 224"}) {
    INFO(line);
    INFO("should hold: " << part);
    CHECK(line.find(part) != std::string::npos);
  }
  CHECK(folder.List() == std::vector<std::string>{"chelsea.attnmap.png"});
  const Image made = ReadPicture(folder / "chelsea.attnmap.png");
  CHECK(made.rows == 300);
  CHECK(made.cols == 451);
  CheckGolden(folder / "chelsea.attnmap.png", "chelsea.overlay.png");
}

TEST_CASE("run: layouts as they were when they were looked at") {
  struct Layout {
    std::string name;
    std::vector<std::string> args;
  };
  const std::vector<Layout> layouts = {
      {"coffee.heatmap.png", {"--layout", "heatmap", "--interpolation", "nearest"}},
      {"coffee.side.png", {"--layout", "side-by-side", "--colorbar", "--fit", "crop"}},
      {"coffee.sheet.png", {"--head", "all", "--layer", "2:4", "--output-size", "320x720"}},
      {"coffee.mass.png", {"--mass", "0.6", "--fit", "pad", "--colormap", "viridis"}},
      {"coffee.rollout.png", {"--method", "rollout", "--query", "px:300,200", "--alpha", "0.5"}},
  };
  for (const Layout& layout : layouts) {
    const TempFolder folder;
    std::vector<std::string> args = {"run", Photo("coffee.png"), "-o", "out.png"};
    args.insert(args.end(), layout.args.begin(), layout.args.end());
    const RunResult result = RunIn(folder, args);
    CAPTURE(result.err);
    REQUIRE(result.status == 0);
    CheckGolden(folder / "out.png", layout.name);
  }
}

TEST_CASE("run: every picture format reads back as the same overlay") {
  const TempFolder folder;
  for (const std::string format : {"png", "jpg", "webp", "tiff"}) {
    REQUIRE(RunIn(folder, {"run", Photo("rocket.jpg"), "-o", "x." + format}).status == 0);
  }
  const Image png = ReadPicture(folder / "x.png");
  CHECK(LargestDifference(png, ReadPicture(folder / "x.tiff")) == 0);
  // Lossy: the same picture, a mean of a few levels apart.
  for (const char* name : {"x.jpg", "x.webp"}) {
    const Image other = ReadPicture(folder / name);
    REQUIRE(other.rgb.size() == png.rgb.size());
    double sum = 0;
    for (size_t i = 0; i < png.rgb.size(); ++i) sum += std::abs(png.rgb[i] - other.rgb[i]);
    CHECK(sum / static_cast<double>(png.rgb.size()) < 3);
  }
}

TEST_CASE("run: the map itself as json, npy, npz, csv, safetensors, all the same numbers") {
  const TempFolder folder;
  for (const std::string format : {"json", "npy", "npz", "csv", "safetensors"}) {
    REQUIRE(RunIn(folder, {"run", Photo("coffee.png"), "-o", "x." + format}).status == 0);
  }
  const json record = json::parse(ReadText(folder / "x.json"));
  CHECK(record["name"] == "map");
  CHECK(record["shape"] == json({14, 21}));
  CHECK(record["layer"] == 3);
  CHECK(record["head"] == "mean");
  CHECK(record["query"] == "class");
  std::vector<float> values;
  for (const json& row : record["data"]) {
    for (const json& value : row) values.push_back(value.get<float>());
  }
  const auto same = [&](const attnmap::TensorArchive& archive) {
    const attnmap::SharedTensor tensor = archive.Load(0);
    CHECK(tensor.shape() == attnmap::Shape{14, 21});
    CHECK(std::vector<float>(tensor.values().begin(), tensor.values().end()) == values);
  };
  same(*attnmap::OpenNpy(attnmap::MappedFile::Open(folder / "x.npy")));
  same(*attnmap::OpenNpz(attnmap::MappedFile::Open(folder / "x.npz")));
  same(*attnmap::OpenSafetensors(attnmap::MappedFile::Open(folder / "x.safetensors")));
  std::vector<float> csv;
  std::string text = ReadText(folder / "x.csv");
  for (char& c : text) c = c == '\n' ? ',' : c;
  std::stringstream stream(text);
  for (std::string cell; std::getline(stream, cell, ',');) csv.push_back(std::stof(cell));
  CHECK(csv == values);
}

TEST_CASE("run --json: one record with the manifest's fields and the selection") {
  const TempFolder folder;
  const RunResult result =
      RunIn(folder, {"run", Photo("coffee.png"), "--json", "-q", "--head", "2"});
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  const json record = json::parse(result.out);
  for (const char* key : {"image", "output", "status", "error", "model", "settings", "grid", "min",
                          "max", "seconds", "layer", "heads", "query"}) {
    CAPTURE(key);
    CHECK(record.contains(key));
  }
  CHECK(record["status"] == "ok");
  CHECK(record["grid"] == json({14, 21}));
  CHECK(record["layer"] == 3);
  CHECK(record["heads"] == "2");
  CHECK(record["min"].get<double>() > 0);
  CHECK(record["max"].get<double>() < 1);
}

TEST_CASE("run: standard input and standard output") {
  const TempFolder folder;
  const RunResult piped = Run({"run", "-", "-o", "-", "--format", "png"},
                              {.input = ReadText(Photo("chelsea.png")), .folder = folder.path()});
  CHECK(piped.status == 0);
  CHECK(folder.List().empty());
  folder.Write("piped.png", piped.out);
  CheckGolden(folder / "piped.png", "chelsea.overlay.png");
}

TEST_CASE("U-06: a pixel is the patch under it, whatever the fit") {
  const TempFolder folder;
  for (const std::string fit : {"whole", "crop", "stretch", "pad"}) {
    CAPTURE(fit);
    const RunResult pixel = RunIn(folder, {"run", Photo("coffee.png"), "--fit", fit, "--query",
                                           "px:320,180", "-o", "-", "--format", "json"});
    REQUIRE(pixel.status == 0);
    const json record = json::parse(pixel.out);
    const RunResult patch = RunIn(
        folder, {"run", Photo("coffee.png"), "--fit", fit, "--query",
                 record["query"].get<std::string>().substr(6), "-o", "-", "--format", "json"});
    REQUIRE(patch.status == 0);
    CHECK(json::parse(patch.out)["data"] == record["data"]);
  }
}

TEST_CASE("U-06: eight EXIF orientations, one upright overlay") {
  const auto corpus = SharedFolder("corpus");
  if (!corpus) return;
  const TempFolder folder;
  for (const std::string shape : {"Landscape", "Portrait"}) {
    std::optional<Image> first;
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const std::string name = shape + "_" + std::to_string(orientation);
      CAPTURE(name);
      const RunResult result =
          RunIn(folder, {"run", *corpus / "exif" / (name + ".jpg"), "-o", name + ".png"});
      CAPTURE(result.err);
      REQUIRE(result.status == 0);
      const Image overlay = ReadPicture(folder / (name + ".png"));
      CHECK((overlay.cols > overlay.rows) == (shape == "Landscape"));
      if (!first) first = overlay;
      REQUIRE(overlay.size() == first->size());
      // Each was compressed by itself: JPEG noise apart, and what it does to the map.
      double sum = 0;
      for (size_t i = 0; i < overlay.rgb.size(); ++i) {
        sum += std::abs(overlay.rgb[i] - first->rgb[i]);
      }
      CHECK(sum / static_cast<double>(overlay.rgb.size()) < 4);
    }
  }
}

TEST_CASE("prepared pixels: taken as they are, drawn with --on, refused with --fit") {
  const TempFolder folder;
  REQUIRE(RunIn(folder, {"dump", Photo("coffee.png"), "--what", "pixels", "-o", "p.npy"}).status ==
          0);
  const RunResult bare = RunIn(folder, {"run", "p.npy"});
  CheckFailure(bare, 2, {"--on"});
  CheckFailure(RunIn(folder, {"run", "p.npy", "--fit", "crop", "-o", "m.json"}), 2, {"--fit"});
  CheckFailure(RunIn(folder, {"run", Photo("coffee.png"), "--on", Photo("coffee.png")}), 2,
               {"--on"});
  REQUIRE(RunIn(folder, {"run", "p.npy", "--on", Photo("coffee.png"), "-o", "a.png"}).status == 0);
  REQUIRE(RunIn(folder, {"run", Photo("coffee.png"), "-o", "b.png"}).status == 0);
  CHECK(LargestDifference(ReadPicture(folder / "a.png"), ReadPicture(folder / "b.png")) == 0);
}

TEST_CASE("names with spaces, UTF-8 and a leading dash; a read-only source folder") {
  const TempFolder folder;
  const std::string bytes = ReadText(Photo("rocket.jpg"));
  folder.Write("in/ein Bild ü 猫.jpg", bytes);
  folder.Write("in/-dash.jpg", bytes);
  std::filesystem::permissions(
      folder / "in", std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  CHECK(RunIn(folder, {"run", "in/ein Bild ü 猫.jpg"}).status == 0);
  CHECK(std::filesystem::exists(folder / "ein Bild ü 猫.attnmap.png"));
  const RunResult dash =
      Run({"run", "-o", (folder / "d.png").string(), "--", "-dash.jpg"}, {.folder = folder / "in"});
  CAPTURE(dash.err);
  CHECK(dash.status == 0);
  std::filesystem::permissions(folder / "in", std::filesystem::perms::owner_all);
}

TEST_CASE("U-22: a constant map is drawn and said") {
  const TempFolder folder;
  folder.Write(
      "flat.json", R"({"patch_size": 8, "W_Q": )" + [] {
        std::string zeros = "[";
        for (int i = 0; i < 192; ++i) zeros += i == 0 ? "[0,0]" : ",[0,0]";
        zeros += "]";
        return zeros + R"(, "W_K": )" + zeros + R"(, "W_V": )" + zeros + "}";
      }());
  const RunResult result = RunIn(folder, {"run", Photo("coffee.png"), "-m", "flat.json"});
  CAPTURE(result.err);
  CHECK(result.status == 0);
  CHECK(result.err.find("constant value") != std::string::npos);
  CHECK(result.err.find("no class token") != std::string::npos);
}

TEST_CASE("U-07: no display, no terminal, no HOME; nothing half-written on a full disk") {
  const TempFolder folder;
  const RunResult full = Run({"run", Photo("coffee.png"), "-o", "-", "--format", "png"},
                             {.folder = folder.path(), .out_path = "/dev/full"});
  CHECK(full.status == 1);
  CHECK(full.ErrorLines().size() == 1);
  CHECK(folder.List().empty());
}

TEST_CASE("the same result for any number of threads") {
  const TempFolder folder;
  std::vector<json> maps;
  for (const std::string threads : {"1", "2", "3"}) {
    const RunResult result = RunIn(
        folder, {"run", Photo("chelsea.png"), "--threads", threads, "-o", "-", "--format", "json"});
    REQUIRE(result.status == 0);
    maps.push_back(json::parse(result.out)["data"]);
  }
  CHECK(maps[0] == maps[1]);
  CHECK(maps[0] == maps[2]);
}

TEST_CASE("--config reads options, $ATTNMAP_MODEL names the model, --model wins") {
  const TempFolder folder;
  folder.Write("options.toml", "[run]\nhead=\"1\"\ncolormap=\"viridis\"\n");
  const RunResult result =
      RunIn(folder, {"--config", "options.toml", "run", Photo("coffee.png"), "--json"});
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  CHECK(json::parse(result.out)["heads"] == "1");
  const std::string other = kOneLayerModel;
  const RunResult named = Run({"run", Photo("coffee.png"), "--json"},
                              {.env = {{"ATTNMAP_MODEL", other}}, .folder = folder.path()});
  REQUIRE(named.status == 0);
  CHECK(json::parse(named.out)["model"] == other);
  CheckFailure(Run({"run", Photo("coffee.png"), "-m", "none.json"},
                   {.env = {{"ATTNMAP_MODEL", other}}, .folder = folder.path()}),
               1, {"none.json"});
}

TEST_CASE("--config: what it cannot be read as, or a key that is none, is wrong usage") {
  const TempFolder folder;
  folder.Write("garbage.toml", "garbage [[[ ==\n");
  folder.Write("unknown.toml", "[run]\nbogus=1\n");
  folder.Write("value.toml", "[run]\nalpha=much\n");
  for (const std::string name : {"garbage.toml", "unknown.toml", "value.toml", "missing.toml"}) {
    CAPTURE(name);
    CheckFailure(RunIn(folder, {"--config", name, "run", Photo("coffee.png")}), 2, {});
    CHECK(folder.List().size() == 3);
  }
}

TEST_CASE("an interrupt ends any command with 130 and leaves nothing half-written") {
  const TempFolder folder;
  const std::vector<std::vector<std::string>> commands = {
      {"init", "big.json", "--embed-dim", "768"},
      {"dump", Photo("coffee.png"), "--what", "attention", "--layer", "all", "--size", "700",
       "--query", "all", "-o", "big.npz"}};
  for (const std::vector<std::string>& command : commands) {
    const RunResult result =
        Run(command, {.folder = folder.path(), .interrupt_after_milliseconds = 300});
    CAPTURE(command[0], result.err);
    CHECK(result.status == 130);
    CHECK(result.err == "attnmap: interrupted\n");
    CHECK(folder.List().empty());
  }
}
