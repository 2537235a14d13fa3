#include "image/tiff_directory.h"

#include <algorithm>
#include <set>

namespace attnmap {
namespace {

// Bytes of one value of the integer types; 0 for the others.
size_t IntegerSize(uint16_t type) {
  switch (type) {
    case 1:
      return 1;  // BYTE
    case 3:
      return 2;  // SHORT
    case 4:
      return 4;  // LONG
    case 16:
      return 8;  // LONG8
    default:
      return 0;
  }
}

}  // namespace

std::optional<uint64_t> TiffDirectory::Read(uint64_t offset, size_t size) const {
  if (offset > bytes_.size() || bytes_.size() - offset < size) return std::nullopt;
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    const size_t at = static_cast<size_t>(offset) + (big_endian_ ? i : size - 1 - i);
    value = value << 8 | bytes_[at];
  }
  return value;
}

std::optional<TiffDirectory> TiffDirectory::First(Bytes bytes) {
  if (bytes.size() < 8) return std::nullopt;
  const bool big_endian = bytes[0] == 'M';
  if ((bytes[0] != 'I' && bytes[0] != 'M') || bytes[1] != bytes[0]) return std::nullopt;
  const int version = big_endian ? bytes[2] << 8 | bytes[3] : bytes[3] << 8 | bytes[2];
  if (version != 42 && version != 43) return std::nullopt;
  TiffDirectory directory(bytes, big_endian, version == 43);
  const auto offset = version == 43 ? directory.Read(8, 8) : directory.Read(4, 4);
  if (!offset || !directory.Load(*offset)) return std::nullopt;
  return directory;
}

std::optional<uint64_t> TiffDirectory::Next(uint64_t offset) const {
  const auto count = Read(offset, count_size());
  if (!count || *count > bytes_.size() / entry_size()) return std::nullopt;
  return Read(offset + count_size() + *count * entry_size(), word_size());
}

bool TiffDirectory::Load(uint64_t offset) {
  const auto count = Read(offset, count_size());
  if (!count || offset == 0) return false;
  offset_ = offset;
  uint64_t at = offset + count_size();
  for (uint64_t i = 0; i < *count; ++i, at += entry_size()) {
    if (at > bytes_.size() || bytes_.size() - at < entry_size()) break;
    if (const auto entry = ReadEntry(at)) entries_.push_back(*entry);
  }
  return true;
}

std::optional<TiffDirectory::Entry> TiffDirectory::ReadEntry(uint64_t offset) const {
  Entry entry;
  entry.tag = static_cast<uint16_t>(*Read(offset, 2));
  entry.type = static_cast<uint16_t>(*Read(offset + 2, 2));
  const size_t word = word_size();
  entry.count = *Read(offset + 4, word);
  const size_t size = IntegerSize(entry.type);
  if (size == 0 || entry.count == 0 || entry.count > bytes_.size() / size) return std::nullopt;
  // Values that fit lie in the entry itself, others where it points.
  entry.offset = offset + 4 + word;
  if (entry.count * size > word) entry.offset = *Read(entry.offset, word);
  if (entry.offset > bytes_.size() || bytes_.size() - entry.offset < entry.count * size) {
    return std::nullopt;
  }
  return entry;
}

// Of entries given twice the last one counts, as in Pillow.
const TiffDirectory::Entry* TiffDirectory::Find(TiffTag tag) const {
  const auto found = std::find_if(entries_.rbegin(), entries_.rend(), [tag](const Entry& entry) {
    return entry.tag == static_cast<uint16_t>(tag);
  });
  return found == entries_.rend() ? nullptr : &*found;
}

std::optional<uint64_t> TiffDirectory::Value(const Entry& entry, uint64_t index) const {
  const size_t size = IntegerSize(entry.type);
  return Read(entry.offset + index * size, size);
}

std::optional<uint64_t> TiffDirectory::Integer(TiffTag tag) const {
  const Entry* entry = Find(tag);
  return entry == nullptr ? std::nullopt : Value(*entry, 0);
}

std::vector<uint64_t> TiffDirectory::Integers(TiffTag tag) const {
  std::vector<uint64_t> values;
  const Entry* entry = Find(tag);
  if (entry == nullptr) return values;
  values.reserve(static_cast<size_t>(entry->count));  // ReadEntry: they lie within the bytes
  for (uint64_t i = 0; i < entry->count; ++i) values.push_back(*Value(*entry, i));
  return values;
}

std::optional<TiffDirectory::Place> TiffDirectory::PlaceOf(TiffTag tag) const {
  const Entry* entry = Find(tag);
  if (entry == nullptr) return std::nullopt;
  return Place{static_cast<size_t>(entry->offset), IntegerSize(entry->type)};
}

int TiffDirectory::CountDirectories() const {
  constexpr size_t kEnough = 65535;
  std::set<uint64_t> seen = {offset_};
  auto next = Next(offset_);
  while (next && *next != 0 && seen.size() < kEnough && Read(*next, count_size()) &&
         seen.insert(*next).second) {
    next = Next(*next);
  }
  return static_cast<int>(seen.size());
}

}  // namespace attnmap
