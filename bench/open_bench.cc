// Opening a large float32 safetensors file and being ready to compute, against
// reading the file: the weights are mapped, not copied.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "attnmap/analysis/outliers.h"
#include "attnmap/encoder/encoder.h"
#include "attnmap/formats/arrays.h"
#include "attnmap/formats/file.h"
#include "attnmap/model/vit_model.h"
#include "attnmap/weights/weight_source.h"

namespace {

using attnmap::Median;
using Clock = std::chrono::steady_clock;

double Milliseconds(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A field of /proc/self/status, in MB.
double StatusMegabytes(const std::string& field) {
  std::FILE* file = std::fopen("/proc/self/status", "re");
  double kilobytes = 0;
  char line[256];
  while (file != nullptr && std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::string(line).starts_with(field)) {
      std::sscanf(line + field.size(), "%lf", &kilobytes);  // NOLINT(cert-err34-c)
    }
  }
  if (file != nullptr) std::fclose(file);
  return kilobytes / 1024;
}

void WriteViTBase(const std::string& path) {
  attnmap::InitOptions init;
  init.embed_dim = 768;
  init.num_heads = 12;
  init.num_classes = 1000;
  const attnmap::VitModel model = attnmap::InitModel(init);
  const auto tensors = attnmap::CanonicalTensors(model);
  std::vector<attnmap::ArrayToWrite> arrays;
  for (const attnmap::NamedTensor& named : tensors) {
    arrays.push_back({named.name, named.tensor.shape(), named.tensor.values()});
  }
  attnmap::WriteSafetensors(
      path, arrays, {attnmap::DataType::kF32, {{attnmap::kArchiveHeader, CanonicalHeader(model)}}});
}

double Open(const std::string& path, double& anonymous) {
  const double before = StatusMegabytes("RssAnon:");
  const auto start = Clock::now();
  const auto source = attnmap::OpenWeights(path);
  attnmap::LoadModelOptions options;
  options.check_finite = false;  // done after computing began
  const attnmap::PreparedModel prepared(LoadVitModel(*source, options));
  const double time = Milliseconds(start);
  anonymous = StatusMegabytes("RssAnon:") - before;
  return time;
}

double Read(const std::string& path) {
  const auto start = Clock::now();
  const std::vector<uint8_t> bytes = attnmap::ReadFile(path);
  return bytes.empty() ? 0 : Milliseconds(start);
}

}  // namespace

int main() {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("open_bench." + std::to_string(getpid()) + ".safetensors"))
                               .string();
  WriteViTBase(path);
  std::vector<double> open;
  std::vector<double> read;
  double anonymous = 0;
  constexpr int kTurns = 9;
  for (int turn = 0; turn < kTurns; ++turn) {
    open.push_back(Open(path, anonymous));
    read.push_back(Read(path));
  }
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  std::filesystem::remove(path);
  std::printf("safetensors, float32, %.0f MB (medians of %d interleaved turns)\n", megabytes,
              kTurns);
  std::printf("  open, ready to compute  %8.2f ms   target 50 ms\n", Median(open));
  std::printf("  memory it took          %8.2f MB   of its own (a copy would be %.0f)\n", anonymous,
              megabytes);
  std::printf("  reading the file        %8.2f ms\n", Median(read));
  std::printf("  ratio open / read       %8.4f\n", Median(open) / Median(read));
  return 0;
}
