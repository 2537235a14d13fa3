// The program as its users start it, whole processes measured from outside: wall
// clock, processor time and peak memory, medians of interleaved turns.
//
//   process_bench cold [TURNS]           one picture from a cold start
//   process_bench batch MODEL [SIDE] [COUNT]  a folder of photos, one thread and all
//   process_bench memory                 ViT-S/8 on 1024 x 1024
//   process_bench scaling                tokens and images: a table to fit and plot
//
// Models are those of `attnmap bench`, written as safetensors to a temporary
// folder; photos are made from data/images.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aim.h"
#include "attnmap/formats/arrays.h"
#include "attnmap/formats/file.h"
#include "attnmap/image/decode.h"
#include "attnmap/image/encode.h"
#include "attnmap/image/resample.h"
#include "attnmap/pipeline/bench.h"
#include "ceiling.h"
#include "rivals.h"

namespace {

namespace fs = std::filesystem;
using namespace attnmap;  // NOLINT(google-build-using-namespace)

const char* const kProgram = ATTNMAP_BINARY_DIR "/attnmap";

struct Turn {
  double wall = 0;
  double processor = 0;
  double megabytes = 0;
};

// Ends the benchmark where the program fails.
Turn RunProgram(std::vector<std::string> args) {
  args.insert(args.begin(), kProgram);
  args.emplace_back("-q");
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> argv;
    for (std::string& arg : args) argv.push_back(arg.data());
    argv.push_back(nullptr);
    const int nowhere = ::open("/dev/null", O_WRONLY);
    ::dup2(nowhere, STDOUT_FILENO);
    ::execv(kProgram, argv.data());
    std::_Exit(127);
  }
  rusage usage{};
  int status = 0;
  ::wait4(child, &status, 0, &usage);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "process_bench: the program failed\n");
    std::exit(1);
  }
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return {wall.count(), seconds(usage.ru_utime) + seconds(usage.ru_stime),
          static_cast<double>(usage.ru_maxrss) / 1024};
}

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "attnmap-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

// In a process of its own: a program started later counts as its peak what this
// process holds when it starts it. Returns what the work returns.
template <typename Work>
double Apart(const Work& work) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    const double result = work();
    if (::write(ends[1], &result, sizeof result) != sizeof result) std::abort();
    std::_Exit(0);
  }
  double result = 0;
  ::close(ends[1]);
  if (::read(ends[0], &result, sizeof result) != sizeof result) std::abort();
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return result;
}

std::string WriteModel(const Folder& folder, const std::string& name) {
  const std::string path = folder / (name + ".safetensors");
  Apart([&] {
    const VitModel model = BenchModel(name);
    const std::vector<NamedTensor> tensors = CanonicalTensors(model);
    std::vector<ArrayToWrite> arrays;
    for (const NamedTensor& t : tensors) {
      arrays.push_back({t.name, t.tensor.shape(), t.tensor.values()});
    }
    WriteSafetensors(path, arrays, {DataType::kF32, {{kArchiveHeader, CanonicalHeader(model)}}});
    return 0;
  });
  return path;
}

// A photo of rows x cols as JPEG.
std::string WritePhoto(const Folder& folder, const std::string& name, const char* source,
                       RowsCols size) {
  const std::string path = folder / name;
  Apart([&] {
    const auto file = MappedFile::Open(std::string(ATTNMAP_SOURCE_DIR "/data/images/") + source);
    const Image photo = Resize(DecodeImage(file->bytes()).image, size, Filter::kBicubic);
    const std::vector<uint8_t> bytes = EncodeImage(photo, PictureFormat::kJpeg, {});
    WriteFileAtomically(path, bytes);
    return 0;
  });
  return path;
}

struct Medians {
  double wall, processor, megabytes;
};

Medians MedianOf(const std::vector<Turn>& turns) {
  std::vector<double> wall;
  std::vector<double> processor;
  double megabytes = 0;
  for (const Turn& turn : turns) {
    wall.push_back(turn.wall);
    processor.push_back(turn.processor);
    megabytes = std::max(megabytes, turn.megabytes);
  }
  return {Median(wall), Median(processor), megabytes};
}

PatchGrid GridOf(const VitModel& model) {
  const RowsCols size = model.InputSize();
  const int patch = model.config.patch_size;
  return {size.rows / patch, size.cols / patch, patch};
}

int64_t NumTokens(const VitModel& model) { return model.config.tokens.num_tokens(GridOf(model)); }

// The encoder alone, one image after the other, in this run.
double WarmSeconds(const std::string& name) {
  ThreadPool pool(ThreadPool::DefaultThreads());
  const VitModel model = BenchModel(name);
  const PreparedModel prepared(model, true);
  ModelInput input;
  const RowsCols size = model.InputSize();
  input.grid = GridOf(model);
  input.pixels = Tensor({3, size.rows, size.cols});
  CaptureRequest request;
  request.layers = {model.config.num_layers - 1};
  request.wants.fused = QueryRows::Only({0});
  std::vector<double> seconds;
  for (int i = 0; i < 7; ++i) {
    AttentionRecord record(request);
    const double start = bench::Seconds();
    prepared.Encode(input, record, pool);
    seconds.push_back(bench::Seconds() - start);
  }
  return Median(seconds);
}

double CeilingOf(const std::string& name) {
  const VitModel model = BenchModel(name);
  bench::Ceiling ceiling(model.config, NumTokens(model));
  for (int turn = 0; turn < 9; ++turn) ceiling.Turn();
  return ceiling.Rate();
}

void Cold(int turns) {
  const Folder folder;
  const std::string model = WriteModel(folder, "vit-b16");
  const std::string photo = WritePhoto(folder, "photo.jpg", "coffee.png", {1000, 1000});
  const std::string out = folder / "map.png";
  struct Case {
    const char* name;
    std::vector<std::string> args;
    std::vector<Turn> turns;
  };
  Case cases[] = {{"--version", {"--version"}, {}},
                  {"demo model, 1 MP JPEG, PNG written", {"run", photo, "-o", out}, {}},
                  {"ViT-B/16, 1 MP JPEG, PNG written", {"run", photo, "-m", model, "-o", out}, {}}};
  std::vector<double> warm;
  for (int turn = 0; turn < turns; ++turn) {
    for (Case& each : cases) each.turns.push_back(RunProgram(each.args));
    if (turn % 3 == 0) warm.push_back(Apart([] { return WarmSeconds("vit-b16"); }));
  }
  std::printf("%-38s %9s %10s %8s\n", "cold process", "wall s", "CPU s", "peak MB");
  for (const Case& each : cases) {
    const Medians m = MedianOf(each.turns);
    std::printf("%-38s %9.3f %10.3f %8.0f\n", each.name, m.wall, m.processor, m.megabytes);
  }
  const double once = Median(warm);
  std::printf("ViT-B/16 warm %.3f s\n", once);
  using bench::Sense;
  const Medians demo = MedianOf(cases[1].turns);
  bench::PrintAim("vit-b16, cold (1.4 x warm + 0.20 s)", Sense::kAtMost, 1.4 * once + 0.2,
                  MedianOf(cases[2].turns).wall, "s");
  bench::PrintAim("demo model, cold", Sense::kAtMost, 0.15, demo.wall, "s");
  bench::PrintAim("demo model, cold, memory", Sense::kAtMost, 80, demo.megabytes, "MB");
}

void Batch(const std::string& name, int side, int count) {
  const Folder folder;
  const std::string model = WriteModel(folder, name);
  const char* const sources[] = {"astronaut.png", "chelsea.png", "coffee.png", "rocket.jpg"};
  std::vector<std::string> photos;
  for (int i = 0; i < 4; ++i) {
    photos.push_back(
        WritePhoto(folder, "p" + std::to_string(i) + ".jpg", sources[i], {side, side}));
  }
  fs::create_directory(folder / "in");
  for (int i = 0; i < count; ++i) {
    fs::create_hard_link(photos[static_cast<size_t>(i % 4)],
                         (folder / "in/") + std::to_string(i) + ".jpg");
  }
  const int cores = ThreadPool::DefaultThreads();
  std::vector<Turn> single;
  std::vector<Turn> all;
  std::vector<Turn> few;
  const auto run = [&](int threads, const std::string& input) {
    fs::remove_all(folder / "out");
    return RunProgram(
        {"batch", input, "-m", model, "-o", folder / "out", "--threads", std::to_string(threads)});
  };
  fs::create_directory(folder / "few");
  const int tenth = std::max(count / 10, 2 * cores);  // every thread has a photo
  for (int i = 0; i < tenth; ++i) {
    fs::create_hard_link(photos[static_cast<size_t>(i % 4)],
                         (folder / "few/") + std::to_string(i) + ".jpg");
  }
  std::vector<double> ceilings;
  for (int turn = 0; turn < 3; ++turn) {
    single.push_back(run(1, folder / "in"));
    ceilings.push_back(Apart([&] { return CeilingOf(name); }));
    all.push_back(run(cores, folder / "in"));
    few.push_back(run(cores, folder / "few"));
  }
  const Medians one = MedianOf(single);
  const Medians every = MedianOf(all);
  const double operations = Apart([&] {
    const VitModel random = BenchModel(name);
    return MapOperations(random.config, NumTokens(random));
  });
  std::printf(
      "%s, %d photos of %d x %d: 1 thread %.1f images/s, %d threads %.1f images/s "
      "(%.0f %% of %d x one), %.0f GFLOP/s; peak %.0f MB, %.0f MB with %d of them\n",
      name.c_str(), count, side, side, count / one.wall, cores, count / every.wall,
      100 * one.wall / every.wall / cores, cores, operations * count / every.wall / 1e9,
      every.megabytes, MedianOf(few).megabytes, tenth);
  using bench::Sense;
  const std::string what = name + ", batch of " + std::to_string(count) + " of " +
                           std::to_string(side) + " x " + std::to_string(side);
  bench::PrintAim(what + ", of cores x one thread", Sense::kAtLeast, 0.9,
                  one.wall / every.wall / cores, "");
  bench::PrintAim(what + ", memory against " + std::to_string(tenth) + " of them", Sense::kAtMost,
                  1.1, every.megabytes / MedianOf(few).megabytes, "times");
  const double ceiling = Median(ceilings);
  const auto aim = bench::AimOf(name);
  // Larger photos are the aim above: they are decoded and resized for as long.
  const double own = Apart([&] { return static_cast<double>(BenchModel(name).InputSize().rows); });
  if (!aim || ceiling == 0 || side != static_cast<int>(own)) return;
  bench::PrintAim(what + ", of oneDNN's best", Sense::kAtLeast, aim->share - aim->less,
                  operations * count / every.wall / 1e9 / ceiling, "");
}

void Memory() {
  const Folder folder;
  const std::string model = WriteModel(folder, "vit-s8-1024");
  const std::string photo = WritePhoto(folder, "photo.jpg", "astronaut.png", {1024, 1024});
  const Turn turn = RunProgram({"run", photo, "-m", model, "-o", folder / "map.png"});
  const double weights = static_cast<double>(fs::file_size(model)) / 1048576;
  std::printf("ViT-S/8, 1024 x 1024, 16385 tokens: %.1f s, peak %.0f MB, weights %.0f MB\n",
              turn.wall, turn.megabytes, weights);
}

// Lines "tokens N wall MB" and "images N wall MB".
void Scaling() {
  const Folder folder;
  const std::string model = WriteModel(folder, "vit-ti16");
  for (int side : {224, 320, 448, 640, 896, 1280, 1792, 2048}) {
    const std::string photo =
        WritePhoto(folder, std::to_string(side) + ".jpg", "coffee.png", {side, side});
    std::vector<Turn> turns;
    for (int i = 0; i < 3; ++i) {
      turns.push_back(RunProgram(
          {"run", photo, "-m", model, "--size", std::to_string(side), "-o", folder / "map.npy"}));
    }
    const Medians m = MedianOf(turns);
    std::printf("tokens %d %.4f %.1f\n", side / 16 * (side / 16) + 1, m.wall, m.megabytes);
    std::fflush(stdout);
  }
  const std::string photo = WritePhoto(folder, "p.jpg", "coffee.png", {224, 224});
  fs::create_directory(folder / "in");
  int made = 0;
  for (int count : {1, 10, 100, 1000, 10000}) {
    for (; made < count; ++made) {
      fs::create_hard_link(photo, (folder / "in/") + std::to_string(made) + ".jpg");
    }
    const Turn turn = RunProgram({"batch", folder / "in", "-o", folder / "out", "--force"});
    std::printf("images %d %.4f %.1f\n", count, turn.wall, turn.megabytes);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "cold";
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  if (what == "cold") {
    Cold(std::max(number(2, 9), 1));
  } else if (what == "batch" && argc > 2) {
    Batch(argv[2], number(3, 1000), number(4, 100));
  } else if (what == "memory") {
    Memory();
  } else if (what == "scaling") {
    Scaling();
  } else {
    std::fprintf(stderr, "usage: process_bench cold|batch MODEL|memory|scaling\n");
    return 2;
  }
}
