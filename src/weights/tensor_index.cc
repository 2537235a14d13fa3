#include "weights/tensor_index.h"

#include "attnmap/core/error.h"
#include "attnmap/formats/shown.h"

namespace attnmap {

TensorIndex::TensorIndex(std::vector<TensorInfo> tensors) : tensors_(std::move(tensors)) {
  by_name_.reserve(tensors_.size());
  for (size_t i = 0; i < tensors_.size(); ++i) by_name_.emplace(tensors_[i].name, i);
}

const TensorInfo* TensorIndex::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

size_t TensorIndex::Require(std::string_view name, const std::string& path) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) throw Error(path + ": no tensor " + Shown(name));
  return found->second;
}

}  // namespace attnmap
