#include "formats/zip_archive.h"

#include <algorithm>
#include <string>

#include "attnmap/core/error.h"
#include "formats/archives.h"
#include "formats/zip_writer.h"
#include "support/catch.h"
#include "support/zip_writer.h"

namespace attnmap {
namespace {

using test::Has;
using test::TextBytes;
using test::ZipBytes;
using test::ZipTestEntry;
using test::ZipTestOptions;

ZipArchive OpenZip(std::vector<uint8_t> bytes) {
  return ZipArchive(MappedFile::FromBytes(std::move(bytes), "a.zip"));
}

std::string ZipError(std::vector<uint8_t> bytes) {
  try {
    OpenZip(std::move(bytes));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string ZipError(const ZipTestEntry& entry) { return ZipError(ZipBytes(std::span(&entry, 1))); }

ZipTestEntry Entry(std::string name, std::string_view text) {
  ZipTestEntry entry;
  entry.name = std::move(name);
  entry.data = TextBytes(text);
  return entry;
}

std::string ReadText(const ZipArchive& zip, std::string_view name,
                     ZipArchive::Crc crc = ZipArchive::Crc::kCheck) {
  const ZipEntry* entry = zip.Find(name);
  REQUIRE(entry != nullptr);
  const SharedBytes bytes = zip.Read(*entry, crc);
  return {bytes.bytes.begin(), bytes.bytes.end()};
}

TEST_CASE("zip: stored and deflated entries read, the stored ones where they lie") {
  std::vector<ZipTestEntry> entries = {Entry("a/stored", "some bytes"),
                                       Entry("a/packed", std::string(5000, 'x')),
                                       Entry("a/torch", "aligned"), Entry("a/empty", "")};
  entries[1].deflate = true;
  entries[2].torch_style = true;
  ZipTestOptions options;
  options.zip64_end = GENERATE(false, true);
  options.comment = GENERATE("", "a comment");
  const auto file = MappedFile::FromBytes(ZipBytes(entries, options), "a.zip");
  const ZipArchive zip(file);
  REQUIRE(zip.entries().size() == 4);
  CHECK(ReadText(zip, "a/stored") == "some bytes");
  CHECK(ReadText(zip, "a/packed") == std::string(5000, 'x'));
  CHECK(ReadText(zip, "a/torch") == "aligned");
  CHECK(ReadText(zip, "a/empty").empty());
  CHECK(zip.Find("a/other") == nullptr);
  CHECK(zip.Find("A/stored") == nullptr);

  const SharedBytes stored = zip.Read(*zip.Find("a/torch"), ZipArchive::Crc::kTrust);
  CHECK(stored.bytes.data() > file->bytes().data());
  CHECK((stored.bytes.data() - file->bytes().data()) % 64 == 0);
  CHECK(stored.owner == file);
}

TEST_CASE("zip: the first bytes of an entry can be had alone") {
  std::vector<ZipTestEntry> entries = {Entry("stored", "0123456789"),
                                       Entry("packed", "0123456789")};
  entries[1].deflate = true;
  const ZipArchive zip = OpenZip(ZipBytes(entries));
  for (const ZipEntry& entry : zip.entries()) {
    CHECK(zip.ReadPrefix(entry, 4) == TextBytes("0123"));
    CHECK(zip.ReadPrefix(entry, 0).empty());
    CHECK(zip.ReadPrefix(entry, 99) == TextBytes("0123456789"));
  }
}

TEST_CASE("zip: what is not an archive is refused in one sentence") {
  Has(ZipError(TextBytes("")), "no zip directory");
  Has(ZipError(TextBytes("PK\x03\x04 and nothing else")), "no zip directory");
  Has(ZipError(ZipBytes({})), "empty zip archive");
  auto bytes = ZipBytes(std::vector{Entry("a", "b")});
  bytes.push_back('!');
  Has(ZipError(bytes), "no zip directory");
}

TEST_CASE("zip: an archive cut short anywhere is refused") {
  std::vector<ZipTestEntry> entries = {Entry("a", std::string(300, 'a')), Entry("b", "b")};
  entries[0].torch_style = true;
  entries[1].deflate = true;
  const auto bytes = ZipBytes(entries, {.num_entries = {}, .comment = "", .zip64_end = true});
  for (size_t size = 0; size < bytes.size(); ++size) {
    CHECK(ZipError({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)}) != "no error");
  }
}

TEST_CASE("zip: encrypted, multi-disk and oddly packed entries are refused") {
  ZipTestEntry entry = Entry("secret", "bytes");
  entry.flags = 0x0001;
  Has(ZipError(entry), "'secret': encrypted");
  entry.flags = 0;
  entry.disk = 2;
  Has(ZipError(entry), "another disk");
  entry.disk = 0;
  entry.method = 12;
  Has(ZipError(entry), "compression method 12");
}

TEST_CASE("zip: names that are empty, doubled or hold a NUL are refused") {
  Has(ZipError(Entry("", "x")), "name is empty");
  Has(ZipError(Entry(std::string("a\0b", 3), "x")), "holds a NUL");
  Has(ZipError(ZipBytes(std::vector{Entry("same", "1"), Entry("same", "2")})), "occurs twice");
}

TEST_CASE("zip: an entry's name is shown on one line") {
  ZipTestEntry entry = Entry("line\nbreak", "x");
  entry.flags = 1;
  const std::string error = ZipError(entry);
  CHECK(error.find('\n') == std::string::npos);
}

TEST_CASE("zip: sizes and offsets that lie are refused") {
  ZipTestEntry entry = Entry("liar", "0123456789");
  entry.size = 11;
  Has(ZipError(entry), "stored, yet 10 bytes are to become 11");
  entry.size = entry.packed_size = 10'000'000'000;
  Has(ZipError(entry), "beyond the directory");
  entry.size = entry.packed_size = UINT64_MAX - 7;
  Has(ZipError(entry), "beyond the directory");
  entry.size = entry.packed_size = {};
  for (const uint64_t offset :
       {uint64_t{4}, uint64_t{1} << 31, uint64_t{1} << 40, UINT64_MAX - 2}) {
    entry.offset = offset;
    CHECK(ZipError(entry) != "no error");
  }
}

TEST_CASE("zip: more entries than the file can hold are refused before any is read") {
  const std::vector<ZipTestEntry> entries = {Entry("a", "x")};
  Has(ZipError(ZipBytes(entries, {60'000, "", false})), "claims 60000 entries");
  Has(ZipError(ZipBytes(entries, {uint64_t{1} << 40, "", true})), "claims 1099511627776 entries");
  Has(ZipError(ZipBytes(entries, {2, "", false})), "directory");
}

TEST_CASE("zip: entries that share bytes are refused") {
  std::vector<ZipTestEntry> entries = {Entry("first", "0123456789"), Entry("other", "0123456789")};
  entries[1].offset = 0;
  Has(ZipError(ZipBytes(entries)), "overlap");
  // An entry that reaches into the directory.
  ZipTestEntry long_entry = Entry("long", "0123456789");
  long_entry.size = long_entry.packed_size = 30;
  long_entry.torch_style = true;
  Has(ZipError(long_entry), "beyond the directory");
}

TEST_CASE("zip: bombs are refused on opening") {
  ZipTestEntry entry = Entry("bomb", "");
  entry.deflate = true;
  entry.data.assign(100, 0);
  entry.torch_style = true;  // the local header does not contradict
  entry.size = 10'000'000'000;
  Has(ZipError(entry), "cannot unpack to the 10000000000 it claims");
  // Real ones: a thousand times smaller than what they unpack to.
  std::vector<ZipTestEntry> entries(3);
  for (size_t i = 0; i < entries.size(); ++i) {
    entries[i].name = std::to_string(i);
    entries[i].data.resize(size_t{25} << 20);
    entries[i].deflate = true;
  }
  Has(ZipError(ZipBytes(entries)), "a zip bomb");
  entries.pop_back();
  CHECK(OpenZip(ZipBytes(entries)).entries().size() == 2);
}

TEST_CASE("zip: a deflated entry that unpacks to something else is an error") {
  ZipTestEntry entry = Entry("packed", std::string(1000, 'x'));
  entry.deflate = entry.torch_style = true;
  for (const uint64_t claimed : {uint64_t{999}, uint64_t{1001}}) {
    entry.size = claimed;
    const ZipArchive zip = OpenZip(ZipBytes(std::span(&entry, 1)));
    CHECK_THROWS_AS(zip.Read(zip.entries()[0], ZipArchive::Crc::kTrust), Error);
  }
  entry.size = {};
  auto bytes = ZipBytes(std::span(&entry, 1));
  bytes[64] ^= 0xFF;  // where the data begins
  const ZipArchive zip = OpenZip(bytes);
  CHECK_THROWS_AS(zip.Read(zip.entries()[0], ZipArchive::Crc::kTrust), Error);
}

TEST_CASE("zip: a checksum that does not fit is an error where asked for") {
  ZipTestEntry entry = Entry("damaged", "bytes");
  entry.crc = 1;
  const ZipArchive zip = OpenZip(ZipBytes(std::span(&entry, 1)));
  CHECK(ReadText(zip, "damaged", ZipArchive::Crc::kTrust) == "bytes");
  CHECK_THROWS_WITH(
      zip.Read(zip.entries()[0], ZipArchive::Crc::kCheck),
      "zip entry 'damaged': its checksum does not fit its bytes; the file is damaged");
}

TEST_CASE("zip writer: what it writes reads back, aligned for mapping") {
  const uint64_t zip64_from = GENERATE(uint64_t{0xFFFFFFFF}, uint64_t{20}, uint64_t{0});
  std::vector<uint8_t> bytes;
  ZipWriter writer(
      [&](std::span<const uint8_t> piece) {
        bytes.insert(bytes.end(), piece.begin(), piece.end());
      },
      zip64_from);
  const auto header = TextBytes("header ");
  const auto body = TextBytes("and body of more than twenty bytes");
  writer.Add("first", {header, body});
  writer.Add("second/\xC3\xA9", {body});
  writer.Add("empty", {});
  writer.Finish();
  const auto file = MappedFile::FromBytes(bytes, "written.zip");
  const ZipArchive zip(file);
  CHECK(ReadText(zip, "first") == "header and body of more than twenty bytes");
  CHECK(ReadText(zip, "second/\xC3\xA9") == "and body of more than twenty bytes");
  CHECK(ReadText(zip, "empty").empty());
  for (const ZipEntry& entry : zip.entries()) {
    if (!entry.packed.empty()) CHECK((entry.packed.data() - file->bytes().data()) % 64 == 0);
  }
}

TEST_CASE("zip writer: more entries than 16 bits count get ZIP64 records") {
  std::vector<uint8_t> bytes;
  ZipWriter writer([&](std::span<const uint8_t> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  constexpr size_t kCount = 70'000;
  for (size_t i = 0; i < kCount; ++i) writer.Add(std::to_string(i), {});
  writer.Finish();
  CHECK(OpenZip(bytes).entries().size() == kCount);
}

TEST_CASE("zip writer: a name the format cannot hold is an error") {
  ZipWriter writer([](std::span<const uint8_t>) {});
  CHECK_THROWS_AS(writer.Add("", {}), Error);
  CHECK_THROWS_AS(writer.Add(std::string(70'000, 'x'), {}), Error);
}

}  // namespace
}  // namespace attnmap
