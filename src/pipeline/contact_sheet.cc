// Several pictures, or models, drawn on one sheet.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <list>

#include "attnmap/core/error.h"
#include "attnmap/core/one_line.h"
#include "attnmap/formats/file.h"
#include "attnmap/pipeline/run.h"

namespace attnmap {
namespace {

namespace fs = std::filesystem;

// What a label is made of: a name, and the folder it stands in.
struct NamedPlace {
  std::string name;
  fs::path folder;
  fs::path path;  // of the file itself
};

// Whether another file has the same name; in the same folder or another one.
bool IsTaken(const std::vector<NamedPlace>& places, size_t i, bool same_folder) {
  return std::any_of(places.begin(), places.end(), [&](const NamedPlace& other) {
    return other.name == places[i].name && other.path != places[i].path &&
           (other.path.parent_path() == places[i].path.parent_path()) == same_folder;
  });
}

// As short as tells different files apart: with the ending where two lie in one
// folder, and with as many folders as others need.
std::vector<std::string> Labels(std::vector<NamedPlace> places) {
  const std::vector<NamedPlace> first = places;
  for (size_t i = 0; i < places.size(); ++i) {
    if (IsTaken(first, i, true)) places[i].name = OneLine(places[i].path.filename().string());
  }
  for (bool longer = true; longer;) {
    longer = false;
    const std::vector<NamedPlace> before = places;
    for (size_t i = 0; i < places.size(); ++i) {
      NamedPlace& place = places[i];
      if (!IsTaken(before, i, false) || !place.folder.has_filename()) continue;
      place.name = place.folder.filename().string() + "/" + place.name;
      place.folder = place.folder.parent_path();
      longer = true;
    }
  }
  std::vector<std::string> names;
  names.reserve(places.size());
  for (const NamedPlace& place : places) names.push_back(place.name);
  return names;
}

NamedPlace ModelPlace(const std::string& given) {
  fs::path path = fs::path(given).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  const std::string stem = path.stem().string();
  const bool generic = stem == "model" || stem == "pytorch_model" || stem == "open_clip_model" ||
                       stem == "open_clip_pytorch_model" || stem == "model.safetensors.index";
  const fs::path folder = path.parent_path();
  if (generic && folder.has_filename()) {
    return {OneLine(folder.filename().string()), folder.parent_path(), path};
  }
  constexpr const char* kEndings[] = {".json", ".safetensors", ".pth", ".pt", ".bin", ".npz"};
  const bool known =
      std::find(std::begin(kEndings), std::end(kEndings), path.extension()) != std::end(kEndings);
  return {OneLine(known ? stem : path.filename().string()), folder, path};
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
    try {
      pair.computed = ComputeMaps(model, pair.input, job, pool, stop);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {  // "this model has 4 layers": which of them?
      if (sheet.models.size() == 1) throw;
      throw Error(options.path + ": " + error.what());
    }
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
  return path == "-" ? "standard input" : OneLine(fs::path(path).filename().string());
}

std::vector<std::string> ImageLabels(const std::vector<std::string>& paths) {
  std::vector<NamedPlace> places;
  places.reserve(paths.size());
  for (const std::string& path : paths) {
    const fs::path normal = fs::path(path).lexically_normal();
    places.push_back({ImageLabel(path), normal.parent_path(), normal});
  }
  return Labels(std::move(places));
}

std::vector<std::string> ModelLabels(const std::vector<ModelOptions>& models) {
  std::vector<NamedPlace> places;
  places.reserve(models.size());
  for (const ModelOptions& model : models) places.push_back(ModelPlace(model.path));
  return Labels(std::move(places));
}

SheetResult RunSheet(const SheetPictures& sheet, const MapJob& job, const StopFlag* stop) {
  ThreadPool pool(NumThreads(job.selection));
  const std::vector<std::string> images = ImageLabels(sheet.images);
  const std::vector<std::string> models = ModelLabels(sheet.models);
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
