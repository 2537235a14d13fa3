#ifndef ATTNMAP_MODEL_UNSTACKED_SOURCE_H_
#define ATTNMAP_MODEL_UNSTACKED_SOURCE_H_

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "attnmap/weights/weight_source.h"

namespace attnmap {

// big_vision's scanned models keep all layers of a tensor in one array
// ("Transformer/encoderblock/..." with a leading layer axis). Seen through
// this source every layer has its own ("Transformer/encoderblock_0/...");
// anything else is handed on as it is.
class UnstackedSource : public WeightSource {
 public:
  explicit UnstackedSource(const WeightSource& source);

  const std::string& path() const override { return source_.path(); }
  std::string_view format() const override { return source_.format(); }
  std::span<const TensorInfo> tensors() const override { return infos_; }
  const TensorInfo* Find(std::string_view name) const override;
  SharedTensor Load(std::string_view name) const override;
  std::optional<std::string> Text(std::string_view key) const override { return source_.Text(key); }

 private:
  struct Slice {
    std::string stacked;
    int64_t layer = 0;
  };

  SharedTensor LoadStacked(const std::string& name) const;

  const WeightSource& source_;
  std::vector<TensorInfo> infos_;
  std::map<std::string, size_t, std::less<>> index_;
  std::map<std::string, Slice, std::less<>> slices_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, SharedTensor> loaded_;  // the stacked ones, read once
};

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_UNSTACKED_SOURCE_H_
