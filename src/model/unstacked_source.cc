#include "model/unstacked_source.h"

#include "model/limits.h"

namespace attnmap {
namespace {

constexpr std::string_view kStacked = "Transformer/encoderblock/";
// A block has 16 tensors; a file that claims far more is left as it is.
constexpr int kMaxStacked = 64;

}  // namespace

UnstackedSource::UnstackedSource(const WeightSource& source) : source_(source) {
  int num_stacked = 0;
  for (const TensorInfo& info : source.tensors()) {
    const size_t at = info.name.find(kStacked);
    const bool stacked = at != std::string::npos && !info.shape.empty() && info.shape[0] >= 1 &&
                         info.shape[0] <= kMaxLayers && num_stacked < kMaxStacked;
    num_stacked += stacked ? 1 : 0;
    if (!stacked) {
      infos_.push_back(info);
      continue;
    }
    for (int64_t layer = 0; layer < info.shape[0]; ++layer) {
      TensorInfo slice = info;
      slice.name.insert(at + kStacked.size() - 1, "_" + std::to_string(layer));
      slice.shape.erase(slice.shape.begin());
      slices_[slice.name] = {info.name, layer};
      infos_.push_back(std::move(slice));
    }
  }
  for (size_t i = 0; i < infos_.size(); ++i) index_.emplace(infos_[i].name, i);
}

const TensorInfo* UnstackedSource::Find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &infos_[found->second];
}

SharedTensor UnstackedSource::LoadStacked(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = loaded_.find(name);
  if (found != loaded_.end()) return found->second;
  return loaded_[name] = source_.Load(name);
}

SharedTensor UnstackedSource::Load(std::string_view name) const {
  const auto slice = slices_.find(name);
  if (slice == slices_.end()) return source_.Load(name);
  const SharedTensor all = LoadStacked(slice->second.stacked);
  const Shape& shape = Find(name)->shape;
  return all.Slice(slice->second.layer * NumElements(shape), shape);
}

}  // namespace attnmap
