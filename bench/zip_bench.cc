// How fast archives are opened and read: milliseconds, the best of several
// turns. With a path, that file; else archives of 1000 entries of 4 KiB.
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/formats/file.h"
#include "formats/zip_archive.h"
#include "formats/zip_writer.h"

namespace {

using attnmap::MappedFile;
using attnmap::ZipArchive;

// The shortest of many turns.
template <typename Work>
double Milliseconds(Work work) {
  using Clock = std::chrono::steady_clock;
  constexpr int kTurns = 50;
  double best = 1e9;
  for (int turn = 0; turn < kTurns; ++turn) {
    const auto begin = Clock::now();
    work();
    const std::chrono::duration<double, std::milli> taken = Clock::now() - begin;
    best = taken.count() < best ? taken.count() : best;
  }
  return best;
}

std::shared_ptr<const MappedFile> ThousandEntries() {
  std::vector<uint8_t> bytes;
  attnmap::ZipWriter zip(
      [&](std::span<const uint8_t> part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
  std::mt19937 random(1);
  std::vector<uint8_t> entry(4096);
  for (int i = 0; i < 1000; ++i) {
    for (uint8_t& byte : entry) byte = static_cast<uint8_t>(random());
    zip.Add("archive/data/" + std::to_string(i), {entry});
  }
  zip.Finish();
  return MappedFile::FromBytes(std::move(bytes), "1000 entries of 4 KiB");
}

void Report(const std::shared_ptr<const MappedFile>& file) {
  const ZipArchive zip(file);
  size_t stored = 0;
  uint64_t unpacked = 0;
  for (const attnmap::ZipEntry& entry : zip.entries()) {
    stored += entry.stored ? 1 : 0;
    unpacked += entry.size;
  }
  const auto read_all = [&](ZipArchive::Crc crc) {
    for (const attnmap::ZipEntry& entry : zip.entries()) zip.Read(entry, crc);
  };
  std::printf("%s: %zu entries, %zu stored, %.1f MiB unpacked\n", file->path().c_str(),
              zip.entries().size(), stored, static_cast<double>(unpacked) / (1 << 20));
  std::printf("  open, with all positions and checks  %9.3f ms\n",
              Milliseconds([&] { const ZipArchive opened(file); }));
  std::printf("  read all, deflated ones unpacked     %9.3f ms\n",
              Milliseconds([&] { read_all(ZipArchive::Crc::kTrust); }));
  std::printf("  read all, checksums compared         %9.3f ms\n",
              Milliseconds([&] { read_all(ZipArchive::Crc::kCheck); }));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2) Report(ThousandEntries());
    for (int i = 1; i < argc; ++i) Report(MappedFile::Open(argv[i]));
  } catch (const attnmap::Error& error) {
    std::fprintf(stderr, "zip_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
