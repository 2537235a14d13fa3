#include "attnmap/formats/arrays.h"
#include "formats/array_checks.h"
#include "formats/npy_writer.h"
#include "formats/zip_writer.h"

namespace attnmap {
namespace {

void PutNpz(std::span<const ArrayToWrite> arrays, const std::string& header, ZipWriter::Sink sink) {
  RequireWritable(arrays);
  ZipWriter zip(std::move(sink));
  for (const ArrayToWrite& array : arrays) {
    const std::string preamble = NpyPreamble(array.shape);
    zip.Add(array.name + ".npy", {AsBytes(preamble), AsBytes(array.values)});
  }
  if (!header.empty()) zip.Add(kArchiveHeader, {AsBytes(header)});
  zip.Finish();
}

}  // namespace

std::vector<uint8_t> NpzBytes(std::span<const ArrayToWrite> arrays, const std::string& header) {
  std::vector<uint8_t> bytes;
  PutNpz(arrays, header, [&](std::span<const uint8_t> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  });
  return bytes;
}

void WriteNpz(const std::string& path, std::span<const ArrayToWrite> arrays,
              const std::string& header) {
  AtomicFile file(path);
  PutNpz(arrays, header, [&](std::span<const uint8_t> part) { file.Write(part); });
  file.Commit();
}

}  // namespace attnmap
