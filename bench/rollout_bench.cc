// What rollout costs beside the plain forward pass (the class row of the last
// layer), the two in turns within one run, and the peak of memory.
//
//   rollout_bench [--threads N] [--turns N] [--discard D] [SIZE...]
//   (b16: ViT-B/16 at 224; ti8-512: width 192 at 4,097 tokens; default b16)
//
// The peak is that of the whole process: measure one size a run.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "attnmap/analysis/maps.h"
#include "attnmap/analysis/outliers.h"
#include "attnmap/encoder/encoder.h"
#include "attnmap/model/vit_model.h"
#include "attnmap/pipeline/peak_memory.h"
#include "rivals.h"

namespace {

using namespace attnmap;  // NOLINT(google-build-using-namespace)

struct Size {
  const char* name;
  int patch_size, width, heads, side;
};

constexpr Size kSizes[] = {
    {"b16", 16, 768, 12, 224}, {"s16", 16, 384, 6, 224}, {"ti8-512", 8, 192, 3, 512}};
constexpr int kLayers = 12;

VitModel MakeModel(const Size& size) {
  InitOptions options;
  options.patch_size = size.patch_size;
  options.embed_dim = size.width;
  options.num_layers = kLayers;
  options.num_heads = size.heads;
  options.image_size = {size.side, size.side};
  return InitModel(options);
}

ModelInput MakeInput(const Size& size) {
  ModelInput input;
  const int side = size.side / size.patch_size;
  input.grid = {side, side, size.patch_size};
  input.pixels = Tensor({3, size.side, size.side});
  uint32_t state = 1;
  for (float& value : input.pixels.values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) / 8388608.0F - 1;
  }
  return input;
}

MapRequest MakeRequest(const PreparedModel& model, const ModelInput& input, Method method,
                       double discard_ratio) {
  const VitConfig& config = model.model().config;
  MapRequest request;
  request.method = method;
  request.layers = {kLayers - 1};
  request.query = {ResolvedQuery::Kind::kToken, config.tokens.class_token(), "class"};
  request.tokens = config.tokens;
  request.grid = input.grid;
  request.num_heads = config.num_heads;
  request.score_scale = ScoreScale(config, {});
  request.options.discard_ratio = discard_ratio;
  return request;
}

double TimeOne(const PreparedModel& model, const ModelInput& input, const MapRequest& request,
               ThreadPool& pool) {
  const double start = bench::Seconds();
  const auto sink = MakeMapSink(request);
  model.Encode(input, *sink, pool);
  sink->Maps(pool);
  return bench::Seconds() - start;
}

void Measure(const Size& size, int threads, int turns, double discard_ratio) {
  const PreparedModel model(MakeModel(size), true);
  const ModelInput input = MakeInput(size);
  ThreadPool pool(threads);
  const MapRequest plain = MakeRequest(model, input, Method::kAttention, 0);
  const MapRequest rollout = MakeRequest(model, input, Method::kRollout, discard_ratio);
  TimeOne(model, input, plain, pool);
  const double peak_plain = PeakMegabytes();
  TimeOne(model, input, rollout, pool);
  std::vector<double> plains, rollouts, ratios;
  for (int turn = 0; turn < turns; ++turn) {
    plains.push_back(TimeOne(model, input, plain, pool));
    rollouts.push_back(TimeOne(model, input, rollout, pool));
    ratios.push_back(rollouts.back() / plains.back());
  }
  std::printf(
      "%-8s %d tokens: plain %.1f ms, rollout %.1f ms, ratio %.3f; peak %.0f MB (%.0f MB "
      "plain)\n",
      size.name, plain.tokens.num_tokens(plain.grid), Median(plains) * 1e3, Median(rollouts) * 1e3,
      Median(ratios), PeakMegabytes(), peak_plain);
}

}  // namespace

int main(int argc, char** argv) {
  int threads = ThreadPool::DefaultThreads();
  int turns = 15;
  double discard_ratio = 0;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool more = i + 1 < argc;
    if (argument == "--threads" && more) {
      threads = std::max(std::atoi(argv[++i]), 1);
    } else if (argument == "--turns" && more) {
      turns = std::max(std::atoi(argv[++i]), 1);
    } else if (argument == "--discard" && more) {
      discard_ratio = std::atof(argv[++i]);
    } else if (argument == "--cpu") {
      threads = 1;
      bench::processor_time = true;
    } else {
      names.push_back(argument);
    }
  }
  if (names.empty()) names.push_back("b16");
  for (const Size& size : kSizes) {
    const bool chosen = std::find(names.begin(), names.end(), size.name) != names.end();
    if (chosen) Measure(size, threads, turns, discard_ratio);
  }
}
