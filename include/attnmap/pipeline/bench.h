#ifndef ATTNMAP_PIPELINE_BENCH_H_
#define ATTNMAP_PIPELINE_BENCH_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attnmap/encoder/stage_times.h"
#include "attnmap/pipeline/options.h"

namespace attnmap {

// `bench`: what this machine can do, and how near the engine comes to it.
struct BenchOptions {
  // A model with random weights by name (BenchModels), or a weights file where
  // that is set.
  std::vector<std::string> names;
  ModelOptions model;
  RowsCols size;               // of the prepared picture; 0 x 0: the model's
  SelectionOptions selection;  // threads and precision
  double seconds = 2;          // about, for each model
  const StopFlag* stop = nullptr;
};

// One model: the class token's row (or the mean) of the last layer, one image.
struct BenchRow {
  std::string name;
  RowsCols size;
  int64_t num_tokens = 0;
  double first_ms = 0;   // the first image
  double median_ms = 0;  // of those after it
  double best_ms = 0;
  int images = 0;          // measured
  double operations = 0;   // that the map needs (MapOperations)
  double gflops = 0;       // operations a second, in 10^9
  double peak_gflops = 0;  // multiply-adds in registers, between the images; a median
  // Of the threads' time in the encoder, as EncoderStage numbers them.
  std::array<double, kEncoderStageNames.size()> stage_shares{};
  double peak_megabytes = 0;  // of the process, since the model before
};

struct BenchResult {
  std::string instruction_set;
  int threads = 0;
  Precision precision = Precision::kFloat32;
  std::vector<BenchRow> rows;
};

// "vit-ti16", ...
std::vector<std::string> BenchModels();
// One of them. REQUIRES: its name is of those.
VitModel BenchModel(const std::string& name);

// Multiplications and additions of matrix products that the class token's row of
// the last layer takes: all of the layers before it, and the last one's keys.
// Patch embedding, norms, softmax and activations count as nothing.
double MapOperations(const VitConfig& config, int64_t num_tokens);

// `report` is called after each model with what is there so far. Throws
// Interrupted where a stop was asked for.
BenchResult RunBench(const BenchOptions& options,
                     const std::function<void(const BenchResult&)>& report);

std::string BenchHeadText(const BenchResult& result);
std::string BenchRowText(const BenchRow& row);
std::string BenchJson(const BenchResult& result);

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_BENCH_H_
