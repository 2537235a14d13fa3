#include "support/zip_writer.h"

#include <zlib.h>

#include <stdexcept>

#include "attnmap/formats/arrays.h"

namespace attnmap::test {
namespace {

void Put(std::vector<uint8_t>& out, uint64_t value, int num_bytes) {
  for (int i = 0; i < num_bytes; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

void PutBytes(std::vector<uint8_t>& out, std::span<const uint8_t> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::vector<uint8_t> Deflated(std::span<const uint8_t> data) {
  z_stream stream{};
  constexpr int kRawDeflate = -15;
  if (deflateInit2(&stream, 6, Z_DEFLATED, kRawDeflate, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2");
  }
  std::vector<uint8_t> packed(deflateBound(&stream, static_cast<uLong>(data.size())));
  stream.next_in = const_cast<Bytef*>(data.data());
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

constexpr uint16_t kDescriptor = 0x0008;
constexpr uint64_t kMax32 = 0xFFFFFFFF;

// An entry with all that is to be written about it.
struct Record {
  const ZipTestEntry* entry = nullptr;
  std::vector<uint8_t> packed;
  uint64_t offset = 0;
  uint32_t crc = 0;
  uint16_t method = 0;
  uint16_t flags = 0;
};

Record MakeRecord(const ZipTestEntry& entry, uint64_t offset) {
  Record record{&entry, entry.deflate ? Deflated(entry.data) : entry.data, offset, 0, 0, 0};
  record.crc = static_cast<uint32_t>(
      entry.data.empty() ? 0 : crc32_z(0, entry.data.data(), entry.data.size()));
  record.method = entry.method.value_or(entry.deflate ? 8 : 0);
  record.flags = entry.flags;
  if (entry.torch_style) record.flags = static_cast<uint16_t>(record.flags | 0x0808);
  return record;
}

void PutEntry(std::vector<uint8_t>& out, const Record& record) {
  const ZipTestEntry& entry = *record.entry;
  std::vector<uint8_t> extra;
  if (entry.torch_style) {
    const size_t unpadded = out.size() + 30 + entry.name.size() + 4;
    const size_t padding = (64 - unpadded % 64) % 64;
    Put(extra, 0x4246, 2);
    Put(extra, padding, 2);
    extra.insert(extra.end(), padding, 'Z');
  }
  const bool deferred = (record.flags & kDescriptor) != 0;
  Put(out, 0x04034B50, 4);
  Put(out, 20, 2);
  Put(out, record.flags, 2);
  Put(out, record.method, 2);
  Put(out, 0, 4);
  Put(out, deferred ? 0 : entry.crc.value_or(record.crc), 4);
  Put(out, deferred ? 0 : std::min(entry.packed_size.value_or(record.packed.size()), kMax32), 4);
  Put(out, deferred ? 0 : std::min(entry.size.value_or(entry.data.size()), kMax32), 4);
  Put(out, entry.name.size(), 2);
  Put(out, extra.size(), 2);
  PutBytes(out, TextBytes(entry.name));
  PutBytes(out, extra);
  PutBytes(out, record.packed);
  if (!deferred) return;
  Put(out, 0x08074B50, 4);
  Put(out, record.crc, 4);
  Put(out, record.packed.size(), 4);
  Put(out, entry.data.size(), 4);
}

void PutDirectoryRecord(std::vector<uint8_t>& out, const Record& record) {
  const ZipTestEntry& entry = *record.entry;
  const uint64_t size = entry.size.value_or(entry.data.size());
  const uint64_t packed = entry.packed_size.value_or(record.packed.size());
  const uint64_t offset = entry.offset.value_or(record.offset);
  std::vector<uint8_t> fields;
  if (size >= kMax32) Put(fields, size, 8);
  if (packed >= kMax32) Put(fields, packed, 8);
  if (offset >= kMax32) Put(fields, offset, 8);
  Put(out, 0x02014B50, 4);
  Put(out, 20, 2);
  Put(out, 20, 2);
  Put(out, record.flags, 2);
  Put(out, record.method, 2);
  Put(out, 0, 4);
  Put(out, entry.crc.value_or(record.crc), 4);
  Put(out, std::min(packed, kMax32), 4);
  Put(out, std::min(size, kMax32), 4);
  Put(out, entry.name.size(), 2);
  Put(out, fields.empty() ? 0 : fields.size() + 4, 2);
  Put(out, 0, 2);
  Put(out, entry.disk, 2);
  Put(out, 0, 2);
  Put(out, 0, 4);
  Put(out, std::min(offset, kMax32), 4);
  PutBytes(out, TextBytes(entry.name));
  if (fields.empty()) return;
  Put(out, 1, 2);
  Put(out, fields.size(), 2);
  PutBytes(out, fields);
}

void PutZip64End(std::vector<uint8_t>& out, uint64_t count, uint64_t directory) {
  const uint64_t end = out.size();
  Put(out, 0x06064B50, 4);
  Put(out, 44, 8);
  Put(out, 45, 2);
  Put(out, 45, 2);
  Put(out, 0, 8);
  Put(out, count, 8);
  Put(out, count, 8);
  Put(out, end - directory, 8);
  Put(out, directory, 8);
  Put(out, 0x07064B50, 4);
  Put(out, 0, 4);
  Put(out, end, 8);
  Put(out, 1, 4);
}

}  // namespace

std::vector<uint8_t> TextBytes(std::string_view text) { return {text.begin(), text.end()}; }

std::vector<uint8_t> ZipBytes(std::span<const ZipTestEntry> entries,
                              const ZipTestOptions& options) {
  std::vector<uint8_t> out;
  std::vector<Record> records;
  for (const ZipTestEntry& entry : entries) {
    records.push_back(MakeRecord(entry, out.size()));
    PutEntry(out, records.back());
  }
  const uint64_t directory = out.size();
  for (const Record& record : records) PutDirectoryRecord(out, record);
  const uint64_t end = out.size();
  const uint64_t count = options.num_entries.value_or(entries.size());
  const bool zip64 = options.zip64_end;
  if (zip64) PutZip64End(out, count, directory);
  Put(out, 0x06054B50, 4);
  Put(out, 0, 4);
  Put(out, zip64 ? 0xFFFF : count, 2);
  Put(out, zip64 ? 0xFFFF : count, 2);
  Put(out, zip64 ? kMax32 : end - directory, 4);
  Put(out, zip64 ? kMax32 : directory, 4);
  Put(out, options.comment.size(), 2);
  PutBytes(out, TextBytes(options.comment));
  return out;
}

std::vector<uint8_t> NumpyArchiveBytes(std::span<const NamedTensor> tensors, bool deflate) {
  std::vector<ZipTestEntry> entries;
  for (const NamedTensor& tensor : tensors) {
    ZipTestEntry& entry = entries.emplace_back();
    entry.name = tensor.name + ".npy";
    entry.data = NpyBytes(tensor.tensor.shape(), tensor.tensor.values());
    entry.deflate = deflate;
  }
  return ZipBytes(entries);
}

}  // namespace attnmap::test
