#include "formats/torch_archive.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "formats/text.h"
#include "formats/torch_state_dict.h"

namespace attnmap {
namespace {

// What tensors that cannot be views of the file may come to as float32: a
// stride of 0 makes a tensor of any size out of one number.
constexpr int64_t kTensorsFloor = int64_t{64} << 20;
constexpr int64_t kTensorsRatio = 8;

bool IsContiguous(const TorchTensor& tensor) {
  int64_t expected = 1;
  for (size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] > 1 && tensor.strides[i] != expected) return false;
    expected *= std::max<int64_t>(tensor.shape[i], 1);  // <= NumElements, which was checked
  }
  return true;
}

class TorchArchive : public TensorArchive {
 public:
  // Takes the storages; the pickle is not needed any longer.
  TorchArchive(std::shared_ptr<const MappedFile> file, TorchContents&& contents,
               const std::string& checkpoint_key)
      : file_(std::move(file)), storages_(std::move(contents.storages)) {
    const TorchStateDict dict = ChooseStateDict(*contents.root, checkpoint_key);
    checkpoint_path_ = dict.path;
    for (const std::string& other : dict.alternatives) {
      alternatives_ += (alternatives_.empty() ? "" : ", ") + other;
    }
    for (const NamedPickleTensor& tensor : CollectTensors(*dict.value)) AddTensor(tensor);
    if (tensors_.empty()) throw Error("no tensors in " + Shown(checkpoint_path_));
  }

  std::string_view format() const override { return "pytorch"; }
  std::span<const TensorInfo> tensors() const override { return tensors_; }

  SharedTensor Load(size_t index) const override {
    const TensorInfo& info = tensors_[index];
    try {
      return LoadChecked(info, places_[index]);
    } catch (const Error& error) {
      throw Error(file_->path() + ": tensor " + Shown(info.name) + ": " + error.what());
    }
  }

  std::optional<std::string> Text(std::string_view key) const override {
    if (key == "checkpoint_path" && !checkpoint_path_.empty()) return checkpoint_path_;
    if (key == "checkpoint_alternatives" && !alternatives_.empty()) return alternatives_;
    return std::nullopt;
  }

 private:
  struct Place {
    size_t storage = 0;
    int64_t offset = 0;  // elements
    Shape strides;       // empty: contiguous
    bool contiguous = true;
  };

  void AddTensor(const NamedPickleTensor& named) {
    try {
      TorchTensor tensor = ReadTorchTensor(*named.value);
      Place place{storages_->Find(tensor.storage), tensor.offset, {}, IsContiguous(tensor)};
      if (!place.contiguous) place.strides = std::move(tensor.strides);
      if (!place.contiguous || tensor.type != DataType::kF32) CountExpansion(tensor);
      tensors_.push_back({named.name, tensor.type, std::move(tensor.shape)});
      places_.push_back(std::move(place));
    } catch (const Error& error) {
      throw Error("tensor " + Shown(named.name) + ": " + error.what());
    }
  }

  void CountExpansion(const TorchTensor& tensor) {
    constexpr int64_t kFloatSize = sizeof(float);
    const auto file_size = static_cast<int64_t>(file_->bytes().size());
    const int64_t limit = std::max(kTensorsFloor, file_size * kTensorsRatio);
    const int64_t count = NumElements(tensor.shape);
    if (count > (limit - expanded_) / kFloatSize) {
      throw Error("its " + std::to_string(count) + " elements bring the file's " +
                  std::to_string(file_size) + " bytes to more than " + std::to_string(limit) +
                  " in memory");
    }
    expanded_ += count * kFloatSize;
  }

  SharedTensor LoadChecked(const TensorInfo& info, const Place& place) const {
    const int64_t item_size = DataTypeSize(info.type);
    if (item_size == 0) {
      throw Error("complex, quantised or 8-bit floating point numbers are not read");
    }
    const int64_t count = NumElements(info.shape);
    if (count == 0) return SharedTensor(Tensor(info.shape));
    const SharedBytes bytes = storages_->Read(place.storage);
    if (place.contiguous) {
      const auto begin = static_cast<size_t>(place.offset * item_size);
      return ViewOrConvert(bytes.owner, info.type,
                           bytes.bytes.subspan(begin, static_cast<size_t>(count * item_size)),
                           info.shape, storages_->order());
    }
    Tensor tensor(info.shape);
    GatherToFloat({info.type, bytes.bytes, storages_->order(), place.offset, place.strides},
                  info.shape, tensor.values);
    return SharedTensor(std::move(tensor));
  }

  std::shared_ptr<const MappedFile> file_;
  std::unique_ptr<TorchStorages> storages_;
  std::vector<TensorInfo> tensors_;
  std::vector<Place> places_;
  std::string checkpoint_path_;
  std::string alternatives_;
  int64_t expanded_ = 0;
};

bool StartsWith(std::span<const uint8_t> bytes, std::string_view magic, size_t at = 0) {
  return bytes.size() >= at + magic.size() &&
         std::memcmp(bytes.data() + at, magic.data(), magic.size()) == 0;
}

TorchContents ReadContents(const std::shared_ptr<const MappedFile>& file) {
  const auto bytes = file->bytes();
  if (StartsWith(bytes, "PK")) return ReadTorchZip(file);
  if (IsTorchLegacy(bytes)) return ReadTorchLegacy(file);
  if (StartsWith(bytes, "ustar", 257)) {
    throw Error("a tar file, as torch wrote before 2017: re-save it with a current PyTorch");
  }
  if (StartsWith(bytes, "\x80")) {
    throw Error("a bare pickle, not written by torch.save: re-save it with torch.save");
  }
  throw Error("not a PyTorch checkpoint");
}

}  // namespace

std::unique_ptr<TensorArchive> OpenTorch(std::shared_ptr<const MappedFile> file,
                                         const std::string& checkpoint_key) {
  const std::string path = file->path();
  try {
    TorchContents contents = ReadContents(file);
    return std::make_unique<TorchArchive>(std::move(file), std::move(contents), checkpoint_key);
  } catch (const Error& error) {
    throw Error(path + ": " + error.what());
  }
}

}  // namespace attnmap
