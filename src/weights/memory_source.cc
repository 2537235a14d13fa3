#include <map>
#include <utility>

#include "attnmap/weights/weight_source.h"
#include "weights/tensor_index.h"

namespace attnmap {
namespace {

std::vector<TensorInfo> Infos(const std::vector<NamedTensor>& tensors) {
  std::vector<TensorInfo> infos;
  infos.reserve(tensors.size());
  for (const NamedTensor& named : tensors) {
    infos.push_back({named.name, DataType::kF32, named.tensor.shape()});
  }
  return infos;
}

class MemorySource : public WeightSource {
 public:
  MemorySource(std::vector<NamedTensor> tensors,
               std::vector<std::pair<std::string, std::string>> texts, std::string format)
      : tensors_(std::move(tensors)),
        texts_(std::make_move_iterator(texts.begin()), std::make_move_iterator(texts.end())),
        format_(std::move(format)),
        index_(Infos(tensors_)) {}

  const std::string& path() const override { return path_; }
  std::string_view format() const override { return format_; }
  std::span<const TensorInfo> tensors() const override { return index_.tensors(); }
  const TensorInfo* Find(std::string_view name) const override { return index_.Find(name); }
  SharedTensor Load(std::string_view name) const override {
    return tensors_[index_.Require(name, path_)].tensor;
  }
  std::optional<std::string> Text(std::string_view key) const override {
    const auto found = texts_.find(key);
    if (found == texts_.end()) return std::nullopt;
    return found->second;
  }

 private:
  std::string path_ = "memory";
  std::vector<NamedTensor> tensors_;
  std::map<std::string, std::string, std::less<>> texts_;
  std::string format_;
  TensorIndex index_;
};

}  // namespace

std::unique_ptr<WeightSource> MakeMemorySource(
    std::vector<NamedTensor> tensors, std::vector<std::pair<std::string, std::string>> texts,
    std::string format) {
  return std::make_unique<MemorySource>(std::move(tensors), std::move(texts), std::move(format));
}

}  // namespace attnmap
