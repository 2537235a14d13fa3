// Several pictures, or models, drawn on one sheet.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <list>

#include "attnmap/core/error.h"
#include "attnmap/formats/file.h"
#include "attnmap/pipeline/run.h"

namespace attnmap {
namespace {

namespace fs = std::filesystem;

// Short labels, unless two would be the same.
std::vector<std::string> Labels(const std::vector<std::string>& paths,
                                std::string (*shorten)(const std::string&)) {
  std::vector<std::string> labels;
  labels.reserve(paths.size());
  for (const std::string& path : paths) labels.push_back(shorten(path));
  for (size_t i = 0; i < paths.size(); ++i) {
    if (std::count(labels.begin(), labels.end(), labels[i]) > 1) return paths;
  }
  return labels;
}

struct Pair {
  LoadedInput input;
  ComputedMaps computed;
};

// All pictures through one model.
std::vector<Pair> ThroughModel(const SheetPictures& sheet, const ModelOptions& options,
                               const MapJob& job, ThreadPool& pool, const StopFlag* stop) {
  const PreparedModel model = PrepareModel(options, job.selection, sheet.images.size() > 1);
  std::vector<Pair> pairs;
  for (const std::string& image : sheet.images) {
    const auto start = std::chrono::steady_clock::now();
    CheckStop(stop);
    Pair pair{LoadInput(image, job.input, model.model()), {}};
    CheckHasPicture(pair.input);
    pair.computed = ComputeMaps(model, pair.input, job, pool, stop);
    pair.computed.result.image = image;
    pair.computed.result.output = sheet.output;
    pair.computed.result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

}  // namespace

std::string ImageLabel(const std::string& path) {
  return path == "-" ? "standard input" : fs::path(path).filename().string();
}

std::string ModelLabel(const std::string& path) {
  const fs::path file =
      fs::path(path).has_filename() ? fs::path(path) : fs::path(path).parent_path();
  const std::string stem = file.stem().string();
  const bool generic = stem == "model" || stem == "pytorch_model" || stem == "open_clip_model" ||
                       stem == "open_clip_pytorch_model" || stem == "model.safetensors.index";
  if (generic && file.has_parent_path()) return file.parent_path().filename().string();
  constexpr const char* kEndings[] = {".json", ".safetensors", ".pth", ".pt", ".bin", ".npz"};
  const bool known =
      std::find(std::begin(kEndings), std::end(kEndings), file.extension()) != std::end(kEndings);
  return known ? stem : file.filename().string();
}

SheetResult RunSheet(const SheetPictures& sheet, const MapJob& job, const StopFlag* stop) {
  ThreadPool pool(NumThreads(job.selection));
  std::vector<std::string> model_paths;
  for (const ModelOptions& model : sheet.models) model_paths.push_back(model.path);
  const std::vector<std::string> images = Labels(sheet.images, ImageLabel);
  const std::vector<std::string> models = Labels(model_paths, ModelLabel);
  std::vector<std::vector<Pair>> by_model;
  for (const ModelOptions& model : sheet.models) {
    by_model.push_back(ThroughModel(sheet, model, job, pool, stop));
    if (by_model.size() == 1) continue;
    for (Pair& pair : by_model.back()) {
      pair.input.picture = Image();  // the first model's is drawn on
    }
  }
  std::vector<DrawnMaps> drawn;
  for (size_t i = 0; i < images.size(); ++i) {
    for (size_t m = 0; m < models.size(); ++m) {
      Pair& pair = by_model[m][i];
      drawn.push_back({&pair.input, &by_model[0][i].input.picture, &pair.computed, images[i],
                       models.size() > 1 ? models[m] : std::string()});
    }
  }
  CheckStop(stop);
  SheetResult done;
  done.bytes = RenderOutput(drawn, models.size(), job);
  CheckStop(stop);
  for (const DrawnMaps& one : drawn) done.results.push_back(one.computed->result);
  if (sheet.output != "-") {
    const auto* bytes = reinterpret_cast<const uint8_t*>(done.bytes.data());
    WriteFileAtomically(sheet.output, {bytes, done.bytes.size()});
    done.bytes.clear();
  }
  return done;
}

}  // namespace attnmap
