#include <filesystem>
#include <unordered_map>
#include <utility>

#include "attnmap/core/error.h"
#include "attnmap/formats/shown.h"
#include "weights/archive_source.h"
#include "weights/tensor_index.h"

namespace attnmap {
namespace {

namespace fs = std::filesystem;

// Where a tensor's numbers are.
struct Place {
  size_t shard = 0;
  size_t tensor = 0;  // within the shard
};

class ShardedSource : public WeightSource {
 public:
  ShardedSource(std::string path, std::vector<std::unique_ptr<TensorArchive>> shards,
                std::vector<TensorInfo> tensors, std::vector<Place> places)
      : path_(std::move(path)),
        shards_(std::move(shards)),
        index_(std::move(tensors)),
        places_(std::move(places)) {}

  const std::string& path() const override { return path_; }
  std::string_view format() const override { return shards_.front()->format(); }
  std::span<const TensorInfo> tensors() const override { return index_.tensors(); }
  const TensorInfo* Find(std::string_view name) const override { return index_.Find(name); }
  SharedTensor Load(std::string_view name) const override {
    const Place& place = places_[index_.Require(name, path_)];
    return shards_[place.shard]->Load(place.tensor);
  }
  std::optional<std::string> Text(std::string_view key) const override {
    // Every shard carries the same texts.
    if (auto text = shards_.front()->Text(key)) return text;
    return SideFile(path_, key);
  }

 private:
  std::string path_;
  std::vector<std::unique_ptr<TensorArchive>> shards_;
  TensorIndex index_;
  std::vector<Place> places_;
};

// The shards of an index, and every tensor in any of them.
class Shards {
 public:
  Shards(const std::string& path, const ShardIndex& index, const OpenWeightsOptions& options)
      : path_(path), index_(index) {
    for (const std::string& name : index.shards) {
      try {
        archives_.push_back(
            OpenArchive(MappedFile::Open((fs::path(path).parent_path() / name).string()), options));
      } catch (const Error& error) {
        throw Error(path + ": a file of the index: " + error.what());
      }
      AddTensors(archives_.size() - 1);
    }
  }

  std::unique_ptr<WeightSource> Join() {
    std::vector<TensorInfo> tensors;
    std::vector<Place> places;
    for (const ShardIndex::Entry& entry : index_.entries) {
      const auto found = places_.find(entry.tensor);
      if (found == places_.end() || found->second.shard != entry.shard) {
        throw Error(path_ + ": the tensor " + Shown(entry.tensor) + " is not in " +
                    index_.shards[entry.shard] + ", where the index has it");
      }
      const Place place = found->second;
      tensors.push_back(archives_[place.shard]->tensors()[place.tensor]);
      places.push_back(place);
    }
    return std::make_unique<ShardedSource>(path_, std::move(archives_), std::move(tensors),
                                           std::move(places));
  }

 private:
  void AddTensors(size_t shard) {
    const auto tensors = archives_[shard]->tensors();
    for (size_t i = 0; i < tensors.size(); ++i) {
      const auto [found, added] = places_.emplace(tensors[i].name, Place{shard, i});
      if (!added) {
        throw Error(path_ + ": the tensor " + Shown(tensors[i].name) + " is in two files, " +
                    index_.shards[found->second.shard] + " and " + index_.shards[shard]);
      }
    }
  }

  const std::string& path_;
  const ShardIndex& index_;
  std::vector<std::unique_ptr<TensorArchive>> archives_;
  std::unordered_map<std::string, Place> places_;
};

}  // namespace

std::unique_ptr<WeightSource> MakeShardedSource(const std::string& path, const ShardIndex& index,
                                                const OpenWeightsOptions& options) {
  return Shards(path, index, options).Join();
}

}  // namespace attnmap
