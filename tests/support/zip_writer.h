#ifndef ATTNMAP_TESTS_SUPPORT_ZIP_WRITER_H_
#define ATTNMAP_TESTS_SUPPORT_ZIP_WRITER_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnmap/core/tensor.h"

namespace attnmap::test {

// One entry of an archive, and the lies to be told about it.
struct ZipTestEntry {
  std::string name;
  std::vector<uint8_t> data;  // unpacked
  bool deflate = false;

  // As torch does it: sizes only behind the data and in the directory, data
  // aligned to 64 bytes.
  bool torch_style = false;
  // What the directory claims instead of the truth.
  std::optional<uint64_t> size;
  std::optional<uint64_t> packed_size;
  std::optional<uint64_t> offset;
  std::optional<uint32_t> crc;
  std::optional<uint16_t> method;
  uint16_t flags = 0;
  uint16_t disk = 0;
};

struct ZipTestOptions {
  std::optional<uint64_t> num_entries;  // what the end record claims
  std::string comment;
  bool zip64_end = false;
};

// A whole archive. Values beyond 32 bits go into ZIP64 fields.
std::vector<uint8_t> ZipBytes(std::span<const ZipTestEntry> entries,
                              const ZipTestOptions& options = {});

// np.savez_compressed's file (or np.savez's, where `deflate` is false).
std::vector<uint8_t> NumpyArchiveBytes(std::span<const NamedTensor> tensors, bool deflate = true);

// The bytes of a text.
std::vector<uint8_t> TextBytes(std::string_view text);

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_SUPPORT_ZIP_WRITER_H_
