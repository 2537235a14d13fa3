#include "formats/zip_writer.h"

#include <zlib.h>

#include <algorithm>
#include <concepts>
#include <utility>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint16_t kUtf8Names = 0x0800;
constexpr uint16_t kNoTime = 0;
constexpr uint16_t kFirstOfJanuary1980 = 0x0021;
constexpr uint16_t kPaddingField = 0x4246;  // "FB", as torch pads its archives

// A record under construction, little-endian.
class Record {
 public:
  template <std::unsigned_integral T>
  Record& Add(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i)));
    }
    return *this;
  }
  Record& U16(uint64_t value) { return Add(static_cast<uint16_t>(value)); }
  Record& U32(uint64_t value) { return Add(static_cast<uint32_t>(value)); }
  Record& U64(uint64_t value) { return Add(value); }
  Record& Text(const std::string& text) {
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  Record& Fill(size_t count) {
    bytes_.insert(bytes_.end(), count, 0);
    return *this;
  }
  Record& Append(const Record& other) {
    bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end());
    return *this;
  }
  size_t size() const { return bytes_.size(); }
  std::span<const uint8_t> bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

uint32_t Crc(uint32_t crc, std::span<const uint8_t> bytes) {
  return static_cast<uint32_t>(crc32_z(crc, bytes.data(), bytes.size()));
}

}  // namespace

ZipWriter::ZipWriter(Sink sink, uint64_t zip64_from)
    : sink_(std::move(sink)), zip64_from_(zip64_from) {}

void ZipWriter::Put(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return;
  sink_(bytes);
  position_ += bytes.size();
}

void ZipWriter::Add(const std::string& name, Parts parts) {
  if (name.empty() || name.size() > 0xFFFF) {
    throw Error("zip: a name of " + std::to_string(name.size()) +
                " bytes, expected 1 to 65535: " + name.substr(0, 64));
  }
  Entry entry{name, 0, 0, position_};
  for (const auto& part : parts) {
    // zlib takes a null pointer for "give me the first value".
    if (!part.empty()) entry.crc = Crc(entry.crc, part);
    entry.size += part.size();
  }
  PutLocalHeader(entry);
  for (const auto& part : parts) Put(part);
  entries_.push_back(std::move(entry));
}

void ZipWriter::PutLocalHeader(const Entry& entry) {
  const bool zip64 = entry.size >= zip64_from_;
  Record extra;
  if (zip64) extra.U16(1).U16(16).U64(entry.size).U64(entry.size);
  const uint64_t unpadded = position_ + 30 + entry.name.size() + extra.size() + 4;
  const uint64_t padding = (kAlignment - unpadded % kAlignment) % kAlignment;
  extra.U16(kPaddingField).U16(padding).Fill(padding);

  const uint64_t size = zip64 ? 0xFFFFFFFF : entry.size;
  Record record;
  record.U32(0x04034B50).U16(zip64 ? 45 : 20).U16(kUtf8Names).U16(0);
  record.U16(kNoTime).U16(kFirstOfJanuary1980).U32(entry.crc).U32(size).U32(size);
  record.U16(entry.name.size()).U16(extra.size()).Text(entry.name).Append(extra);
  Put(record.bytes());
}

void ZipWriter::PutDirectoryEntry(const Entry& entry) {
  const bool big = entry.size >= zip64_from_;
  const bool far = entry.offset >= zip64_from_;
  Record fields;
  if (big) fields.U64(entry.size).U64(entry.size);
  if (far) fields.U64(entry.offset);
  Record extra;
  if (fields.size() > 0) extra.U16(1).U16(fields.size()).Append(fields);

  const uint64_t size = big ? 0xFFFFFFFF : entry.size;
  const uint16_t version = big || far ? 45 : 20;
  Record record;
  record.U32(0x02014B50).U16(version).U16(version).U16(kUtf8Names).U16(0);
  record.U16(kNoTime).U16(kFirstOfJanuary1980).U32(entry.crc).U32(size).U32(size);
  record.U16(entry.name.size()).U16(extra.size()).U16(0).U16(0).U16(0).U32(0);
  record.U32(far ? 0xFFFFFFFF : entry.offset).Text(entry.name).Append(extra);
  Put(record.bytes());
}

void ZipWriter::PutZip64End(uint64_t directory_begin, uint64_t directory_end) {
  const uint64_t count = entries_.size();
  Record record;
  record.U32(0x06064B50).U64(44).U16(45).U16(45).U32(0).U32(0).U64(count).U64(count);
  record.U64(directory_end - directory_begin).U64(directory_begin);
  record.U32(0x07064B50).U32(0).U64(directory_end).U32(1);
  Put(record.bytes());
}

void ZipWriter::Finish() {
  const uint64_t begin = position_;
  for (const Entry& entry : entries_) PutDirectoryEntry(entry);
  const uint64_t end = position_;
  const uint64_t count = entries_.size();
  const bool zip64 = end >= zip64_from_ || count >= 0xFFFF;
  if (zip64) PutZip64End(begin, end);
  Record record;
  record.U32(0x06054B50).U16(0).U16(0);
  record.U16(std::min<uint64_t>(count, 0xFFFF)).U16(std::min<uint64_t>(count, 0xFFFF));
  record.U32(zip64 ? 0xFFFFFFFF : end - begin).U32(zip64 ? 0xFFFFFFFF : begin).U16(0);
  Put(record.bytes());
}

}  // namespace attnmap
