#include "attnmap/pipeline/bench.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "attnmap/analysis/outliers.h"
#include "attnmap/core/error.h"
#include "attnmap/core/thread_pool.h"
#include "attnmap/image/prepare.h"
#include "attnmap/ops/instruction_set.h"
#include "attnmap/ops/peak.h"
#include "attnmap/pipeline/peak_memory.h"
#include "attnmap/pipeline/session.h"

namespace attnmap {
namespace {

struct Size {
  const char* name;
  int patch_size, embed_dim, num_heads, side;
};

// The sizes of Dosovitskiy et al. 2021 and Touvron et al. 2021.
constexpr Size kSizes[] = {{"vit-ti16", 16, 192, 3, 224},
                           {"vit-s16", 16, 384, 6, 224},
                           {"vit-b16", 16, 768, 12, 224},
                           {"vit-s8-480", 8, 384, 6, 480},
                           {"vit-s8-1024", 8, 384, 6, 1024}};
constexpr int kNumLayers = 12;

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Operations a second of multiply-adds in registers, all threads at it.
double MeasurePeak(ThreadPool& pool, bool pairs) {
  constexpr int64_t kRounds = 20'000;
  std::vector<double> done(static_cast<size_t>(pool.num_threads()));
  const double start = Now();
  pool.Run(pool.num_threads(), [&](int64_t item, int) {
    done[static_cast<size_t>(item)] = ops::MultiplyAdd(kRounds, pairs);
  });
  return std::accumulate(done.begin(), done.end(), 0.0) / (Now() - start);
}

SharedTensor Copy(const SharedTensor& tensor) {
  if (!tensor.present()) return {};
  return SharedTensor(Tensor(tensor.shape(), {tensor.values().begin(), tensor.values().end()}));
}

// A layer of InitModel's, in memory of its own.
LayerWeights Copy(const LayerWeights& layer) {
  LayerWeights copy;
  const auto norm = [](const NormWeights& n) { return NormWeights{Copy(n.weight), Copy(n.bias)}; };
  const auto linear = [](const LinearWeights& l) {
    return LinearWeights{Copy(l.weight), Copy(l.bias)};
  };
  copy.norm1 = norm(layer.norm1);
  copy.query = linear(layer.query);
  copy.key = linear(layer.key);
  copy.value = linear(layer.value);
  copy.output = linear(layer.output);
  copy.norm2 = norm(layer.norm2);
  copy.fc1 = linear(layer.fc1);
  copy.fc2 = linear(layer.fc2);
  return copy;
}

// Any numbers do.
ModelInput SomePixels(RowsCols size, int patch_size) {
  Tensor pixels({3, size.rows, size.cols});
  uint32_t state = 1;
  for (float& v : pixels.values) {
    state = state * 1664525U + 1013904223U;
    v = static_cast<float>(state >> 8) / static_cast<float>(1U << 23) - 1.0F;
  }
  return PrepareTensor(std::move(pixels), patch_size);
}

CaptureRequest RequestFor(const VitConfig& config) {
  CaptureRequest request;
  request.layers = {config.num_layers - 1};
  request.wants.attention = QueryRows::Only({0});
  return request;
}

BenchRow Measure(const std::string& name, const PreparedModel& model, const BenchOptions& options,
                 ThreadPool& pool) {
  const VitConfig& config = model.model().config;
  BenchRow row;
  row.name = name;
  row.size = options.size.rows > 0 ? options.size : model.model().InputSize();
  const ModelInput input = SomePixels(row.size, config.patch_size);
  row.num_tokens = config.tokens.num_tokens(input.grid);
  row.operations = MapOperations(config, row.num_tokens);
  StageTimes times;
  const EncodeSettings settings = {.score_scale = {}, .stop = options.stop, .times = &times};
  const auto encode = [&] {
    CheckStop(options.stop);
    AttentionRecord record(RequestFor(config));
    const double start = Now();
    model.Encode(input, record, pool, settings);
    return Now() - start;
  };
  const bool pairs = options.selection.precision == Precision::kBfloat16;
  std::vector<double> images;
  std::vector<double> peaks;
  const double start = Now();
  row.first_ms = encode() * 1e3;
  constexpr size_t kLeast = 3;
  constexpr size_t kMost = 1000;
  while (images.size() < kLeast || (Now() - start < options.seconds && images.size() < kMost)) {
    peaks.push_back(MeasurePeak(pool, pairs));
    images.push_back(encode());
  }
  const double median = Median(images);
  row.images = static_cast<int>(images.size());
  row.median_ms = median * 1e3;
  row.best_ms = *std::min_element(images.begin(), images.end()) * 1e3;
  row.gflops = row.operations / median / 1e9;
  row.peak_gflops = Median(peaks) / 1e9;
  const auto total = static_cast<double>(
      std::accumulate(times.nanoseconds.begin(), times.nanoseconds.end(), int64_t{0}));
  for (size_t i = 0; i < row.stage_shares.size(); ++i) {
    row.stage_shares[i] = static_cast<double>(times.nanoseconds[i]) / total;
  }
  row.peak_megabytes = PeakMegabytes();
  return row;
}

}  // namespace

std::vector<std::string> BenchModels() {
  std::vector<std::string> names;
  for (const Size& size : kSizes) names.emplace_back(size.name);
  return names;
}

VitModel BenchModel(const std::string& name) {
  const auto* size = std::find_if(std::begin(kSizes), std::end(kSizes),
                                  [&](const Size& s) { return name == s.name; });
  if (size == std::end(kSizes)) throw UsageError("no model is called '" + name + "'");
  InitOptions init;
  init.patch_size = size->patch_size;
  init.embed_dim = size->embed_dim;
  init.num_heads = size->num_heads;
  init.image_size = {size->side, size->side};
  // Random numbers for one layer, copied for the others, which takes a tenth of
  // the time.
  init.num_layers = 1;
  VitModel model = InitModel(init);
  model.config.num_layers = kNumLayers;
  while (model.layers.size() < kNumLayers) model.layers.push_back(Copy(model.layers[0]));
  return model;
}

double MapOperations(const VitConfig& config, int64_t num_tokens) {
  const auto n = static_cast<double>(num_tokens);
  const auto width = static_cast<double>(config.embed_dim);
  const double keys = static_cast<double>(config.num_heads) * config.head_dim;
  const double values = static_cast<double>(config.num_heads) * config.value_dim;
  const double mlps = config.mlp == MlpKind::kNone ? 0 : config.mlp == MlpKind::kGated ? 3 : 2;
  const double projections = width * (2 * keys + 2 * values);
  const double mlp = mlps * width * config.mlp_dim;
  const double layer = n * (projections + mlp) + n * n * (keys + values);
  return 2 * ((config.num_layers - 1) * layer + n * width * keys);
}

BenchResult RunBench(const BenchOptions& options,
                     const std::function<void(const BenchResult&)>& report) {
  BenchResult result;
  result.instruction_set = ops::InstructionSetInUse();
  result.threads = NumThreads(options.selection);
  result.precision = options.selection.precision;
  CheckPrecision(options.selection.precision);
  ThreadPool pool(result.threads);
  const auto measure = [&](const std::string& name, const PreparedModel& model) {
    ForgetPeakMemory();
    result.rows.push_back(Measure(name, model, options, pool));
    report(result);
  };
  if (!options.model.path.empty()) {
    measure(options.model.path, PrepareModel(options.model, options.selection, true));
  }
  for (const std::string& name : options.names) {
    measure(name, PreparedModel(BenchModel(name), true, options.selection.precision));
  }
  return result;
}

std::string BenchHeadText(const BenchResult& result) {
  char line[512];
  std::snprintf(line, sizeof(line),
                "%s, %d thread%s, %s; one image, class token's row of the last layer\n"
                "peak: the ceiling, multiply-adds in registers; stages: of the threads' time\n"
                "%-12s %9s %6s %8s %9s %7s %8s %7s %5s %7s %6s\n",
                result.instruction_set.c_str(), result.threads, result.threads == 1 ? "" : "s",
                std::string(PrecisionName(result.precision)).c_str(), "model", "pixels", "tokens",
                "first ms", "median ms", "best ms", "images/s", "GFLOP/s", "peak", "of peak", "MB");
  return line;
}

std::string BenchRowText(const BenchRow& row) {
  char line[512];
  constexpr size_t kNameWidth = 12;
  const std::string pixels = std::to_string(row.size.rows) + "x" + std::to_string(row.size.cols);
  std::snprintf(line, sizeof(line),
                "%-12s %9s %6lld %8.1f %9.1f %7.1f %8.1f %7.0f %5.0f %5.0f %% %6.0f\n",
                row.name.size() > kNameWidth ? "" : row.name.c_str(), pixels.c_str(),
                static_cast<long long>(row.num_tokens), row.first_ms, row.median_ms, row.best_ms,
                1e3 / row.median_ms, row.gflops, row.peak_gflops,
                100 * row.gflops / row.peak_gflops, row.peak_megabytes);
  // A long name, a path, has a line of its own.
  std::string text = row.name.size() > kNameWidth ? row.name + "\n" + line : line;
  text += "  ";
  for (size_t i = 0; i < row.stage_shares.size(); ++i) {
    std::snprintf(line, sizeof(line), "%s%s %.0f %%", i == 0 ? "" : ", ",
                  std::string(kEncoderStageNames[i]).c_str(), 100 * row.stage_shares[i]);
    text += line;
  }
  return text + "\n";
}

namespace {

nlohmann::ordered_json StagesJson(const BenchRow& row) {
  nlohmann::ordered_json stages;
  for (size_t i = 0; i < row.stage_shares.size(); ++i) {
    stages[std::string(kEncoderStageNames[i])] = row.stage_shares[i];
  }
  return stages;
}

}  // namespace

std::string BenchJson(const BenchResult& result) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const BenchRow& row : result.rows) {
    rows.push_back({{"model", row.name},
                    {"size", {row.size.rows, row.size.cols}},
                    {"tokens", row.num_tokens},
                    {"first_ms", row.first_ms},
                    {"median_ms", row.median_ms},
                    {"best_ms", row.best_ms},
                    {"images_per_second", 1e3 / row.median_ms},
                    {"images", row.images},
                    {"operations", row.operations},
                    {"gflops", row.gflops},
                    {"peak_gflops", row.peak_gflops},
                    {"share", row.gflops / row.peak_gflops},
                    {"stages", StagesJson(row)},
                    {"peak_megabytes", row.peak_megabytes}});
  }
  const Json json = {{"instruction_set", result.instruction_set},
                     {"threads", result.threads},
                     {"precision", std::string(PrecisionName(result.precision))},
                     {"models", rows}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace attnmap
