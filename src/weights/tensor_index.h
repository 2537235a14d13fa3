#ifndef ATTNMAP_WEIGHTS_TENSOR_INDEX_H_
#define ATTNMAP_WEIGHTS_TENSOR_INDEX_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attnmap/formats/archive.h"

namespace attnmap {

// Tensors of a source in the order of its files, found by name.
class TensorIndex {
 public:
  TensorIndex() = default;
  explicit TensorIndex(std::vector<TensorInfo> tensors);
  // The names' index looks into the list.
  TensorIndex(const TensorIndex&) = delete;
  TensorIndex& operator=(const TensorIndex&) = delete;

  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  // Null where there is none.
  const TensorInfo* Find(std::string_view name) const;
  // Throws Error that `path` has no such tensor.
  size_t Require(std::string_view name, const std::string& path) const;

 private:
  std::vector<TensorInfo> tensors_;
  std::unordered_map<std::string_view, size_t> by_name_;
};

}  // namespace attnmap

#endif  // ATTNMAP_WEIGHTS_TENSOR_INDEX_H_
