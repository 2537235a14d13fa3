#include "formats/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "attnmap/core/error.h"
#include "formats/text.h"

namespace attnmap {
namespace {

[[noreturn]] void Fail(const ZipEntry& entry, const std::string& what) {
  throw Error("zip entry " + Shown(entry.name) + ": " + what);
}

// zlib's inflate over bytes of any size, which it counts in 32 bits.
class Inflater {
 public:
  explicit Inflater(std::span<const uint8_t> packed) : packed_(packed) {
    constexpr int kRawDeflate = -15;
    if (inflateInit2(&stream_, kRawDeflate) != Z_OK) throw Error("zlib does not start");
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Fills as much of `out` as there is; returns how much.
  size_t Fill(std::span<uint8_t> out) {
    size_t done = 0;
    while (done < out.size() && status_ == Z_OK) {
      const size_t room = std::min(out.size() - done, kPiece);
      if (stream_.avail_in == 0) Feed();
      stream_.next_out = out.data() + done;
      stream_.avail_out = static_cast<uInt>(room);
      status_ = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
    }
    return done;
  }
  // Whether the packed bytes end where Fill has come to.
  bool AtEnd() {
    uint8_t more = 0;
    return Fill({&more, 1}) == 0 && status_ == Z_STREAM_END;
  }

 private:
  static constexpr size_t kPiece = size_t{1} << 30;

  void Feed() {
    const auto piece = packed_.first(std::min(packed_.size(), kPiece));
    stream_.next_in = const_cast<Bytef*>(piece.data());  // zlib only reads it
    stream_.avail_in = static_cast<uInt>(piece.size());
    packed_ = packed_.subspan(piece.size());
  }

  std::span<const uint8_t> packed_;
  z_stream stream_{};
  int status_ = Z_OK;
};

void CheckCrc(const ZipEntry& entry, std::span<const uint8_t> bytes) {
  const uLong crc = bytes.empty() ? 0 : crc32_z(0, bytes.data(), bytes.size());
  if (crc != entry.crc) {
    Fail(entry, "its checksum does not fit its bytes; the file is damaged");
  }
}

SharedBytes Inflate(const ZipEntry& entry) {
  auto buffer = std::make_shared<std::vector<uint8_t>>(entry.size);
  Inflater inflater(entry.packed);
  if (inflater.Fill(*buffer) != buffer->size() || !inflater.AtEnd()) {
    Fail(entry, "its deflated data is damaged or does not unpack to " + std::to_string(entry.size) +
                    " bytes");
  }
  const std::span<const uint8_t> bytes(*buffer);
  return {std::move(buffer), bytes};
}

}  // namespace

ZipArchive::ZipArchive(std::shared_ptr<const MappedFile> file)
    : file_(std::move(file)), entries_(ReadZipDirectory(file_->bytes())) {
  by_name_.reserve(entries_.size());
  for (size_t i = 0; i < entries_.size(); ++i) by_name_.emplace(entries_[i].name, i);
}

const ZipEntry* ZipArchive::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

SharedBytes ZipArchive::Read(const ZipEntry& entry, Crc crc) const {
  SharedBytes read = entry.stored ? SharedBytes{file_, entry.packed} : Inflate(entry);
  if (crc == Crc::kCheck) CheckCrc(entry, read.bytes);
  return read;
}

std::vector<uint8_t> ZipArchive::ReadPrefix(const ZipEntry& entry, size_t count) const {
  std::vector<uint8_t> prefix(static_cast<size_t>(std::min<uint64_t>(count, entry.size)));
  if (entry.stored) {
    std::copy_n(entry.packed.begin(), prefix.size(), prefix.begin());
  } else if (Inflater(entry.packed).Fill(prefix) != prefix.size()) {
    Fail(entry, "its deflated data is damaged");
  }
  return prefix;
}

}  // namespace attnmap
