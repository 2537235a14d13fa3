#include "attnmap/pipeline/session.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "attnmap/formats/file.h"
#include "attnmap/image/prepare.h"
#include "attnmap/weights/weight_source.h"

namespace attnmap {
namespace {

bool IsNpy(std::span<const uint8_t> bytes) {
  constexpr uint8_t kMagic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  return bytes.size() >= sizeof(kMagic) && std::memcmp(bytes.data(), kMagic, sizeof(kMagic)) == 0;
}

std::string Shown(const std::string& path) {
  return path == "-" ? std::string("standard input") : "'" + path + "'";
}

std::shared_ptr<const MappedFile> OpenInput(const std::string& path) {
  if (path == "-") return MappedFile::FromBytes(ReadFile(path), "standard input");
  if (std::error_code error; std::filesystem::is_directory(path, error)) {
    throw Error("cannot read " + path +
                ": it is a folder; attnmap batch takes the pictures of a folder");
  }
  return MappedFile::Open(path);
}

Image Decode(std::span<const uint8_t> bytes, const std::string& path, const DecodeOptions& options,
             std::vector<std::string>& notes) {
  try {
    DecodedImage decoded = DecodeImage(bytes, options);
    notes.insert(notes.end(), decoded.notes.begin(), decoded.notes.end());
    return std::move(decoded.image);
  } catch (const Error& error) {
    throw Error("cannot read the picture " + Shown(path) + ": " + error.what());
  }
}

// Prepared pixels need not have the aspect of the picture they are said to cover.
void NoteStretch(RowsCols pixels, RowsCols on, std::vector<std::string>& notes) {
  constexpr double kSameAspect = 0.02;
  const double ratio =
      static_cast<double>(on.rows) * pixels.cols / (static_cast<double>(on.cols) * pixels.rows);
  if (std::abs(ratio - 1) <= kSameAspect) return;
  const auto text = [](RowsCols size) {
    return std::to_string(size.cols) + " x " + std::to_string(size.rows);
  };
  notes.push_back("prepared pixels of " + text(pixels) + " lie stretched on a picture of " +
                  text(on) + " (width x height)");
}

LoadedInput LoadPreparedPixels(const std::shared_ptr<const MappedFile>& file,
                               const std::string& path, const InputOptions& options,
                               const VitModel& model) {
  if (options.fit_given) {
    throw UsageError("--fit and --size do not go with prepared pixels (" + Shown(path) +
                     "): they are taken as they are");
  }
  LoadedInput loaded;
  RowsCols on;
  if (!options.on.empty()) {
    loaded.picture = LoadPicture(options.on, options.decode, loaded.notes);
    on = loaded.picture.size();
  }
  try {
    const auto archive = OpenNpy(file);
    if (archive->tensors()[0].type != DataType::kF32) {
      throw Error("its numbers are " + std::string(DataTypeName(archive->tensors()[0].type)) +
                  ", expected float32 (f32)");
    }
    const SharedTensor pixels = archive->Load(0);
    const auto values = pixels.values();
    loaded.input = PrepareTensor(Tensor(pixels.shape(), {values.begin(), values.end()}),
                                 model.config.patch_size, on);
  } catch (const Error& error) {
    throw Error("cannot use " + Shown(path) + " as prepared pixels: " + error.what());
  }
  if (!options.on.empty()) NoteStretch(loaded.input.grid.pixels(), on, loaded.notes);
  return loaded;
}

}  // namespace

VitModel LoadModel(const ModelOptions& options) {
  if (options.path.empty()) {
    throw Error(
        "no weights were named and the demo model that comes with the program was not found: "
        "use --model FILE");
  }
  const auto source = OpenWeights(options.path, {options.checkpoint_key});
  return LoadVitModel(*source, options.load);
}

void CheckPrecision(Precision precision) {
  if (RunsWell(precision)) return;
  throw Error("--precision " + std::string(PrecisionName(precision)) +
              ": this processor has no instructions for it (AVX512_BF16), so it would be slower "
              "than f32: leave the option out");
}

PreparedModel PrepareModel(const ModelOptions& options, const SelectionOptions& selection,
                           bool reuse) {
  CheckPrecision(selection.precision);
  return PreparedModel(LoadModel(options), reuse, selection.precision);
}

Image LoadPicture(const std::string& path, const DecodeOptions& options,
                  std::vector<std::string>& notes) {
  const auto file = OpenInput(path);
  return Decode(file->bytes(), path, options, notes);
}

LoadedInput LoadInput(const std::string& path, const InputOptions& options, const VitModel& model) {
  const auto file = OpenInput(path);
  if (IsNpy(file->bytes())) return LoadPreparedPixels(file, path, options, model);
  if (!options.on.empty()) {
    throw UsageError("--on goes with prepared pixels (.npy); " + Shown(path) + " is a picture");
  }
  std::vector<std::string> notes;
  Image picture = Decode(file->bytes(), path, options.decode, notes);
  LoadedInput loaded = LoadImage(std::move(picture), path, options, model);
  loaded.notes.insert(loaded.notes.begin(), notes.begin(), notes.end());
  return loaded;
}

LoadedInput LoadImage(Image picture, const std::string& path, const InputOptions& options,
                      const VitModel& model) {
  LoadedInput loaded;
  loaded.picture = std::move(picture);
  const InputSpec spec{model.preprocess, model.config.patch_size, model.InputSize()};
  try {
    loaded.input = PrepareImage(loaded.picture, spec, options.fit);
  } catch (const Error& error) {
    throw Error("cannot fit " + Shown(path) + " to the model: " + error.what());
  }
  loaded.notes = loaded.input.notes;
  return loaded;
}

void CheckHasPicture(const LoadedInput& input) {
  if (input.has_picture()) return;
  throw UsageError(
      "prepared pixels hold no picture to draw on: name it with --on IMAGE, or "
      "write the map as json, npy, npz, safetensors or csv");
}

ResolvedQuery ResolveQueryFor(const QueryChoice& choice, const VitModel& model,
                              const ModelInput& input) {
  return ResolveQuery(choice, model.config.tokens, input.grid, input.geometry,
                      model.pool.present());
}

void RemoveUnfinishedOutputs() { RemoveUnfinished(); }

bool SameFile(const std::string& a, const std::string& b) {
  if (std::error_code error; std::filesystem::equivalent(a, b, error) && !error) return true;
  const auto full = [](const std::string& path) {
    std::error_code error;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  };
  return a == b || (!b.empty() && full(a) == full(b));
}

void CheckOutput(const std::string& output, const std::vector<std::string>& inputs,
                 const std::vector<std::string>& models) {
  if (output.empty() || output == "-") return;
  for (const std::string& input : inputs) {
    if (input.empty() || input == "-" || !SameFile(input, output)) continue;
    throw UsageError("'" + output + "' is the input '" + input +
                     "' itself, which would be lost: name another output");
  }
  for (const std::string& model : models) {
    if (!IsPartOfModel(model, output)) continue;
    throw UsageError("'" + output + "' is a file of the model '" + model +
                     "', which would be lost: name another output");
  }
}

}  // namespace attnmap
