// The form that torch.save wrote before 1.6: pickles one after the other
// (magic, version, system, object, keys), then the storages in the keys' order.
#include <algorithm>
#include <cstring>
#include <map>

#include "attnmap/core/error.h"
#include "formats/pickle_machine.h"
#include "formats/text.h"
#include "formats/torch_archive.h"

namespace attnmap {
namespace {

// The number the first pickle holds, little-endian.
constexpr std::string_view kLegacyMagic = "\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19";
constexpr int64_t kLegacyVersion = 1001;

using StorageMap = std::map<std::string_view, TorchStorage>;

// Every storage the pickle speaks of: their sizes are nowhere else.
StorageMap CollectStorages(const PickleArena& arena) {
  StorageMap storages;
  for (const PickleValue& value : arena.values()) {
    if (!value.Is(PickleKind::kPersistent)) continue;
    const TorchStorage storage = ReadTorchStorage(value);
    const auto [known, is_new] = storages.emplace(storage.key, storage);
    if (!is_new && (known->second.item_size != storage.item_size ||
                    known->second.num_items != storage.num_items)) {
      throw Error("storage " + Shown(storage.key) + " is described in two ways");
    }
  }
  return storages;
}

class LegacyStorages : public TorchStorages {
 public:
  explicit LegacyStorages(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {}

  // The storage at `position`: a count of its elements, then those.
  void Add(const TorchStorage& storage, size_t& position) {
    const auto bytes = file_->bytes();
    int64_t count = 0;
    if (bytes.size() - position < sizeof count) throw Error(Missing(storage, 0));
    std::memcpy(&count, bytes.data() + position, sizeof count);
    position += sizeof count;
    if (count != storage.num_items) {
      throw Error("storage " + Shown(storage.key) + " has " + std::to_string(count) +
                  " elements, the pickle says " + std::to_string(storage.num_items));
    }
    const auto size = static_cast<uint64_t>(storage.num_bytes());
    if (size > bytes.size() - position) throw Error(Missing(storage, bytes.size() - position));
    if (!numbers_.emplace(storage.key, spans_.size()).second) {
      throw Error("storage " + Shown(storage.key) + " is listed twice");
    }
    spans_.push_back(bytes.subspan(position, size));
    position += size;
  }

  size_t Find(const TorchStorage& storage) const override {
    const auto found = numbers_.find(storage.key);
    if (found == numbers_.end()) {
      throw Error("storage " + Shown(storage.key) + " is not in the file");
    }
    return found->second;
  }

  SharedBytes Read(size_t number) const override { return {file_, spans_[number]}; }

 private:
  static std::string Missing(const TorchStorage& storage, uint64_t left) {
    return "storage " + Shown(storage.key) + " needs " + std::to_string(storage.num_bytes()) +
           " bytes, " + std::to_string(left) + " are left: the file is cut short";
  }

  std::shared_ptr<const MappedFile> file_;
  std::vector<std::span<const uint8_t>> spans_;
  std::map<std::string, size_t, std::less<>> numbers_;
};

class LegacyReader {
 public:
  explicit LegacyReader(const std::shared_ptr<const MappedFile>& file) : file_(file) {
    contents_.arena = std::make_unique<PickleArena>();
    contents_.pickle = {file, file->bytes()};
  }

  TorchContents Read() {
    const PickleValue* magic = Next("magic number");
    if (!magic->Is(PickleKind::kBigInt) || magic->text != kLegacyMagic) {
      throw Error("not a PyTorch checkpoint");
    }
    const PickleValue* version = Next("version");
    if (!version->Is(PickleKind::kInt) || version->integer != kLegacyVersion) {
      throw Error("an old PyTorch file of an unknown version, expected " +
                  std::to_string(kLegacyVersion));
    }
    const PickleValue* little = Next("system")->Get("little_endian");
    if (little != nullptr && little->Is(PickleKind::kBool) && little->integer == 0) {
      throw Error(
          "written on a big-endian machine in torch's old form: re-save it there with a "
          "current PyTorch");
    }
    contents_.root = Next("object");
    ReadStorages(*Next("list of storages"));
    return std::move(contents_);
  }

 private:
  const PickleValue* Next(const char* what) {
    try {
      return PickleMachine(*contents_.arena, file_->bytes()).Run(position_);
    } catch (const Error& error) {
      throw Error("the pickle of its " + std::string(what) + ": " + error.what());
    }
  }

  void ReadStorages(const PickleValue& keys) {
    const StorageMap known = CollectStorages(*contents_.arena);
    auto storages = std::make_unique<LegacyStorages>(file_);
    for (const PickleValue* key : keys.items) {
      const auto found = known.find(key->text);
      if (!key->Is(PickleKind::kText) || found == known.end()) {
        throw Error("a storage is listed that no tensor uses: " + Shown(key->text));
      }
      storages->Add(found->second, position_);
    }
    contents_.storages = std::move(storages);
  }

  const std::shared_ptr<const MappedFile>& file_;
  TorchContents contents_;
  size_t position_ = 0;
};

}  // namespace

bool IsTorchLegacy(std::span<const uint8_t> bytes) {
  // Within the first bytes, whatever protocol the pickle is in.
  constexpr size_t kWindow = 32;
  const std::string_view start(reinterpret_cast<const char*>(bytes.data()),
                               std::min(bytes.size(), kWindow));
  return start.starts_with('\x80') && start.find(kLegacyMagic) != std::string_view::npos;
}

TorchContents ReadTorchLegacy(const std::shared_ptr<const MappedFile>& file) {
  return LegacyReader(file).Read();
}

}  // namespace attnmap
