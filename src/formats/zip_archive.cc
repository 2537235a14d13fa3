#include "formats/zip_archive.h"

#include <minizip/unzip.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "attnmap/core/error.h"
#include "formats/text.h"
#include "formats/zip_handle.h"

namespace attnmap {
namespace {

constexpr uint64_t kMaxEntries = 1'000'000;
constexpr uint64_t kDirectoryRecord = 46;  // the shortest
constexpr uint64_t kEndRecord = 22;
constexpr uint64_t kMaxDeflateRatio = 1032;  // what the format can reach
// What all deflated entries together may unpack to. Weights hardly shrink, so
// an archive that grows more than this is a bomb.
constexpr uint64_t kExpansionFloor = uint64_t{64} << 20;
constexpr uint64_t kExpansionRatio = 16;
constexpr int kDeflate = 8;
constexpr unsigned long kEncryptionFlags = 0x0001 | 0x0040 | 0x2000;

[[noreturn]] void Fail(const ZipEntry& entry, const std::string& what) {
  throw Error("zip entry " + Shown(entry.name) + ": " + what);
}

bool HasSignature(std::span<const uint8_t> bytes, uint64_t at, const char (&signature)[5]) {
  return at <= bytes.size() && bytes.size() - at >= 4 &&
         std::memcmp(bytes.data() + at, signature, 4) == 0;
}

// How many entries the end record promises, after checking that record.
uint64_t CountEntries(std::span<const uint8_t> bytes, const ZipHandle& handle) {
  unz_global_info64 info{};
  if (!handle.is_open() || unzGetGlobalInfo64(handle.get(), &info) != UNZ_OK) {
    throw Error("no zip directory at the end of the " + std::to_string(bytes.size()) +
                " bytes; the file is damaged or its download incomplete");
  }
  const uint64_t tail = kEndRecord + info.size_comment;
  if (tail > bytes.size() || !HasSignature(bytes, bytes.size() - tail, "PK\x05\x06")) {
    throw Error("the zip end record does not reach the end of the file");
  }
  if (info.number_entry == 0) throw Error("an empty zip archive");
  if (info.number_entry > kMaxEntries || info.number_entry > bytes.size() / kDirectoryRecord) {
    throw Error("the zip directory claims " + std::to_string(info.number_entry) +
                " entries, more than the file can hold");
  }
  return info.number_entry;
}

void CheckRecord(const ZipEntry& entry, const unz_file_info64& info) {
  if (entry.name.empty() || entry.name.find('\0') != std::string::npos) {
    throw Error("a zip entry whose name is empty or holds a NUL");
  }
  if ((info.flag & kEncryptionFlags) != 0) Fail(entry, "encrypted");
  if (info.disk_num_start != 0) Fail(entry, "on another disk of a set");
  if (info.compression_method != 0 && info.compression_method != kDeflate) {
    Fail(entry, "compression method " + std::to_string(info.compression_method) +
                    ", expected stored (0) or deflate (8)");
  }
  if (entry.stored && info.compressed_size != info.uncompressed_size) {
    Fail(entry, "stored, yet " + std::to_string(info.compressed_size) + " bytes are to become " +
                    std::to_string(info.uncompressed_size));
  }
}

// The span of the entry's data, from the local header the record points to.
std::span<const uint8_t> FindData(std::span<const uint8_t> bytes, const ZipHandle& handle,
                                  const ZipEntry& entry, uint64_t size) {
  int method = 0;
  if (unzOpenCurrentFile2(handle.get(), &method, nullptr, /*raw=*/1) != UNZ_OK) {
    Fail(entry, "its local header is damaged or does not agree with the directory");
  }
  const uint64_t begin = unzGetCurrentFileZStreamPos64(handle.get());
  unzCloseCurrentFile(handle.get());
  if (begin > bytes.size() || size > bytes.size() - begin) {
    Fail(entry, "claims " + std::to_string(size) + " bytes at " + std::to_string(begin) +
                    ", beyond the file's end at " + std::to_string(bytes.size()));
  }
  return bytes.subspan(begin, size);
}

ZipEntry ReadEntry(std::span<const uint8_t> bytes, const ZipHandle& handle) {
  unz_file_info64 info{};
  ZipEntry entry;
  bool ok =
      unzGetCurrentFileInfo64(handle.get(), &info, nullptr, 0, nullptr, 0, nullptr, 0) == UNZ_OK;
  entry.name.resize(ok ? info.size_filename : 0);
  ok = ok && unzGetCurrentFileInfo64(handle.get(), &info, entry.name.data(), info.size_filename,
                                     nullptr, 0, nullptr, 0) == UNZ_OK;
  unz64_file_pos position{};
  ok = ok && unzGetFilePos64(handle.get(), &position) == UNZ_OK;
  if (!ok) throw Error("a damaged record in the zip directory");
  entry.stored = info.compression_method == 0;
  entry.crc = static_cast<uint32_t>(info.crc);
  entry.size = info.uncompressed_size;
  entry.directory_position = position.pos_in_zip_directory;
  entry.number = position.num_of_file;
  CheckRecord(entry, info);
  entry.packed = FindData(bytes, handle, entry, info.compressed_size);
  if (entry.size / kMaxDeflateRatio > entry.packed.size()) {
    Fail(entry, std::to_string(entry.packed.size()) + " bytes cannot unpack to the " +
                    std::to_string(entry.size) + " it claims");
  }
  return entry;
}

// Unpacks up to `out.size()` bytes; false where there are fewer or the data,
// or (when all of it is read) its checksum, is wrong.
bool Unpack(std::span<const uint8_t> archive, const ZipEntry& entry, std::span<uint8_t> out) {
  const ZipHandle handle(archive);
  const unz64_file_pos position{entry.directory_position, entry.number};
  if (!handle.is_open() || unzGoToFilePos64(handle.get(), &position) != UNZ_OK ||
      unzOpenCurrentFile(handle.get()) != UNZ_OK) {
    return false;
  }
  constexpr size_t kPiece = size_t{1} << 30;
  size_t done = 0;
  while (done < out.size()) {
    const auto piece = static_cast<unsigned>(std::min(kPiece, out.size() - done));
    const int count = unzReadCurrentFile(handle.get(), out.data() + done, piece);
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  const int closed = unzCloseCurrentFile(handle.get());
  return closed == UNZ_OK || (closed == UNZ_CRCERROR && out.size() < entry.size);
}

}  // namespace

ZipArchive::ZipArchive(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {
  const ZipHandle handle(file_->bytes());
  const uint64_t count = CountEntries(file_->bytes(), handle);
  int status = unzGoToFirstFile(handle.get());
  for (uint64_t i = 0; i < count; ++i) {
    if (status != UNZ_OK) {
      throw Error("the zip directory ends after " + std::to_string(i) + " of " +
                  std::to_string(count) + " entries");
    }
    entries_.push_back(ReadEntry(file_->bytes(), handle));
    if (i + 1 < count) status = unzGoToNextFile(handle.get());
  }
  CheckNames();
  CheckOverlaps();
  CheckExpansion();
}

void ZipArchive::CheckNames() {
  by_name_.reserve(entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (!by_name_.emplace(entries_[i].name, i).second) {
      Fail(entries_[i], "the name occurs twice");
    }
  }
}

// Entries may not share bytes with each other or with the directory.
void ZipArchive::CheckOverlaps() const {
  std::vector<const ZipEntry*> order;
  for (const ZipEntry& entry : entries_) {
    if (!entry.packed.empty()) order.push_back(&entry);
  }
  std::sort(order.begin(), order.end(), [](const ZipEntry* a, const ZipEntry* b) {
    return a->packed.data() < b->packed.data();
  });
  const uint64_t directory = entries_.front().directory_position;
  if (!HasSignature(file_->bytes(), directory, "PK\x01\x02")) {
    throw Error("the zip directory is not where the end record says");
  }
  for (size_t i = 0; i < order.size(); ++i) {
    const uint8_t* next =
        i + 1 < order.size() ? order[i + 1]->packed.data() : file_->bytes().data() + directory;
    if (order[i]->packed.data() + order[i]->packed.size() > next) {
      Fail(*order[i],
           "its bytes overlap " +
               (i + 1 < order.size() ? "entry " + Shown(order[i + 1]->name) : "the directory"));
    }
  }
}

void ZipArchive::CheckExpansion() const {
  const uint64_t limit =
      std::max<uint64_t>(kExpansionFloor, file_->bytes().size() * kExpansionRatio);
  uint64_t total = 0;
  for (const ZipEntry& entry : entries_) {
    if (entry.stored) continue;
    total += entry.size;  // <= 1032 times the file: cannot overflow
    if (total > limit) {
      Fail(entry, "the archive's " + std::to_string(file_->bytes().size()) +
                      " bytes would unpack to more than " + std::to_string(limit) + ": a zip bomb");
    }
  }
}

const ZipEntry* ZipArchive::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

SharedBytes ZipArchive::Read(const ZipEntry& entry, Crc crc) const {
  if (entry.stored) {
    if (crc == Crc::kCheck && !entry.packed.empty() &&
        crc32_z(0, entry.packed.data(), entry.packed.size()) != entry.crc) {
      Fail(entry, "its checksum does not fit its bytes; the file is damaged");
    }
    return {file_, entry.packed};
  }
  auto buffer = std::make_shared<std::vector<uint8_t>>(entry.size);
  if (!Unpack(file_->bytes(), entry, *buffer)) {
    Fail(entry, "its deflated data is damaged or does not unpack to " + std::to_string(entry.size) +
                    " bytes");
  }
  const std::span<const uint8_t> bytes(*buffer);
  return {std::move(buffer), bytes};
}

std::vector<uint8_t> ZipArchive::ReadPrefix(const ZipEntry& entry, size_t count) const {
  const size_t wanted = static_cast<size_t>(std::min<uint64_t>(count, entry.size));
  if (entry.stored)
    return {entry.packed.begin(), entry.packed.begin() + static_cast<ptrdiff_t>(wanted)};
  std::vector<uint8_t> prefix(wanted);
  if (!Unpack(file_->bytes(), entry, prefix)) Fail(entry, "its deflated data is damaged");
  return prefix;
}

}  // namespace attnmap
