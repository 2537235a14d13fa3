#include "attnmap/formats/json_weights.h"

#include <utility>

#include "formats/json_weights_reader.h"

namespace attnmap {
namespace {

class JsonWeights : public TensorArchive {
 public:
  explicit JsonWeights(const MappedFile& file) {
    JsonWeightsReader reader(file);
    reader.Read();
    format_ = reader.form() == JsonForm::kLayer ? "json-layer" : "json";
    header_ = reader.TakeHeader();
    infos_ = reader.TakeInfos();
    tensors_ = reader.TakeTensors();
    // Nothing of the text is needed any more.
    file.Forget(0, file.bytes().size());
  }

  std::string_view format() const override { return format_; }
  std::span<const TensorInfo> tensors() const override { return infos_; }
  SharedTensor Load(size_t index) const override { return tensors_[index]; }
  std::optional<std::string> Text(std::string_view key) const override {
    if (key == "config") return header_;
    return std::nullopt;
  }

 private:
  std::string_view format_;
  std::string header_;
  std::vector<TensorInfo> infos_;
  std::vector<SharedTensor> tensors_;
};

}  // namespace

std::unique_ptr<TensorArchive> OpenJsonWeights(std::shared_ptr<const MappedFile> file) {
  return std::make_unique<JsonWeights>(*file);
}

}  // namespace attnmap
