#include <algorithm>
#include <cstring>
#include <numeric>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "attnmap/formats/dtype.h"
#include "formats/safetensors_header.h"
#include "formats/text.h"

namespace attnmap {
namespace {

constexpr uint64_t kPreamble = 8;  // the header's length

std::string Bytes(uint64_t count) { return std::to_string(count) + " bytes"; }

// Where the numbers begin.
uint64_t DataStart(std::span<const uint8_t> bytes, const std::string& path) {
  if (bytes.size() < kPreamble) {
    throw Error(path + ": not a safetensors file: it has " + Bytes(bytes.size()) +
                ", at least 8 are needed");
  }
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kMaxSafetensorsHeader) {
    throw Error(path + ": not a safetensors file: its header would have " + Bytes(length) +
                ", the most is " + Bytes(kMaxSafetensorsHeader));
  }
  if (kPreamble + length > bytes.size()) {
    throw Error(path + ": the file has " + Bytes(bytes.size()) + ", its header alone promises " +
                Bytes(kPreamble + length) + ": the download is incomplete");
  }
  if (length == 0 || bytes[kPreamble] != '{') {
    throw Error(path + ": not a safetensors file: its header does not start with '{'");
  }
  return kPreamble + length;
}

class Safetensors : public TensorArchive {
 public:
  explicit Safetensors(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {
    const auto bytes = file_->bytes();
    data_start_ = DataStart(bytes, file_->path());
    const auto json = bytes.subspan(kPreamble, data_start_ - kPreamble);
    header_ = ParseSafetensorsHeader({reinterpret_cast<const char*>(json.data()), json.size()},
                                     file_->path());
    CheckLayout();
  }

  std::string_view format() const override { return "safetensors"; }
  std::span<const TensorInfo> tensors() const override { return header_.tensors; }

  SharedTensor Load(size_t index) const override {
    const TensorInfo& info = header_.tensors[index];
    if (info.type == DataType::kOther) {
      throw Error(file_->path() + ": tensor " + Shown(info.name) + " is of the type " +
                  Shown(header_.type_names[index]) +
                  ", expected F64, F32, F16, BF16 or whole numbers");
    }
    const auto& span = header_.spans[index];
    const auto bytes = file_->bytes().subspan(data_start_ + span.begin, span.end - span.begin);
    return ViewOrConvert(file_, info.type, bytes, info.shape);
  }

  std::optional<std::string> Text(std::string_view key) const override {
    constexpr std::string_view kPrefix = "metadata:";
    if (key == "config") {
      key = kArchiveHeader;
    } else if (key.starts_with(kPrefix)) {
      key.remove_prefix(kPrefix.size());
    } else {
      return std::nullopt;
    }
    const auto found = header_.metadata.find(std::string(key));
    if (found == header_.metadata.end()) return std::nullopt;
    return found->second;
  }

 private:
  // Tensors lie one behind the other, from the header's end to the file's.
  void CheckLayout() const {
    std::vector<size_t> order(header_.spans.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const auto& left = header_.spans[a];
      const auto& right = header_.spans[b];
      return left.begin != right.begin ? left.begin < right.begin : left.end < right.end;
    });
    uint64_t end = 0;
    for (size_t i : order) {
      const auto& span = header_.spans[i];
      if (span.begin != end) {
        throw Error(file_->path() + ": tensor " + Shown(header_.tensors[i].name) +
                    " starts at byte " + std::to_string(span.begin) + " of the data, expected " +
                    std::to_string(end) +
                    (span.begin < end ? ": tensors overlap" : ": there is a gap"));
      }
      end = span.end;
    }
    // Offsets go up to 2^63 - 1: the sum does not overflow.
    const uint64_t promised = end + data_start_;
    const uint64_t size = file_->bytes().size();
    if (promised != size) {
      throw Error(file_->path() + ": the file has " + Bytes(size) + ", its header promises " +
                  Bytes(promised) +
                  (promised > size ? ": the download is incomplete"
                                   : ": there is something behind its end"));
    }
  }

  std::shared_ptr<const MappedFile> file_;
  uint64_t data_start_ = 0;
  SafetensorsHeader header_;
};

}  // namespace

std::unique_ptr<TensorArchive> OpenSafetensors(std::shared_ptr<const MappedFile> file) {
  return std::make_unique<Safetensors>(std::move(file));
}

}  // namespace attnmap
