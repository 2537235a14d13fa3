#include <utility>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "formats/npy_header.h"
#include "formats/text.h"
#include "formats/zip_archive.h"

namespace attnmap {
namespace {

constexpr std::string_view kSuffix = ".npy";
constexpr size_t kMaxNameLength = 4096;
constexpr uint64_t kMaxMemberHeader = uint64_t{16} << 20;

void CheckName(std::string_view name) {
  if (name.size() > kMaxNameLength || !IsPlainText(name)) {
    throw Error("the array name " + Shown(name) + " is too long or no plain text");
  }
}

class NpzArchive : public TensorArchive {
 public:
  explicit NpzArchive(const std::shared_ptr<const MappedFile>& file)
      : zip_(file), path_(file->path()) {
    for (const ZipEntry& entry : zip_.entries()) {
      if (entry.name.ends_with(kSuffix)) AddArray(entry);
    }
    if (tensors_.empty()) throw Error("a zip archive without .npy arrays: not an npz file");
  }

  std::string_view format() const override { return "npz"; }
  std::span<const TensorInfo> tensors() const override { return tensors_; }

  SharedTensor Load(size_t index) const override {
    try {
      const Array& array = arrays_[index];
      const SharedBytes file = zip_.Read(*array.entry, ZipArchive::Crc::kCheck);
      return LoadNpyData(array.header, file.owner, file.bytes.subspan(array.header.data_begin));
    } catch (const Error& error) {
      throw Error(path_ + ": array " + Shown(tensors_[index].name) + ": " + error.what());
    }
  }

  std::optional<std::string> Text(std::string_view key) const override {
    const ZipEntry* entry = key == "config" ? zip_.Find(kArchiveHeader) : nullptr;
    if (entry == nullptr) return std::nullopt;
    if (entry->size > kMaxMemberHeader) {
      throw Error(path_ + ": " + kArchiveHeader + " has " + std::to_string(entry->size) +
                  " bytes, the most is " + std::to_string(kMaxMemberHeader));
    }
    const SharedBytes text = zip_.Read(*entry, ZipArchive::Crc::kCheck);
    return std::string(text.bytes.begin(), text.bytes.end());
  }

 private:
  struct Array {
    const ZipEntry* entry = nullptr;
    NpyHeader header;
  };

  void AddArray(const ZipEntry& entry) {
    const std::string name = entry.name.substr(0, entry.name.size() - kSuffix.size());
    CheckName(name);
    try {
      NpyHeader header = ReadHeader(entry);
      const uint64_t expected = header.data_begin + header.data_size();
      if (header.type != DataType::kOther && entry.size != expected) {
        throw Error("its entry has " + std::to_string(entry.size) + " bytes, its shape " +
                    ToString(header.shape) + " needs " + std::to_string(expected));
      }
      tensors_.push_back({name, header.type, header.shape});
      arrays_.push_back({&entry, std::move(header)});
    } catch (const Error& error) {
      throw Error("array " + Shown(name) + ": " + error.what());
    }
  }

  NpyHeader ReadHeader(const ZipEntry& entry) const {
    if (entry.stored) return ParseNpyHeader(entry.packed);
    const size_t size = NpyHeaderSize(zip_.ReadPrefix(entry, kNpyPreamble));
    return ParseNpyHeader(zip_.ReadPrefix(entry, size));
  }

  ZipArchive zip_;
  std::string path_;
  std::vector<TensorInfo> tensors_;
  std::vector<Array> arrays_;
};

}  // namespace

std::unique_ptr<TensorArchive> OpenNpz(std::shared_ptr<const MappedFile> file) {
  try {
    return std::make_unique<NpzArchive>(file);
  } catch (const Error& error) {
    throw Error(file->path() + ": " + error.what());
  }
}

}  // namespace attnmap
