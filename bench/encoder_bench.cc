// The encoder on whole models with random weights: time for the class token's
// row of the last layer, the rate over the operations such a map needs
// (MapOperations), and that as a share of the best rate oneDNN's packed product
// reaches at the model's shapes in the same run. Turns of both are interleaved;
// medians.
//
//   encoder_bench [--threads N | --cpu] [--plain] [--bf16] [--turns N] [model...]
//   encoder_bench [--threads N] --served model
//
// Models as `attnmap bench` has them. --cpu: one thread, by processor time, for a
// busy machine. --plain: weights packed anew for every image, as one cold image
// has it. --bf16: beside float32 in the same run. --served: an image for each line
// of standard input, answered by its milliseconds (bench/onnxruntime).

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aim.h"
#include "attnmap/encoder/encoder.h"
#include "attnmap/image/prepare.h"
#include "attnmap/ops/instruction_set.h"
#include "attnmap/pipeline/bench.h"
#include "attnmap/pipeline/peak_memory.h"
#include "ceiling.h"
#include "rivals.h"

namespace {

using namespace attnmap;  // NOLINT(google-build-using-namespace)

struct Settings {
  int threads = ThreadPool::DefaultThreads();
  bool reuse = true;
  bool bf16 = false;
  bool served = false;
  int turns = 0;  // 0: for about ten seconds
};

ModelInput MakeInput(const VitModel& model) {
  const RowsCols size = model.InputSize();
  Tensor pixels({3, size.rows, size.cols});
  for (size_t i = 0; i < pixels.values.size(); ++i) {
    pixels.values[i] = static_cast<float>(i * 2654435761U % 2048) / 1024.0F - 1.0F;
  }
  return PrepareTensor(std::move(pixels), model.config.patch_size);
}

// The class token's row of the last layer.
class Encoding {
 public:
  Encoding(const VitConfig& config, const ModelInput& input, int threads)
      : input_(input), pool_(threads) {
    request_.layers = {config.num_layers - 1};
    request_.wants.attention = QueryRows::Only({0});
  }
  double Seconds(const PreparedModel& model) {
    AttentionRecord record(request_);
    const double start = bench::Seconds();
    model.Encode(input_, record, pool_);
    return bench::Seconds() - start;
  }

 private:
  const ModelInput& input_;
  ThreadPool pool_;
  CaptureRequest request_;
};

void Serve(const std::string& name, const Settings& settings) {
  const VitModel random = BenchModel(name);
  const ModelInput input = MakeInput(random);
  const PreparedModel model(random, settings.reuse);
  Encoding encoding(random.config, input, settings.threads);
  for (int next = std::getchar(); next != EOF; next = std::getchar()) {
    if (next != '\n') continue;
    std::printf("%.4f\n", encoding.Seconds(model) * 1e3);
    std::fflush(stdout);
  }
}

void RunModel(const std::string& name, const Settings& settings) {
  const double before = PeakMegabytes();
  const VitModel random = BenchModel(name);
  const ModelInput input = MakeInput(random);
  const VitConfig& config = random.config;
  const int64_t num_tokens = config.tokens.num_tokens(input.grid);
  std::vector<PreparedModel> models;
  models.emplace_back(random, settings.reuse);
  if (settings.bf16) models.emplace_back(random, settings.reuse, Precision::kBfloat16);
  const double with_weights = PeakMegabytes();
  Encoding encoding(config, input, settings.threads);
  const double first = encoding.Seconds(models[0]);
  const double encoded = PeakMegabytes();
  bench::Ceiling ceiling(config, num_tokens);
  const int turns =
      settings.turns > 0 ? settings.turns : std::clamp(static_cast<int>(5 / first), 3, 101);
  std::vector<std::vector<double>> seconds(models.size());
  for (int turn = 0; turn < turns; ++turn) {
    ceiling.Turn();
    for (size_t i = 0; i < models.size(); ++i) {
      encoding.Seconds(models[i]);  // the caches are the model's again
      seconds[i].push_back(encoding.Seconds(models[i]));
    }
  }
  const double median = Median(seconds[0]);
  const double rate = MapOperations(config, num_tokens) / median / 1e9;
  std::printf("%-12s %6ld tokens, first %8.1f ms, median %8.1f ms, %4.0f GFLOP/s", name.c_str(),
              static_cast<long>(num_tokens), first * 1e3, median * 1e3, rate);
  if (ceiling.Rate() > 0)
    std::printf(", ceiling %4.0f, ratio %.2f", ceiling.Rate(), rate / ceiling.Rate());
  std::printf(", %.0f MB above the weights", encoded - std::max(with_weights, before));
  if (settings.bf16) {
    const double rounded = Median(seconds[1]);
    std::printf("; bf16 %.1f ms, %.2f times float32's speed", rounded * 1e3, median / rounded);
  }
  std::printf("\n");
  const auto aim = bench::AimOf(name);
  if (aim && ceiling.Rate() > 0) {
    bench::PrintAim(name + ", warm, of oneDNN's best", bench::Sense::kAtLeast, aim->share,
                    rate / ceiling.Rate(), "");
  }
  if (name == "vit-s8-1024") {
    bench::PrintAim(name + ", memory above the weights", bench::Sense::kAtMost, 350,
                    encoded - std::max(with_weights, before), "MB");
  }
  if (settings.bf16) {
    bench::PrintAim(name + ", bf16 against float32", bench::Sense::kAtLeast, 1.6,
                    median / Median(seconds[1]), "times");
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--threads" && i + 1 < argc) {
      settings.threads = std::max(std::atoi(argv[++i]), 1);
    } else if (argument == "--turns" && i + 1 < argc) {
      settings.turns = std::atoi(argv[++i]);
    } else if (argument == "--cpu") {
      settings.threads = 1;
      bench::processor_time = true;
    } else if (argument == "--plain") {
      settings.reuse = false;
    } else if (argument == "--served") {
      settings.served = true;
    } else if (argument == "--bf16") {
      settings.bf16 = true;
    } else {
      names.push_back(argument);
    }
  }
  bench::SetRivalThreads(settings.threads);
  if (settings.bf16 && !RunsWell(Precision::kBfloat16)) {
    std::printf("aim\tbf16 against float32\tat least 1.6 times\tno instruction\t-\n");
    settings.bf16 = false;
  }
  if (names.empty()) names = BenchModels();
  if (settings.served) {
    Serve(names[0], settings);
    return 0;
  }
  std::printf("%s, %d thread(s), weights %s\n", ops::InstructionSetInUse().c_str(),
              settings.threads, settings.reuse ? "packed" : "plain");
  for (const std::string& name : names) RunModel(name, settings);
}
