#ifndef ATTNMAP_WEIGHTS_WEIGHT_SOURCE_H_
#define ATTNMAP_WEIGHTS_WEIGHT_SOURCE_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attnmap/core/tensor.h"
#include "attnmap/formats/archive.h"

namespace attnmap {

// Named tensors and configuration texts, whatever files they came from.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // Where it came from, for messages; the file that was opened.
  virtual const std::string& path() const = 0;
  virtual std::string_view format() const = 0;
  virtual std::span<const TensorInfo> tensors() const = 0;
  // Null where there is no such tensor.
  virtual const TensorInfo* Find(std::string_view name) const = 0;
  // Throws Error naming the file and the tensor.
  virtual SharedTensor Load(std::string_view name) const = 0;
  // A configuration text: "config" (from within the weights file), or a file
  // beside it: "config.json", "preprocessor_config.json",
  // "open_clip_config.json", "labels.txt".
  virtual std::optional<std::string> Text(std::string_view key) const = 0;
};

struct OpenWeightsOptions {
  std::string checkpoint_key;  // which nested dictionary of a PyTorch checkpoint
};

// A weights file, or a folder searched as the interface says; the format is
// told by content. Throws Error naming the path.
std::unique_ptr<WeightSource> OpenWeights(const std::string& path,
                                          const OpenWeightsOptions& options = {});

// Whether `file` is there and one that OpenWeights(model) reads, or a configuration it finds
// beside the weights.
bool IsPartOfModel(const std::string& model, const std::string& file);

// The in-memory twin, for tests and for `init`.
std::unique_ptr<WeightSource> MakeMemorySource(
    std::vector<NamedTensor> tensors, std::vector<std::pair<std::string, std::string>> texts,
    std::string format = "json");

}  // namespace attnmap

#endif  // ATTNMAP_WEIGHTS_WEIGHT_SOURCE_H_
