#include "weights/archive_source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "attnmap/formats/file.h"
#include "attnmap/formats/json_weights.h"
#include "weights/tensor_index.h"

namespace attnmap {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxSideFile = int64_t{16} << 20;
constexpr std::array<std::string_view, 4> kSideFiles = {"config.json", "preprocessor_config.json",
                                                        "open_clip_config.json", "labels.txt"};

std::vector<TensorInfo> Copy(std::span<const TensorInfo> tensors) {
  return {tensors.begin(), tensors.end()};
}

class ArchiveSource : public WeightSource {
 public:
  ArchiveSource(std::string path, std::unique_ptr<TensorArchive> archive)
      : path_(std::move(path)), archive_(std::move(archive)), index_(Copy(archive_->tensors())) {}

  const std::string& path() const override { return path_; }
  std::string_view format() const override { return archive_->format(); }
  std::span<const TensorInfo> tensors() const override { return index_.tensors(); }
  const TensorInfo* Find(std::string_view name) const override { return index_.Find(name); }
  SharedTensor Load(std::string_view name) const override {
    return archive_->Load(index_.Require(name, path_));
  }
  std::optional<std::string> Text(std::string_view key) const override {
    if (auto text = archive_->Text(key)) return text;
    return SideFile(path_, key);
  }

 private:
  std::string path_;
  std::unique_ptr<TensorArchive> archive_;
  TensorIndex index_;
};

}  // namespace

bool IsSideFile(std::string_view name) {
  return std::find(kSideFiles.begin(), kSideFiles.end(), name) != kSideFiles.end();
}

std::optional<std::string> SideFile(const std::string& weights, std::string_view name) {
  if (!IsSideFile(name)) return std::nullopt;
  const fs::path file = fs::path(weights).parent_path() / name;
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  // The weights themselves may be called config.json.
  if (fs::equivalent(file, weights, ignored)) return std::nullopt;
  const auto bytes = ReadFile(file.string(), kMaxSideFile);
  return std::string(bytes.begin(), bytes.end());
}

std::unique_ptr<TensorArchive> OpenArchive(std::shared_ptr<const MappedFile> file,
                                           const OpenWeightsOptions& options) {
  const std::string path = file->path();
  const Sniffed sniffed = SniffFile(file);
  if (!options.checkpoint_key.empty() && sniffed.format != FileFormat::kTorch &&
      sniffed.format != FileFormat::kNone) {
    throw Error(path + ": --checkpoint-key goes with PyTorch checkpoints, this is none");
  }
  switch (sniffed.format) {
    case FileFormat::kJson:
      return OpenJsonWeights(std::move(file));
    case FileFormat::kSafetensors:
      return OpenSafetensors(std::move(file));
    case FileFormat::kNpz:
      return OpenNpz(std::move(file));
    case FileFormat::kTorch:
      return OpenTorch(std::move(file), options.checkpoint_key);
    case FileFormat::kNpy:
      throw Error(path + " is a single array (npy), weights are many: save them with numpy.savez");
    case FileFormat::kShardIndex:
      throw Error(path + " is an index of weights files, expected one of these files");
    case FileFormat::kNone:
      break;
  }
  throw Error(path + " " + sniffed.refusal);
}

std::unique_ptr<WeightSource> MakeArchiveSource(std::string path,
                                                std::unique_ptr<TensorArchive> archive) {
  return std::make_unique<ArchiveSource>(std::move(path), std::move(archive));
}

}  // namespace attnmap
