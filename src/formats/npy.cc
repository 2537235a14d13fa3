#include <utility>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "formats/npy_header.h"

namespace attnmap {
namespace {

class Npy : public TensorArchive {
 public:
  explicit Npy(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {
    header_ = ParseNpyHeader(file_->bytes());
    info_ = {"", header_.type, header_.shape};
    const uint64_t held = file_->bytes().size() - header_.data_begin;
    // More than that is tolerated: arrays may be saved one behind the other.
    if (header_.type != DataType::kOther && held < header_.data_size()) {
      throw Error("the file is cut short: its shape " + ToString(header_.shape) + " needs " +
                  std::to_string(header_.data_begin + header_.data_size()) + " bytes, it has " +
                  std::to_string(file_->bytes().size()));
    }
  }

  std::string_view format() const override { return "npy"; }
  std::span<const TensorInfo> tensors() const override { return {&info_, 1}; }
  SharedTensor Load(size_t /*index*/) const override {
    try {
      return LoadNpyData(header_, file_, file_->bytes().subspan(header_.data_begin));
    } catch (const Error& error) {
      throw Error(file_->path() + ": " + error.what());
    }
  }

 private:
  std::shared_ptr<const MappedFile> file_;
  NpyHeader header_;
  TensorInfo info_;
};

}  // namespace

std::unique_ptr<TensorArchive> OpenNpy(std::shared_ptr<const MappedFile> file) {
  try {
    return std::make_unique<Npy>(file);
  } catch (const Error& error) {
    throw Error(file->path() + ": " + error.what());
  }
}

}  // namespace attnmap
