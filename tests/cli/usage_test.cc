#include "cli/support.h"
#include "support/catch.h"

using namespace attnmap::test;

namespace {

struct Wrong {
  std::vector<std::string> args;
  std::string part;  // what the line must name
};

}  // namespace

TEST_CASE("no arguments: the help and status 2") {
  const RunResult result = Run({});
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  for (const char* command : {"run", "batch", "dump", "explain", "stats", "video", "inspect",
                              "convert", "init", "bench"}) {
    CHECK(result.err.find(command) != std::string::npos);
  }
}

TEST_CASE("the main help fits one screen of 80 by 24") {
  const RunResult result = Run({"--help"});
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  int lines = 0;
  size_t begin = 0;
  for (size_t end; (end = result.out.find('\n', begin)) != std::string::npos; begin = end + 1) {
    CHECK(end - begin <= 80);
    ++lines;
  }
  CHECK(lines <= 24);
}

TEST_CASE("each command's help has groups and two examples") {
  for (const char* command : {"run", "batch", "dump", "explain", "stats", "video", "inspect",
                              "convert", "init", "bench"}) {
    CAPTURE(command);
    const RunResult result = Run({command, "--help"});
    CHECK(result.status == 0);
    CHECK(result.err.empty());
    const size_t examples = result.out.find("Examples:\n");
    REQUIRE(examples != std::string::npos);
    int count = 0;
    for (size_t at = examples;
         (at = result.out.find("attnmap " + std::string(command), at)) != std::string::npos; ++at) {
      ++count;
    }
    CHECK(count == 2);
  }
}

TEST_CASE("--version names the program") {
  const RunResult result = Run({"--version"});
  CHECK(result.status == 0);
  CHECK(result.out.starts_with("attnmap "));
}

TEST_CASE("wrong usage is known before any file is opened: one line, status 2") {
  // The picture does not exist: had a file been opened, the status would be 1.
  const std::vector<Wrong> cases = {
      {{"run"}, "picture"},
      {{"runn", "x.png"}, "runn"},
      {{"run", "no.png", "--nonsense"}, "--nonsense"},
      {{"run", "no.png", "--layer", "x"}, "--layer 'x'"},
      {{"run", "no.png", "--layer", "1:x"}, "--layer '1:x'"},
      {{"run", "no.png", "--layer", "3:1"}, "--layer '3:1'"},
      {{"run", "no.png", "--threads", "0"}, "--threads"},
      {{"run", "no.png", "--num-heads", "0"}, "--num-heads"},
      {{"run", "no.png", "-m", ""}, "--model"},
      {{"run", "no.png", "-o", ""}, "--output"},
      {{"run", "no.png", "--precision", "f16"},
       "--precision 'f16' is not known: it takes f32, bf16"},
      {{"bench", "vit-x"}, "'vit-x' is not known: it takes vit-ti16"},
      {{"bench", "--seconds", "0"}, "--seconds"},
      {{"bench", "--size", "12"}, "--size '12'"},
      {{"bench", "--threads", "0"}, "--threads"},
      {{"init", "x.json", "--seed", "-1"}, "--seed '-1'"},
      {{"init", "x.json", "--seed", "99999999999999999999999"}, "--seed"},
      {{"run", "no.png", "--head", "-1"}, "--head '-1'"},
      {{"run", "no.png", "--head", "0,0"}, "--head '0,0'"},
      {{"run", "no.png", "--query", "here"}, "--query 'here'"},
      {{"run", "no.png", "--query", "px:1"}, "--query 'px:1'"},
      {{"run", "no.png", "--query", "all"}, "--query all"},
      {{"run", "no.png", "--method", "guess"}, "attention, rollout, value-norm, similarity, pca"},
      {{"run", "no.png", "--discard-ratio", "0.5"}, "--discard-ratio does nothing"},
      {{"run", "no.png", "--method", "rollout", "--discard-ratio", "1"}, "--discard-ratio '1'"},
      {{"run", "no.png", "--start-layer", "2"}, "it is for rollout"},
      {{"run", "no.png", "--compat", "none"}, "--compat does nothing"},
      {{"run", "no.png", "--method", "rollout", "--compat", "x"}, "none, vit-explain"},
      {{"run", "no.png", "--features", "keys"}, "it is for similarity"},
      {{"run", "no.png", "--foreground", "0.5"}, "it is for pca"},
      {{"run", "no.png", "--method", "pca", "--foreground", "2"}, "--foreground '2'"},
      {{"run", "no.png", "--method", "pca", "--head", "0"}, "--head does nothing"},
      {{"run", "no.png", "--method", "pca", "--query", "0,0"}, "--query does nothing"},
      {{"run", "no.png", "--method", "pca", "--layer", "1"}, "--layer does nothing"},
      {{"run", "no.png", "--method", "pca", "--mass", "0.5"}, "--mass does nothing"},
      {{"run", "no.png", "--method", "pca", "--colormap", "jet"}, "--colormap does nothing"},
      {{"run", "no.png", "--method", "pca", "-o", "x.csv"}, "three"},
      {{"dump", "no.png", "--what", "map", "--method", "pca", "-o", "x.csv"}, "three"},
      {{"dump", "no.png", "--what", "map", "--features", "keys", "-o", "x.npy"}, "similarity"},
      {{"run", "no.png", "--method", "similarity"}, "--query ROW,COL"},
      {{"run", "no.png", "--method", "similarity", "--query", "mean"}, "one patch"},
      {{"run", "no.png", "--method", "similarity", "--query", "0,0", "--head", "1"}, "--head"},
      {{"run", "no.png", "--method", "value-norm", "--query", "pool"}, "pool"},
      {{"run", "no.png", "--outliers", "drop"}, "keep, clip, exclude"},
      {{"run", "no.png", "--method", "pca", "--outliers", "clip"}, "use exclude"},
      {{"run", "no.png", "--objects"}, "--json"},
      {{"run", "no.png", "--scale", "big"}, "--scale 'big'"},
      {{"run", "no.png", "--scale", "nan"}, "--scale 'nan'"},
      {{"run", "no.png", "--threads", "-2"}, "--threads"},
      {{"run", "no.png", "--threads", "two"}, "--threads"},
      {{"run", "no.png", "--fit", "squash"}, "whole, crop, stretch, pad"},
      {{"run", "no.png", "--size", "0"}, "--size '0'"},
      {{"run", "no.png", "--size", "224x224"}, "--fit stretch"},
      {{"run", "no.png", "--layout", "poster"}, "--layout 'poster'"},
      {{"run", "no.png", "--colormap", "mauve"}, "viridis"},
      {{"run", "no.png", "--alpha", "1.5"}, "--alpha"},
      {{"run", "no.png", "--alpha", "nan"}, "--alpha"},
      {{"run", "no.png", "--interpolation", "best"}, "nearest, linear, cubic"},
      {{"run", "no.png", "--normalize", "percentile:9,1"}, "--normalize 'percentile:9,1'"},
      {{"run", "no.png", "--mass", "0"}, "--mass"},
      {{"run", "no.png", "--mass", "2"}, "--mass"},
      {{"run", "no.png", "--output-size", "10"}, "--output-size '10'"},
      {{"run", "no.png", "--background", "1,2"}, "--background '1,2'"},
      {{"run", "no.png", "--gray16", "low"}, "--gray16 'low'"},
      {{"run", "no.png", "--max-pixels", "0"}, "--max-pixels"},
      {{"run", "no.png", "--layout", "heads", "--method", "pca"}, "--method pca"},
      {{"run", "no.png", "--layout", "heads", "--method", "similarity", "--query", "1,1"},
       "--method similarity"},
      {{"run", "no.png", "--layout", "terminal", "--output-size", "9x9"}, "--output-size"},
      {{"run", "no.png", "--layout", "terminal", "--colorbar"}, "--colorbar"},
      {{"run", "no.png", "--method", "pca", "-o", "map.svg"}, "--method pca"},
      {{"stats", "no.png", "--plot", "p.svg"}, "p.svg"},
      {{"run", "no.png", "--method", "similarity", "--query", "1,1", "--mass", "0.5"}, "--mass"},
      {{"run", "no.png", "--method", "rollout", "--compat", "vit-explain", "--query", "1,1"},
       "--query"},
      {{"run", "no.png", "-o", "map.xyz"}, "map.xyz"},
      {{"run", "no.png", "-o", "-"}, "--format"},
      {{"run", "no.png", "-o", "-", "--format", "png", "--json"}, "standard output"},
      {{"batch"}, "INPUT"},
      {{"batch", "nowhere"}, "--output"},
      {{"batch", "nowhere", "-o", "d", "--format", "gif"}, "--format 'gif'"},
      {{"dump", "no.png", "-o", "x.json"}, "--what"},
      {{"dump", "no.png", "--what", "everything", "-o", "x.json"}, "--what 'everything'"},
      {{"dump", "no.png", "--what", "map,map", "-o", "x.json"}, "twice"},
      {{"dump", "--what", "map", "-o", "x.json"}, "picture"},
      {{"dump", "no.png", "--what", "map", "-o", "x.png"}, "not pictures"},
      {{"explain"}, "IMAGE"},
      {{"explain", "no.png", "--head", "mean"}, "one head"},
      {{"explain", "no.png", "--top", "0"}, "--top"},
      {{"stats"}, "IMAGE"},
      {{"stats", "no.png", "--head", "mean"}, "one by one"},
      {{"stats", "no.png", "--query", "mean"}, "--query"},
      {{"stats", "no.png", "--method", "rollout"}, "unknown option --method"},
      {{"stats", "no.png", "-o", "x.npz"}, "csv or json"},
      {{"stats", "no.png", "-o", "x.png"}, "--plot"},
      {{"stats", "no.png", "-o", ""}, "--output"},
      {{"stats", "no.png", "--plot", "x.csv"}, "--plot 'x.csv'"},
      {{"stats", "no.png", "--plot", "x"}, "png"},
      {{"stats", "no.png", "--format", "csv", "--json"}, "standard output"},
      {{"video", "no.mp4"}, "OUT"},
      {{"video", "no.mp4", "out.gif"}, "mp4, mkv, avi"},
      {{"video", "no.mp4", "out"}, "mp4, mkv, avi"},
      {{"video", "-", "out.mp4"}, "standard input"},
      {{"video", "no.mp4", "out.mp4", "--shared-scale"}, "unknown option --shared-scale"},
      {{"video", "no.mp4", "out.mp4", "--query", "all"}, "--query all"},
      {{"video", "no.mp4", "out.mp4", "--layout", "overlay", "--head", "all"}, "shows one map"},
      {{"video", "no.mp4", "out.mp4", "--layout", "heatmap", "--head", "0,2"}, "--head"},
      {{"video", "no.mp4", "out.mp4", "--layout", "overlay", "--layer", "-3:"}, "--layer"},
      {{"video", "no.mp4", "out.mp4", "--layout", "heads", "--layer", "all"}, "of one layer"},
      {{"run", "no.png", "--layout", "side-by-side", "--layer", "1:3"}, "--layout sheet"},
      {{"batch", "nowhere", "-o", "d", "--layout", "overlay", "--head", "all"}, "shows one map"},
      {{"convert", "no.json"}, "OUT"},
      {{"convert", "no.json", "x.h5"}, "x.h5"},
      {{"convert", "no.json", "x.json", "--dtype", "f16"}, "--dtype"},
      {{"convert", "no.json", "x.safetensors", "--dtype", "f8"}, "f8"},
      {{"init"}, "OUT"},
      {{"init", "x.json", "--form", "odd"}, "--form 'odd'"},
      {{"init", "x.json", "--num-heads", "0"}, "--num-heads"},
      {{"init", "x.json", "--embed-dim", "100", "--num-heads", "3"}, "100"},
      {{"init", "x.json", "--image-size", "225x224"}, "--image-size"},
  };
  for (const Wrong& wrong : cases) {
    std::string shown;
    for (const std::string& arg : wrong.args) shown += arg + " ";
    CAPTURE(shown);
    const TempFolder folder;
    const RunResult result = Run(wrong.args, {.folder = folder.path()});
    CheckFailure(result, 2, {wrong.part});
    CHECK(folder.List().empty());
  }
}

TEST_CASE("what a file turns out not to be is status 1, one line") {
  const std::vector<Wrong> cases = {
      {{"run", "no.png"}, "no.png"},
      {{"run", "no.png", "-m", "no.json"}, "no.json"},
      {{"run", Photo("coffee.png"), "--layer", "4"}, "layer 4"},
      {{"run", Photo("coffee.png"), "--layer", "-5"}, "layer -5"},
      {{"run", Photo("coffee.png"), "--head", "4"}, "head 4"},
      {{"run", Photo("coffee.png"), "--query", "token:9999"}, "token 9999"},
      {{"run", Photo("coffee.png"), "--query", "20,0"}, "patch 20,0"},
      {{"run", Photo("coffee.png"), "--query", "px:601,3"}, "outside"},
      {{"run", Photo("coffee.png"), "--query", "pool"}, "pool"},
      {{"run", Photo("coffee.png"), "--family", "dino"}, "--family"},
      {{"run", Photo("coffee.png"), "--checkpoint-key", "model"}, "--checkpoint-key"},
      {{"run", Photo("coffee.png"), "--num-heads", "5"}, "--num-heads 5"},
      {{"run", Photo("coffee.png"), "--fit", "stretch", "--size", "100x112"}, "96"},
      {{"run", Photo("coffee.png"), "--max-pixels", "1000"}, "1000"},
      {{"run", Photo("coffee.png"), "-o", "no/such/folder/x.png"}, "no/such/folder/x.png"},
      {{"run", Photo("coffee.png"), "-m", Photo("coffee.png")}, "coffee.png"},
      {{"dump", Photo("coffee.png"), "--what", "logits", "-o", "x.json"}, "logits"},
      {{"dump", Photo("coffee.png"), "--what", "pool_attention", "-o", "x.json"}, "pool_attention"},
      {{"batch", "nowhere", "-o", "d", "-m", "no.json"}, "no.json"},
  };
  for (const Wrong& wrong : cases) {
    std::string shown;
    for (const std::string& arg : wrong.args) shown += arg + " ";
    CAPTURE(shown);
    const TempFolder folder;
    const RunResult result = Run(wrong.args, {.folder = folder.path()});
    CheckFailure(result, 1, {wrong.part});
    for (const std::string& left : folder.List()) CHECK(left == "d");
  }
}

TEST_CASE("an output that is the input itself is refused, and the input kept") {
  const TempFolder folder;
  std::filesystem::copy(Photo("chelsea.png"), folder / "a.png");
  std::filesystem::create_symlink("a.png", folder / "b.png");
  const std::string before = ReadText(folder / "a.png");
  const std::vector<std::vector<std::string>> commands = {
      {"run", "a.png", "-o", "a.png"},
      {"run", "a.png", "-o", "b.png"},
      {"run", Photo("coffee.png"), "a.png", "-o", "./a.png"},
      {"stats", "a.png", "--plot", "a.png"},
  };
  for (const auto& command : commands) {
    CheckFailure(Run(command, {.folder = folder.path()}), 2, {"a.png", "itself"});
    CHECK(ReadText(folder / "a.png") == before);
  }
  std::filesystem::copy(kOneLayerModel, folder / "m.json");
  const std::string model = ReadText(folder / "m.json");
  CheckFailure(Run({"run", "a.png", "-m", "m.json", "-o", "m.json"}, {.folder = folder.path()}), 2,
               {"m.json"});
  CheckFailure(
      Run({"dump", "--what", "model", "-m", "m.json", "-o", "m.json"}, {.folder = folder.path()}),
      2, {"m.json"});
  CHECK(ReadText(folder / "m.json") == model);
  CheckFailure(Run({"convert", "m.json", "m.json"}, {.folder = folder.path()}), 2, {"m.json"});
  CHECK(ReadText(folder / "m.json") == model);
  // A model named by its folder, and the picture under prepared pixels.
  folder.Write("m/weights.json", model);
  CheckFailure(Run({"run", "a.png", "-m", "m", "-o", "m/weights.json", "--format", "png"},
                   {.folder = folder.path()}),
               2, {"m/weights.json", "of the model 'm'"});
  CHECK(ReadText(folder / "m/weights.json") == model);
  // What lies beside it is not the model's.
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(Run({"run", "a.png", "-m", "m", "-o", "m/a.png"}, {.folder = folder.path()}).status == 0);
  }
  folder.Write("m/config.json", "{}");
  CheckFailure(Run({"run", "a.png", "-m", "m/weights.json", "-o", "m/config.json"},
                   {.folder = folder.path()}),
               2, {"m/config.json", "of the model"});
  // Shards over shards: the index is named after the output.
  std::filesystem::create_directory(folder / "s");
  REQUIRE(Run({"convert", "m.json", "s/x.safetensors", "--shard-size", "10KB"},
              {.folder = folder.path()})
              .status == 0);
  CheckFailure(
      Run({"convert", "s", "s/x.safetensors", "--shard-size", "20KB"}, {.folder = folder.path()}),
      2, {"s/x.safetensors.index.json", "of the model 's'"});
  CheckFailure(
      Run({"run", "pixels.npy", "--on", "a.png", "-o", "a.png"}, {.folder = folder.path()}), 2,
      {"a.png", "itself"});
  CHECK(ReadText(folder / "a.png") == before);
  // Two outputs of one command.
  CheckFailure(Run({"stats", "a.png", "--plot", "x.png", "-o", "./x.png", "--format", "csv"},
                   {.folder = folder.path()}),
               2, {"--plot", "x.png"});
  CHECK_FALSE(std::filesystem::exists(folder / "x.png"));
}

TEST_CASE("what a file's name holds moves no cursor") {
  const RunResult result = Run({"run",
                                "a\x1b[31m\n\xC2\x9B"
                                "b.png"});
  CheckFailure(result, 1, {"a [31m  b.png"});
}

TEST_CASE("pixels that do not have the aspect of the picture they are said to cover: a note") {
  const TempFolder folder;
  const RunResult made = Run({"dump", Photo("coffee.png"), "--what", "pixels", "-o", "px.npy"},
                             {.folder = folder.path()});
  CAPTURE(made.err);
  REQUIRE(made.status == 0);
  const auto on = [&](const std::string& photo) {
    return Run({"run", "px.npy", "--on", Photo(photo)}, {.folder = folder.path()});
  };
  CHECK(on("coffee.png").err.find("stretched") == std::string::npos);
  const RunResult other = on("astronaut.png");
  CHECK(other.status == 0);
  CHECK(other.err.find("pixels of 336 x 224 lie stretched on a picture of 512 x 512") !=
        std::string::npos);
  folder.Write("broken.png", "no picture");
  CheckFailure(Run({"run", "px.npy", "--on", "broken.png"}, {.folder = folder.path()}), 1,
               {"cannot read the picture 'broken.png'"});
}

TEST_CASE("a run over very many tokens ends soon after an interrupt") {
  const TempFolder folder;
  const RunResult result = Run({"run", Photo("coffee.png"), "--size", "4000", "-o", "map.npy"},
                               {.folder = folder.path(), .interrupt_after_milliseconds = 1500});
  CHECK(result.status == 130);
  CHECK(folder.List().empty());
}
