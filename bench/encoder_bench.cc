// The encoder on whole models with random weights: time for the class token's
// row of the last layer, the rate over the operations such a map needs, and that
// as a share of the best rate oneDNN's packed product reaches at the model's
// shapes in the same run.
//
//   encoder_bench [--threads N] [--plain] [model...]   (vit-b16 vit-s16 vit-ti16 vit-s8-480
//   vit-s8-1024)

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "attnmap/encoder/encoder.h"
#include "rivals.h"

namespace {

using namespace attnmap;  // NOLINT(google-build-using-namespace)

struct ModelSize {
  const char* name;
  int patch_size, width, heads, side;
};

constexpr ModelSize kModels[] = {{"vit-b16", 16, 768, 12, 224},
                                 {"vit-s16", 16, 384, 6, 224},
                                 {"vit-ti16", 16, 192, 3, 224},
                                 {"vit-s8-480", 8, 384, 6, 480},
                                 {"vit-s8-1024", 8, 384, 6, 1024}};
constexpr int kLayers = 12;

class Random {
 public:
  SharedTensor Make(const Shape& shape, float deviation, float mean = 0) {
    Tensor tensor(shape);
    for (float& v : tensor.values) v = mean + deviation * uniform_(generator_);
    return SharedTensor(std::move(tensor));
  }
  LinearWeights Linear(int64_t out, int64_t in) {
    return {Make({out, in}, 2.0F / std::sqrt(static_cast<float>(in))), Make({out}, 0.1F)};
  }
  NormWeights Norm(int64_t width) { return {Make({width}, 0.1F, 1.0F), Make({width}, 0.1F)}; }

 private:
  std::minstd_rand generator_{1};
  std::uniform_real_distribution<float> uniform_{-1.0F, 1.0F};
};

VitModel MakeModel(const ModelSize& size) {
  Random random;
  VitModel model;
  VitConfig& config = model.config;
  config.patch_size = size.patch_size;
  config.embed_dim = size.width;
  config.num_layers = kLayers;
  config.num_heads = size.heads;
  config.head_dim = config.value_dim = size.width / size.heads;
  config.mlp_dim = 4 * size.width;
  config.tokens.has_class_token = true;
  config.position_cover = PositionCover::kPrefixNoRegisters;
  const int side = size.side / size.patch_size;
  config.position_grid = {side, side};
  const int64_t width = size.width;
  const LinearWeights patch = random.Linear(width, int64_t{3} * size.patch_size * size.patch_size);
  model.patch_weight = patch.weight;
  model.patch_bias = patch.bias;
  model.class_token = random.Make({width}, 1.0F);
  model.position = random.Make({int64_t{side} * side + 1, width}, 0.1F);
  for (int i = 0; i < kLayers; ++i) {
    LayerWeights layer;
    layer.norm1 = random.Norm(width);
    layer.query = random.Linear(width, width);
    layer.key = random.Linear(width, width);
    layer.value = random.Linear(width, width);
    layer.output = random.Linear(width, width);
    layer.norm2 = random.Norm(width);
    layer.fc1 = random.Linear(4 * width, width);
    layer.fc2 = random.Linear(width, 4 * width);
    model.layers.push_back(std::move(layer));
  }
  return model;
}

ModelInput MakeInput(const ModelSize& size) {
  ModelInput input;
  const int side = size.side / size.patch_size;
  input.grid = {side, side, size.patch_size};
  Random random;
  const SharedTensor pixels = random.Make({3, size.side, size.side}, 1.0F);
  input.pixels = Tensor(pixels.shape(), {pixels.values().begin(), pixels.values().end()});
  return input;
}

// What a map of the last layer's class row needs.
double Operations(const ModelSize& size) {
  const double side = size.side / size.patch_size;
  const double n = side * side + 1;
  const double d = size.width;
  return 2 * ((kLayers - 1) * (12 * n * d * d + 2 * n * n * d) + n * d * d);
}

// GFLOP/s of oneDNN's packed product, the best over the model's shapes; 0:
// oneDNN is not here.
double Ceiling([[maybe_unused]] const ModelSize& size) {
  double best = 0;
#ifdef ATTNMAP_BENCH_ONEDNN
  const int64_t side = size.side / size.patch_size;
  const int64_t rows = std::min<int64_t>(side * side + 1, 3601);
  const int64_t d = size.width;
  for (const auto& [depth, cols] : {std::pair{d, 3 * d}, {d, d}, {d, 4 * d}, {4 * d, d}}) {
    const bench::Product p = {rows, depth, cols};
    std::vector<float> x(static_cast<size_t>(rows * depth), 0.5F);
    std::vector<float> w(static_cast<size_t>(cols * depth), 0.5F);
    std::vector<float> y(static_cast<size_t>(rows * cols));
    std::vector<float> bias(static_cast<size_t>(cols));
    bench::OneDnn onednn;
    std::vector<bench::Contender> ways;
    ways.push_back(onednn.MatMul(p, x.data(), w.data(), bias.data(), y.data(), false));
    ways.push_back(onednn.Convolution(p, x.data(), w.data(), bias.data(), y.data(), false));
    for (double seconds : bench::BestSeconds(ways, 8)) {
      best = std::max(best, p.operations() / seconds / 1e9);
    }
  }
#endif
  return best;
}

double PeakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void RunModel(const ModelSize& size, int threads, bool reuse) {
  bench::SetRivalThreads(threads);
  const double ceiling = Ceiling(size);
  const double before = PeakMegabytes();
  const PreparedModel model(MakeModel(size), reuse);
  const double with_weights = PeakMegabytes();
  const ModelInput input = MakeInput(size);
  ThreadPool pool(threads);
  CaptureRequest request;
  request.layers = {kLayers - 1};
  request.wants.attention = QueryRows::Only({0});
  const auto once = [&] {
    AttentionRecord record(request);
    model.Encode(input, record, pool);
  };
  const double start = bench::Seconds();
  once();
  const double first = bench::Seconds() - start;
  const int turns = first > 20 ? 0 : std::clamp(static_cast<int>(3 / first), 2, 40);
  const double best = std::min(first, bench::BestSeconds({{"encode", once}}, turns)[0]);
  const double rate = Operations(size) / best / 1e9;
  std::printf("%-12s first %8.1f ms, warm %8.1f ms, %4.0f GFLOP/s", size.name, first * 1e3,
              best * 1e3, rate);
  if (ceiling > 0) std::printf(", ceiling %4.0f, ratio %.2f", ceiling, rate / ceiling);
  std::printf(", peak %.0f MB (%.0f before, %.0f with weights)\n", PeakMegabytes(), before,
              with_weights);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  int threads = ThreadPool::DefaultThreads();
  bool reuse = true;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--threads" && i + 1 < argc) {
      threads = std::max(std::atoi(argv[++i]), 1);
    } else if (argument == "--cpu") {
      threads = 1;
      bench::processor_time = true;
    } else if (argument == "--plain") {
      reuse = false;
    } else {
      names.push_back(argument);
    }
  }
  std::printf("%d thread(s), weights %s\n", threads, reuse ? "packed" : "plain");
  for (const ModelSize& size : kModels) {
    const bool chosen =
        names.empty() || std::find(names.begin(), names.end(), size.name) != names.end();
    if (chosen) RunModel(size, threads, reuse);
  }
}
