// The form that torch.save writes since 1.6, and TorchScript archives: a ZIP
// of data.pkl and one entry for each storage.
#include <mutex>
#include <unordered_map>

#include "attnmap/core/error.h"
#include "formats/pickle_machine.h"
#include "formats/text.h"
#include "formats/torch_archive.h"

namespace attnmap {
namespace {

constexpr std::string_view kPickle = "data.pkl";
// A pickle that is not mapped but unpacked. Real ones have some kilobytes.
constexpr uint64_t kMaxUnpackedPickle = uint64_t{64} << 20;

// data.pkl in whatever folder; in none where someone packed the folder's
// content anew.
bool IsPickle(std::string_view name) {
  return name == kPickle ||
         (name.ends_with(kPickle) && name[name.size() - kPickle.size() - 1] == '/');
}

const ZipEntry& FindPickle(const ZipArchive& zip) {
  const ZipEntry* found = nullptr;
  for (const ZipEntry& entry : zip.entries()) {
    if (!IsPickle(entry.name)) continue;
    if (found != nullptr) {
      throw Error("two pickles, " + Shown(found->name) + " and " + Shown(entry.name));
    }
    found = &entry;
  }
  if (found == nullptr) throw Error("a zip archive without data.pkl: not a PyTorch checkpoint");
  if (!found->stored && found->size > kMaxUnpackedPickle) {
    throw Error("data.pkl would unpack to " + std::to_string(found->size) + " bytes");
  }
  return *found;
}

ByteOrder FindByteOrder(const ZipArchive& zip, const std::string& prefix) {
  const ZipEntry* entry = zip.Find(prefix + "byteorder");
  if (entry == nullptr) return ByteOrder::kLittle;
  const std::vector<uint8_t> bytes = zip.ReadPrefix(*entry, 16);
  const std::string order(bytes.begin(), bytes.end());
  if (order == "little") return ByteOrder::kLittle;
  if (order == "big") return ByteOrder::kBig;
  throw Error("byteorder says " + Shown(order) + ", expected 'little' or 'big'");
}

class ZipStorages : public TorchStorages {
 public:
  ZipStorages(std::unique_ptr<const ZipArchive> zip, std::string prefix)
      : zip_(std::move(zip)), prefix_(std::move(prefix)), order_(FindByteOrder(*zip_, prefix_)) {}

  size_t Find(const TorchStorage& storage) const override {
    if (storage.key.empty() || storage.key.find_first_of("/\\") != std::string_view::npos) {
      throw Error("the storage key " + Shown(storage.key) + " is no plain name");
    }
    const ZipEntry* entry = zip_->Find(prefix_ + "data/" + std::string(storage.key));
    if (entry == nullptr) throw Error("storage " + Shown(storage.key) + " is not in the file");
    if (entry->size < static_cast<uint64_t>(storage.num_bytes())) {
      throw Error("storage " + Shown(storage.key) + " has " + std::to_string(entry->size) +
                  " bytes, expected " + std::to_string(storage.num_bytes()));
    }
    return static_cast<size_t>(entry - zip_->entries().data());
  }

  // torch can be told to leave checksums out, so those of stored entries say
  // nothing. Unpacked storages are kept while anyone uses them.
  SharedBytes Read(size_t number) const override {
    const ZipEntry& entry = zip_->entries()[number];
    if (entry.stored) return zip_->Read(entry, ZipArchive::Crc::kTrust);
    const std::lock_guard lock(mutex_);
    Unpacked& unpacked = unpacked_[number];
    if (auto owner = unpacked.owner.lock()) return {owner, unpacked.bytes};
    SharedBytes bytes = zip_->Read(entry, ZipArchive::Crc::kCheck);
    unpacked = {bytes.owner, bytes.bytes};
    return bytes;
  }

  ByteOrder order() const override { return order_; }

 private:
  struct Unpacked {
    std::weak_ptr<const void> owner;
    std::span<const uint8_t> bytes;
  };
  std::unique_ptr<const ZipArchive> zip_;
  std::string prefix_;
  ByteOrder order_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<size_t, Unpacked> unpacked_;
};

}  // namespace

TorchContents ReadTorchZip(const std::shared_ptr<const MappedFile>& file) {
  auto zip = std::make_unique<const ZipArchive>(file);
  const ZipEntry& entry = FindPickle(*zip);
  TorchContents contents;
  contents.pickle = zip->Read(entry, ZipArchive::Crc::kTrust);
  contents.arena = std::make_unique<PickleArena>();
  size_t position = 0;
  try {
    contents.root = PickleMachine(*contents.arena, contents.pickle.bytes).Run(position);
  } catch (const Error& error) {
    throw Error("data.pkl: " + std::string(error.what()));
  }
  const std::string prefix = entry.name.substr(0, entry.name.size() - kPickle.size());
  contents.storages = std::make_unique<ZipStorages>(std::move(zip), prefix);
  return contents;
}

}  // namespace attnmap
