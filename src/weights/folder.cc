#include "weights/folder.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/formats/file.h"
#include "attnmap/formats/sniff.h"

namespace attnmap {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 10'000;
constexpr std::array<std::string_view, 6> kFirst = {"model.safetensors.index.json",
                                                    "pytorch_model.bin.index.json",
                                                    "model.safetensors",
                                                    "pytorch_model.bin",
                                                    "open_clip_model.safetensors",
                                                    "open_clip_pytorch_model.bin"};

bool IsFile(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

std::vector<std::string> FileNames(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.starts_with('.') || !IsFile(it->path())) continue;
    names.push_back(name);
    if (names.size() > kMaxFiles) {
      throw Error(folder + ": more than " + std::to_string(kMaxFiles) +
                  " files, name the weights file itself");
    }
  }
  if (error) throw Error("cannot read the folder " + folder + ": " + error.message());
  std::sort(names.begin(), names.end());
  return names;
}

// JSON beside weights is mostly configuration; only what looks like one of our
// two forms counts.
bool LooksLikeJsonWeights(const MappedFile& file) {
  const auto bytes = file.bytes().first(std::min<size_t>(file.bytes().size(), 65536));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::string_view key : {"\"attnmap-weights\"", "\"tensors\"", "\"W_patch\"", "\"W_Q\"",
                               "\"W_K\"", "\"W_V\"", "\"heads\""}) {
    if (text.find(key) != text.npos) return true;
  }
  return false;
}

// What a training run leaves beside the weights in the same formats.
bool IsTrainingState(std::string_view name) {
  for (std::string_view start :
       {"optimizer", "scheduler", "training_args", "rng_state", "scaler"}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

bool IsWeights(const fs::path& path) {
  if (IsTrainingState(path.filename().string())) return false;
  try {
    const auto file = MappedFile::Open(path.string());
    switch (SniffFile(file).format) {
      case FileFormat::kJson:
        return LooksLikeJsonWeights(*file);
      case FileFormat::kShardIndex:
      case FileFormat::kSafetensors:
      case FileFormat::kNpz:
      case FileFormat::kTorch:
        return true;
      case FileFormat::kNpy:
      case FileFormat::kNone:
        return false;
    }
  } catch (const Error&) {
    // Not to be read, or a damaged archive: not what the folder stands for.
  }
  return false;
}

std::string Listed(const std::vector<std::string>& names) {
  constexpr size_t kMost = 8;
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    list += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kMost) list += " and " + std::to_string(names.size() - kMost) + " more";
  return list;
}

}  // namespace

std::string FindWeightsInFolder(const std::string& folder) {
  for (std::string_view name : kFirst) {
    if (IsFile(fs::path(folder) / name)) return (fs::path(folder) / name).string();
  }
  const std::vector<std::string> names = FileNames(folder);
  std::vector<std::string> weights;
  for (const std::string& name : names) {
    // An index of another name stands for its files.
    if (name.ends_with(".index.json")) return (fs::path(folder) / name).string();
    if (IsWeights(fs::path(folder) / name)) weights.push_back(name);
  }
  if (weights.size() == 1) return (fs::path(folder) / weights.front()).string();
  if (weights.size() > 1) {
    throw Error(folder + ": several weights files, name one of them: " + Listed(weights));
  }
  throw Error(folder + ": no weights file in this folder" +
              (names.empty() ? ", it is empty" : ", it has " + Listed(names)));
}

}  // namespace attnmap
