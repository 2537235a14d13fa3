#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/support.h"
#include "support/catch.h"
#include "support/shared.h"

using namespace attnmap::test;
using attnmap::Image;
using nlohmann::json;

namespace {}  // namespace

TEST_CASE("U-20 --contour outlines the mass mask, 0.6 of it unless --mass says, and says so") {
  const TempFolder folder;
  const RunResult alone = RunIn(folder, {"run", Photo("chelsea.png"), "--contour", "-o", "a.png"});
  CAPTURE(alone.err);
  REQUIRE(alone.status == 0);
  CHECK(alone.err.find("0.6 of the mass") != std::string::npos);
  const RunResult masked =
      RunIn(folder, {"run", Photo("chelsea.png"), "--contour", "--mass", "0.6", "-o", "b.png"});
  CHECK(masked.status == 0);
  CHECK(masked.err.find("of the mass") == std::string::npos);
  // The same line in both, and only the second dims what lies outside.
  const Image a = ReadPicture(folder / "a.png"), b = ReadPicture(folder / "b.png");
  int lines = 0, moved = 0;
  for (size_t i = 0; i < a.rgb.size(); i += 3) {
    const auto is_light = [&](const Image& image) {
      return image.rgb[i] == 255 && image.rgb[i + 1] == 255 && image.rgb[i + 2] == 255;
    };
    lines += is_light(a) ? 1 : 0;
    moved += is_light(a) != is_light(b) ? 1 : 0;
  }
  CHECK(lines > 1000);
  CHECK(moved == 0);
  CHECK(a.rgb != b.rgb);
  const RunResult small = RunIn(folder, {"run", Photo("chelsea.png"), "--mass", "0.5", "--contour",
                                         "--output-size", "150x225", "-o", "small.png"});
  REQUIRE(small.status == 0);
  CheckGolden(folder / "small.png", "chelsea.contour.png");
}

TEST_CASE("U-25 --layout heads: a colour a head, all heads unless --head lists some") {
  const TempFolder folder;
  const RunResult all = RunIn(folder, {"run", Photo("coffee.png"), "--layout", "heads",
                                       "--output-size", "160x300", "-o", "heads.png", "--json"});
  CAPTURE(all.err);
  REQUIRE(all.status == 0);
  CHECK(json::parse(all.out)["heads"] == "all");
  CHECK(all.err.find("0.6 of the mass") != std::string::npos);
  CheckGolden(folder / "heads.png", "coffee.heads.png");
  CHECK(RunIn(folder, {"run", Photo("coffee.png"), "--layout", "heads", "--head", "1,3"}).status ==
        0);
  CheckFailure(RunIn(folder, {"run", "none.png", "--layout", "heads", "--head", "mean"}), 2,
               {"--head", "all or a list"});
  CheckFailure(RunIn(folder, {"run", "none.png", "--layout", "heads", "--colorbar"}), 2,
               {"--colorbar"});
  CheckFailure(RunIn(folder, {"run", Photo("coffee.png"), "--layout", "heads", "--layer", "all"}),
               2, {"one layer", "--layer"});
}

TEST_CASE("several pictures make a contact sheet, one record each, in one order") {
  const TempFolder folder;
  const RunResult result =
      RunIn(folder, {"run", Photo("chelsea.png"), Photo("astronaut.png"), Photo("rocket.jpg"), "-o",
                     "sheet.png", "--json", "--output-size", "300x480"});
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  CHECK(result.err.find("3 pictures") != std::string::npos);
  std::istringstream lines(result.out);
  std::vector<json> records;
  for (std::string line; std::getline(lines, line);) records.push_back(json::parse(line));
  REQUIRE(records.size() == 3);
  CHECK(records[1]["image"] == Photo("astronaut.png").string());
  CHECK(records[1]["grid"] == json({14, 14}));
  for (const json& record : records) CHECK(record["output"] == "sheet.png");
  CheckGolden(folder / "sheet.png", "contact.sheet.png");
  // A sheet of one is that picture's own; without -o it has a name.
  CHECK(RunIn(folder, {"run", Photo("rocket.jpg"), Photo("coffee.png")}).status == 0);
  CHECK(std::filesystem::exists(folder / "sheet.attnmap.png"));
}

TEST_CASE("-m twice: models side by side on the same pixels, pictures down and models across") {
  const TempFolder folder;
  const RunResult result =
      RunIn(folder, {"run", Photo("coffee.png"), Photo("astronaut.png"), "-m", kDemoModel, "-m",
                     kOneLayerModel, "-o", "m.png", "--json", "--output-size", "300x480"});
  CAPTURE(result.err);
  REQUIRE(result.status == 0);
  for (const char* part : {"2 pictures through 2 models", "demo-vit:", "one-layer:"}) {
    CHECK(result.err.find(part) != std::string::npos);
  }
  std::istringstream lines(result.out);
  std::vector<std::string> models;
  for (std::string line; std::getline(lines, line);) {
    models.push_back(json::parse(line)["model"].get<std::string>());
  }
  CHECK(models == std::vector<std::string>{kDemoModel, kOneLayerModel, kDemoModel, kOneLayerModel});
  CheckGolden(folder / "m.png", "models.sheet.png");
  // The panel of a model is what that model draws alone, resized with its photo.
  CHECK(RunIn(folder, {"run", Photo("coffee.png"), "-m", kDemoModel, "-m", kOneLayerModel,
                       "--layout", "side-by-side", "-o", "one.svg"})
            .status == 0);
  CHECK(ReadText(folder / "one.svg").find(">one-layer</text>") != std::string::npos);
}

TEST_CASE("what does not go with a contact sheet is wrong usage, known before a file is opened") {
  const TempFolder folder;
  CheckFailure(RunIn(folder, {"run", "a.png", "b.png", "-o", "x.json"}), 2, {"contact sheet"});
  CheckFailure(RunIn(folder, {"run", "-", "-", "-o", "x.png"}), 2, {"standard input"});
  CheckFailure(RunIn(folder, {"run", "-", "-m", "a", "-m", "b", "-o", "x.png"}), 2,
               {"standard input"});
  CheckFailure(RunIn(folder, {"run", Photo("coffee.png"), "none.png", "-o", "x.png"}), 1,
               {"none.png"});
  CHECK(folder.List().empty());
}

TEST_CASE("U-20 an option that does nothing with the layout or the output is wrong usage") {
  const TempFolder folder;
  struct Wanted {
    std::vector<std::string> options;
    std::string named;
  };
  const std::vector<Wanted> cases = {
      {{"--layout", "heatmap", "--alpha", "0.5"}, "--alpha"},
      {{"--layout", "heads", "--colormap", "viridis"}, "--colormap"},
      {{"--layout", "heads", "--interpolation", "nearest"}, "--interpolation"},
      {{"--layout", "heads", "--normalize", "max"}, "--normalize"},
      {{"--layout", "heads", "--shared-scale"}, "--shared-scale"},
      {{"--layout", "terminal", "--output-size", "40x40"}, "--output-size"},
      {{"-o", "x.svg", "--interpolation", "linear"}, "--interpolation"}};
  for (const Wanted& wanted : cases) {
    std::vector<std::string> args = {"run", "none.png"};
    args.insert(args.end(), wanted.options.begin(), wanted.options.end());
    CheckFailure(RunIn(folder, args), 2, {wanted.named + " does nothing with"});
  }
  // Numbers are written all the same: a configuration file may serve both.
  const RunResult numbers = RunIn(folder, {"run", Photo("coffee.png"), "-o", "x.npy", "--mass",
                                           "0.5", "--colormap", "viridis"});
  CHECK(numbers.status == 0);
  CHECK(numbers.err.find("the raw map, to which --colormap, --mass do nothing") !=
        std::string::npos);
  // Boxes of objects are those of the mask, whatever the output.
  const RunResult boxes = RunIn(
      folder, {"run", Photo("coffee.png"), "-o", "x.npy", "--mass", "0.5", "--objects", "--json"});
  CHECK(boxes.status == 0);
  CHECK(boxes.err.find("do nothing") == std::string::npos);
  CHECK(RunIn(folder, {"run", Photo("coffee.png"), "-o", "x.svg", "--interpolation", "nearest"})
            .status == 0);
  CHECK(RunIn(folder, {"run", Photo("coffee.png"), "--layout", "heads", "--no-colorbar"}).status ==
        0);
}

TEST_CASE("models and pictures of one name: as many folders as tell them apart") {
  const TempFolder folder;
  const std::string model = ReadText(kDemoModel), photo = ReadText(Photo("rocket.jpg"));
  for (const std::string name : {"a/vit/model.json", "b/vit/model.json"}) folder.Write(name, model);
  for (const std::string name : {"p/x/rocket.jpg", "q/x/rocket.jpg"}) folder.Write(name, photo);
  const RunResult result =
      RunIn(folder, {"run", "p/x/rocket.jpg", "q/x/rocket.jpg", "line\nbreak.jpg", "-m",
                     "a/vit/model.json", "-m", "b/vit", "-o", "s.svg"});
  CheckFailure(result, 1, {"line break.jpg"});
  folder.Write("line\nbreak.jpg", photo);
  const RunResult sheet =
      RunIn(folder, {"run", "p/x/rocket.jpg", "q/x/rocket.jpg", "line\nbreak.jpg", "-m",
                     "a/vit/model.json", "-m", "b/vit", "-o", "s.svg"});
  CAPTURE(sheet.err);
  REQUIRE(sheet.status == 0);
  CHECK(sheet.err.find("a/vit: layer") != std::string::npos);
  CHECK(sheet.err.find("b/vit: layer") != std::string::npos);
  const std::string svg = ReadText(folder / "s.svg");
  for (const char* label :
       {">a/vit<", ">b/vit<", ">p/x/rocket.jpg<", ">q/x/rocket.jpg<", ">line break.jpg<"}) {
    CAPTURE(label);
    CHECK(svg.find(label) != std::string::npos);
  }
}

TEST_CASE("models of one name in one folder keep their endings") {
  const TempFolder folder;
  folder.Write("d/vit.json", ReadText(kDemoModel));
  REQUIRE(RunIn(folder, {"convert", "d/vit.json", "d/vit.safetensors"}).status == 0);
  const RunResult sheet = RunIn(folder, {"run", Photo("rocket.jpg"), "-m", "d/vit.json", "-m",
                                         "d/vit.safetensors", "-o", "s.svg"});
  CAPTURE(sheet.err);
  CHECK(sheet.err.find("vit.json: layer") != std::string::npos);
  CHECK(sheet.err.find("vit.safetensors: layer") != std::string::npos);
  const std::string svg = ReadText(folder / "s.svg");
  CHECK(svg.find(">vit.json<") != std::string::npos);
  CHECK(svg.find(">vit.safetensors<") != std::string::npos);
}

TEST_CASE("what one of two models does not have is said of that model") {
  const TempFolder folder;
  CheckFailure(RunIn(folder, {"run", Photo("rocket.jpg"), "-m", kDemoModel, "-m", kOneLayerModel,
                              "--layer", "2", "-o", "x.png"}),
               1, {"one-layer.json: layer 2", "this model has 1"});
  CHECK(folder.List().empty());
}

TEST_CASE("the pooling head stands behind all layers: --layer is ignored, and that is said") {
  const auto golden = SharedFolder("golden");
  if (!golden) return;
  const TempFolder folder;
  const std::string model = *golden / "hf-siglip-vision/model";
  const std::string photo = Photo("chelsea.png");
  const RunResult given = RunIn(folder, {"run", photo, "-m", model, "--layer", "0", "-o", "q.png"});
  CHECK(given.status == 0);
  CHECK(given.err.find("--layer does not apply") != std::string::npos);
  const RunResult sheet =
      RunIn(folder, {"run", photo, "-m", model, "--head", "all", "-o", "s.svg", "--json"});
  CAPTURE(sheet.err);
  REQUIRE(sheet.status == 0);
  CHECK(sheet.err.find("s.svg: pooling head behind 3 layers") != std::string::npos);
  CHECK(sheet.err.find("does not apply") == std::string::npos);
  CHECK(json::parse(sheet.out)["layer"].is_null());
  CHECK(ReadText(folder / "s.svg").find(">pooling head 0<") != std::string::npos);
  REQUIRE(RunIn(folder, {"run", photo, "-m", model, "-o", "m.json"}).status == 0);
  CHECK(json::parse(ReadText(folder / "m.json"))["layer"].is_null());
}

TEST_CASE("run of a folder points at batch") {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "photos");
  CheckFailure(RunIn(folder, {"run", "photos"}), 1, {"photos", "is a folder", "attnmap batch"});
}

TEST_CASE("labels of file names in any script: never a failure, a note where letters are missing") {
  const TempFolder folder;
  const std::string bytes = ReadText(Photo("rocket.jpg"));
  for (const std::string name :
       {"猫の写真.jpg", "고양이.jpg", "قطة.jpg", "кошка.jpg", "\xFF\xFE.jpg"}) {
    folder.Write(name, bytes);
  }
  const RunResult result = RunIn(folder, {"run", "猫の写真.jpg", "고양이.jpg", "قطة.jpg",
                                          "кошка.jpg", "\xFF\xFE.jpg", "-o", "x.png"});
  CAPTURE(result.err);
  CHECK(result.status == 0);
  CHECK(result.ErrorLines().size() == 1);
  CHECK(result.err.find("no font here has all letters of") != std::string::npos);
}

TEST_CASE("--layout terminal: standard output, as the environment says, 80 letters without one") {
  const TempFolder folder;
  const std::vector<std::string> args = {"run", Photo("coffee.png"), "--layout", "terminal", "-q"};
  const auto with = [&](std::map<std::string, std::string> env) {
    const RunResult result = RunIn(folder, args, std::move(env));
    CAPTURE(result.err);
    CHECK(result.status == 0);
    return result.out;
  };
  const std::string plain = with({});
  CHECK(plain.find("\x1b[38;5;") != std::string::npos);
  CHECK(plain.find("38;2;") == std::string::npos);
  CHECK(std::count(plain.begin(), plain.end(), '\n') == 27);
  const std::string colours = with({{"COLORTERM", "truecolor"}});
  CHECK(colours.find("\x1b[38;2;") != std::string::npos);
  size_t blocks = 0;
  for (size_t at = 0; (at = colours.find("▀", at)) != std::string::npos; ++at) ++blocks;
  CHECK(blocks == 80 * 27);
  const std::string ascii = with({{"COLORTERM", "truecolor"}, {"NO_COLOR", "1"}});
  CHECK(ascii.find('\x1b') == std::string::npos);
  CHECK(ascii.size() == 81 * 27);
  CHECK(with({{"TERM", "dumb"}}) == ascii);
  CHECK(with({{"TERM", "xterm-kitty"}}).starts_with("\x1b_G"));
  CHECK(with({{"KITTY_WINDOW_ID", "1"}}).starts_with("\x1b_G"));
  CHECK(with({{"ATTNMAP_TERMINAL", "sixel"}}).starts_with("\x1bPq"));
  CHECK(folder.List().empty());

  const RunResult several = RunIn(folder, {"run", Photo("coffee.png"), "--head", "0,2", "--layout",
                                           "terminal", "--terminal", "ascii", "-q"});
  CHECK(several.out.find("coffee.png, layer 3 head 2\n") != std::string::npos);
  CheckFailure(RunIn(folder, {"run", "a.png", "--layout", "terminal", "-o", "x.png"}), 2, {"-o"});
  CheckFailure(RunIn(folder, {"run", "a.png", "--layout", "terminal", "--json"}), 2,
               {"--layout terminal and --json"});
  CheckFailure(RunIn(folder, {"run", "a.png", "--layout", "terminal", "--format", "svg"}), 2,
               {"--format does nothing"});
  CheckFailure(RunIn(folder, {"run", "a.png", "--terminal", "sixel"}), 2, {"--layout terminal"});
  CheckFailure(RunIn(folder, {"run", "a.png", "--layout", "terminal", "--terminal", "paper"}), 2,
               {"truecolor"});
  CheckFailure(RunIn(folder, {"batch", "a.png", "--layout", "terminal", "-o", "d"}), 2,
               {"attnmap run"});
}

// Without the PDF module no PDF can be written.
std::vector<std::string> VectorEndings() {
  if (std::filesystem::exists(ATTNMAP_BINARY_DIR "/attnmap-pdf.so")) return {"svg", "pdf"};
#ifdef ATTNMAP_WITH_PDF
  FAIL("the PDF module was not built");
#endif
  WARN("skipped: the PDF module is missing");
  return {"svg"};
}

TEST_CASE("U-25 svg and pdf: every layout, written whole") {
  const TempFolder folder;
  const std::vector<std::vector<std::string>> layouts = {{"--layout", "overlay", "--contour"},
                                                         {"--layout", "heatmap", "--colorbar"},
                                                         {"--layout", "side-by-side"},
                                                         {"--head", "all", "--layer", "2:4"},
                                                         {"--layout", "heads"},
                                                         {"--fit", "pad", "--mass", "0.5"}};
  for (const std::vector<std::string>& layout : layouts) {
    for (const std::string& ending : VectorEndings()) {
      std::vector<std::string> args = {"run", Photo("coffee.png"), "-o", "x." + ending};
      args.insert(args.end(), layout.begin(), layout.end());
      const RunResult result = RunIn(folder, args);
      CAPTURE(result.err);
      REQUIRE(result.status == 0);
      const std::string bytes = ReadText(folder / ("x." + ending));
      const size_t end = bytes.rfind(ending == "svg" ? "</svg>" : "%%EOF");
      CHECK(end != std::string::npos);
      CHECK(bytes.size() - end < 10);
      if (ending == "pdf") CHECK(bytes.find("/DCTDecode") != std::string::npos);
    }
  }
  const RunResult batch =
      RunIn(folder, {"batch", Photo("coffee.png"), "-o", "maps", "--format", "svg"});
  CHECK(batch.status == 0);
  CHECK(std::filesystem::exists(folder / "maps/coffee.attnmap.svg"));
}

TEST_CASE("U-25 without the PDF module a sentence says what is missing, and SVG is written") {
  const TempFolder folder;
  // A program that was copied away from its modules.
  std::filesystem::copy_file(std::filesystem::path(ATTNMAP_BINARY_DIR) / "attnmap",
                             folder / "attnmap");
  const auto run = [&](const std::string& output) {
    return Run({"run", Photo("coffee.png").string(), "-m", kDemoModel, "-o", output},
               {.folder = folder.path(), .program = folder / "attnmap"});
  };
  CheckFailure(run("x.pdf"), 1, {"PDF module (attnmap-pdf.so)", "not installed", "SVG"});
  CHECK(run("x.svg").status == 0);
  CHECK(folder.List() == std::vector<std::string>{"attnmap", "x.svg"});
}
