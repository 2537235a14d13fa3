// The pickle in a checkpoint: the bytes become data.pkl of an archive with two
// small storages, so that no directory has to be guessed to get there.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "formats/zip_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> bytes;
  attnmap::ZipWriter zip(
      [&](std::span<const uint8_t> part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
  const std::vector<uint8_t> numbers(64, 0x3C);
  zip.Add("fuzz/data.pkl", {{data, size}});
  zip.Add("fuzz/data/0", {numbers});
  zip.Add("fuzz/data/1", {numbers});
  zip.Finish();
  const auto file = attnmap::MappedFile::FromBytes(std::move(bytes), "fuzz.pth");
  for (const char* key : {"", "a.b"}) {
    try {
      const auto archive = attnmap::OpenTorch(file, key);
      for (size_t i = 0; i < archive->tensors().size(); ++i) archive->Load(i);
    } catch (const attnmap::Error&) {
    }
  }
  return 0;
}
