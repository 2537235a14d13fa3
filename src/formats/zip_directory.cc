#include "formats/zip_directory.h"

#include <algorithm>
#include <unordered_set>

#include "attnmap/core/error.h"
#include "formats/text.h"

namespace attnmap {
namespace {

constexpr uint32_t kLocalHeader = 0x04034B50;
constexpr uint32_t kDirectoryRecord = 0x02014B50;
constexpr uint32_t kEnd = 0x06054B50;
constexpr uint32_t kEnd64 = 0x06064B50;
constexpr uint32_t kLocator64 = 0x07064B50;
constexpr uint64_t kLocalHeaderSize = 30;
constexpr uint64_t kDirectoryRecordSize = 46;
constexpr uint64_t kEndSize = 22;
constexpr uint64_t kEnd64Size = 56;
constexpr uint64_t kLocator64Size = 20;
constexpr uint64_t kMaxComment = 0xFFFF;
constexpr uint64_t kFull16 = 0xFFFF;
constexpr uint64_t kFull32 = 0xFFFFFFFF;
constexpr uint64_t kZip64Field = 0x0001;

constexpr uint64_t kMaxEntries = 1'000'000;
constexpr uint64_t kMaxDeflateRatio = 1032;  // what the format can reach
// What all deflated entries together may unpack to. Weights hardly shrink, so
// an archive that grows more than this is a bomb.
constexpr uint64_t kExpansionFloor = uint64_t{64} << 20;
constexpr uint64_t kExpansionRatio = 16;
constexpr uint64_t kEncryptionFlags = 0x0001 | 0x0040 | 0x2000;
constexpr uint64_t kDeflate = 8;

[[noreturn]] void FailEntry(const ZipEntry& entry, const std::string& what) {
  throw Error("zip entry " + Shown(entry.name) + ": " + what);
}

// Little-endian fields of a record, each within it by its caller's check.
class Fields {
 public:
  explicit Fields(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  uint64_t U16(size_t at) const { return Get(at, 2); }
  uint64_t U32(size_t at) const { return Get(at, 4); }
  uint64_t U64(size_t at) const { return Get(at, 8); }

 private:
  uint64_t Get(size_t at, size_t count) const {
    const auto field = bytes_.subspan(at, count);
    uint64_t value = 0;
    for (size_t i = count; i-- > 0;) value = value << 8 | field[i];
    return value;
  }
  std::span<const uint8_t> bytes_;
};

bool Fits(std::span<const uint8_t> bytes, uint64_t at, uint64_t size) {
  return at <= bytes.size() && size <= bytes.size() - at;
}

bool HasRecord(std::span<const uint8_t> bytes, uint64_t at, uint64_t size, uint32_t signature) {
  return Fits(bytes, at, size) && Fields(bytes).U32(at) == signature;
}

// The end record whose comment reaches the end of the file exactly.
uint64_t FindEnd(std::span<const uint8_t> bytes) {
  for (uint64_t comment = 0; comment <= kMaxComment; ++comment) {
    if (bytes.size() < kEndSize + comment) break;
    const uint64_t at = bytes.size() - kEndSize - comment;
    if (HasRecord(bytes, at, kEndSize, kEnd) && Fields(bytes).U16(at + 20) == comment) return at;
  }
  throw Error("no zip directory at the end of the " + std::to_string(bytes.size()) +
              " bytes; the file is damaged or its download incomplete");
}

// Where the directory lies and how many entries it has.
struct Directory {
  uint64_t num_entries = 0;
  uint64_t size = 0;
  uint64_t begin = 0;
  uint64_t limit = 0;  // the end records begin here
};

// The 64-bit form of the end record, which stands in front of `end`.
void ReadEnd64(std::span<const uint8_t> bytes, uint64_t end, Directory& directory) {
  if (end < kLocator64Size || !HasRecord(bytes, end - kLocator64Size, kLocator64Size, kLocator64)) {
    return;  // the fields were just that large
  }
  const uint64_t locator = end - kLocator64Size;
  const uint64_t at = Fields(bytes).U64(locator + 8);
  if (!HasRecord(bytes.first(locator), at, kEnd64Size, kEnd64)) {
    throw Error("a zip archive whose ZIP64 end record is not where it should be");
  }
  const Fields record(bytes.subspan(at, kEnd64Size));
  if (record.U32(16) != 0 || record.U32(20) != 0 || record.U64(24) != record.U64(32)) {
    throw Error("a zip archive of several disks");
  }
  directory = {record.U64(32), record.U64(40), record.U64(48), at};
}

Directory FindDirectory(std::span<const uint8_t> bytes) {
  const uint64_t end = FindEnd(bytes);
  const Fields record(bytes.subspan(end, kEndSize));
  Directory directory{record.U16(10), record.U32(12), record.U32(16), end};
  const bool disks = record.U16(4) != 0 || record.U16(6) != 0 || record.U16(8) != record.U16(10);
  const bool full =
      directory.num_entries == kFull16 || directory.size == kFull32 || directory.begin == kFull32;
  if (full) ReadEnd64(bytes, end, directory);
  if (disks && directory.limit == end) throw Error("a zip archive of several disks");
  if (directory.num_entries == 0) throw Error("an empty zip archive");
  if (!Fits(bytes.first(directory.limit), directory.begin, directory.size)) {
    throw Error("a zip directory of " + std::to_string(directory.size) + " bytes at " +
                std::to_string(directory.begin) + ", beyond its end at " +
                std::to_string(directory.limit));
  }
  if (directory.num_entries > kMaxEntries ||
      directory.num_entries > directory.size / kDirectoryRecordSize) {
    throw Error("the zip directory claims " + std::to_string(directory.num_entries) +
                " entries, more than it can hold");
  }
  return directory;
}

// Numbers of an entry as its record has them: full ones stand in a ZIP64 field.
struct Sizes {
  uint64_t size = 0;
  uint64_t packed = 0;
  uint64_t offset = 0;
};

void ReadZip64Field(std::span<const uint8_t> extra, Sizes& sizes) {
  while (extra.size() >= 4) {
    const uint64_t id = Fields(extra).U16(0);
    const uint64_t size = Fields(extra).U16(2);
    extra = extra.subspan(4);
    if (size > extra.size()) return;
    std::span<const uint8_t> field = extra.first(size);
    extra = extra.subspan(size);
    if (id != kZip64Field) continue;
    for (uint64_t* value : {&sizes.size, &sizes.packed, &sizes.offset}) {
      if (*value != kFull32 || field.size() < 8) continue;
      *value = Fields(field).U64(0);
      field = field.subspan(8);
    }
    return;
  }
}

void CheckRecord(const ZipEntry& entry, const Fields& record, const Sizes& sizes) {
  if (entry.name.empty() || entry.name.find('\0') != std::string::npos) {
    throw Error("a zip entry whose name is empty or holds a NUL");
  }
  const uint64_t method = record.U16(10);
  const uint64_t disk = record.U16(34);
  if ((record.U16(8) & kEncryptionFlags) != 0) FailEntry(entry, "encrypted");
  if (disk != 0 && disk != kFull16) FailEntry(entry, "on another disk of a set");
  if (method != 0 && method != kDeflate) {
    FailEntry(entry, "compression method " + std::to_string(method) +
                         ", expected stored (0) or deflate (8)");
  }
  if (method == 0 && sizes.packed != sizes.size) {
    FailEntry(entry, "stored, yet " + std::to_string(sizes.packed) + " bytes are to become " +
                         std::to_string(sizes.size));
  }
  if (sizes.size / kMaxDeflateRatio > sizes.packed) {
    FailEntry(entry, std::to_string(sizes.packed) + " bytes cannot unpack to the " +
                         std::to_string(sizes.size) + " it claims");
  }
}

// `before`: the part of the file in front of the directory.
std::span<const uint8_t> FindData(std::span<const uint8_t> before, const ZipEntry& entry,
                                  uint64_t size) {
  if (!HasRecord(before, entry.begin, kLocalHeaderSize, kLocalHeader)) {
    FailEntry(entry, "no entry begins at byte " + std::to_string(entry.begin));
  }
  const Fields header(before.subspan(entry.begin, kLocalHeaderSize));
  const uint64_t begin = entry.begin + kLocalHeaderSize + header.U16(26) + header.U16(28);
  if (!Fits(before, begin, size)) {
    FailEntry(entry, "claims " + std::to_string(size) + " bytes at " + std::to_string(begin) +
                         ", beyond the directory at " + std::to_string(before.size()));
  }
  return before.subspan(begin, size);
}

// Reads the record at the start of `records` and drops it from them.
ZipEntry ReadRecord(std::span<const uint8_t> before, std::span<const uint8_t>& records) {
  if (!HasRecord(records, 0, kDirectoryRecordSize, kDirectoryRecord)) {
    throw Error("a damaged record in the zip directory");
  }
  const Fields record(records.first(kDirectoryRecordSize));
  const uint64_t name_size = record.U16(28);
  const uint64_t extra_size = record.U16(30);
  const uint64_t record_size = kDirectoryRecordSize + name_size + extra_size + record.U16(32);
  if (record_size > records.size()) throw Error("a zip directory cut short");
  const auto name = records.subspan(kDirectoryRecordSize, name_size);
  Sizes sizes{record.U32(24), record.U32(20), record.U32(42)};
  ReadZip64Field(records.subspan(kDirectoryRecordSize + name_size, extra_size), sizes);

  ZipEntry entry;
  entry.name.assign(name.begin(), name.end());
  entry.stored = record.U16(10) == 0;
  entry.crc = static_cast<uint32_t>(record.U32(16));
  entry.size = sizes.size;
  entry.begin = sizes.offset;
  CheckRecord(entry, record, sizes);
  entry.packed = FindData(before, entry, sizes.packed);
  records = records.subspan(record_size);
  return entry;
}

void CheckNames(const std::vector<ZipEntry>& entries) {
  std::unordered_set<std::string_view> names;
  for (const ZipEntry& entry : entries) {
    if (!names.insert(entry.name).second) FailEntry(entry, "the name occurs twice");
  }
}

// From header to data, entries may not share bytes with each other.
void CheckOverlaps(const std::vector<ZipEntry>& entries) {
  std::vector<const ZipEntry*> order;
  order.reserve(entries.size());
  for (const ZipEntry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const ZipEntry* a, const ZipEntry* b) { return a->begin < b->begin; });
  for (size_t i = 1; i < order.size(); ++i) {
    const ZipEntry& left = *order[i - 1];
    const ZipEntry& right = *order[i];
    const uint8_t* left_end = left.packed.data() + left.packed.size();
    const uint8_t* right_data = right.packed.data();
    const auto header = static_cast<ptrdiff_t>(kLocalHeaderSize);
    if (left.begin == right.begin || left_end > right_data - header) {
      FailEntry(left, "its bytes overlap entry " + Shown(right.name));
    }
  }
}

void CheckExpansion(const std::vector<ZipEntry>& entries, uint64_t file_size) {
  const uint64_t limit = std::max(kExpansionFloor, file_size * kExpansionRatio);
  uint64_t total = 0;
  for (const ZipEntry& entry : entries) {
    if (entry.stored) continue;
    total += entry.size;  // <= 1032 times the file, entries apart: no overflow
    if (total > limit) {
      FailEntry(entry, "the archive's " + std::to_string(file_size) +
                           " bytes would unpack to more than " + std::to_string(limit) +
                           ": a zip bomb");
    }
  }
}

}  // namespace

std::vector<ZipEntry> ReadZipDirectory(std::span<const uint8_t> bytes) {
  const Directory directory = FindDirectory(bytes);
  const auto before = bytes.first(directory.begin);
  auto records = bytes.subspan(directory.begin, directory.size);
  std::vector<ZipEntry> entries;
  entries.reserve(directory.num_entries);
  for (uint64_t i = 0; i < directory.num_entries; ++i) {
    entries.push_back(ReadRecord(before, records));
  }
  if (!records.empty()) {
    throw Error("a zip directory with " + std::to_string(records.size()) +
                " bytes behind its entries");
  }
  CheckNames(entries);
  CheckOverlaps(entries);
  CheckExpansion(entries, bytes.size());
  return entries;
}

}  // namespace attnmap
