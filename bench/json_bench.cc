// How fast JSON weights are read and how much memory that takes, against
// nlohmann's own ways with the same file, in the same run: each turn in a
// process of its own, turns interleaved, medians.
//
//   json_bench [FILE]     without FILE: 100 MB of random weights are written

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "aim.h"
#include "attnmap/analysis/outliers.h"
#include "attnmap/formats/json_weights.h"

namespace {

using attnmap::MappedFile;
using attnmap::Median;
using nlohmann::json;

// Numbers as text, 10.4 bytes each: normal weights with their shortest digits.
void WriteWeights(const std::string& path) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.02F);
  std::vector<attnmap::NamedTensor> tensors;
  for (int layer = 0; layer < 8; ++layer) {
    attnmap::Tensor tensor({1000, 1000});
    for (float& value : tensor.values) value = normal(random);
    tensors.push_back({"blocks." + std::to_string(layer), attnmap::SharedTensor(tensor)});
  }
  attnmap::WriteJsonWeights(path, R"({"format":"attnmap-weights","version":1,"config":{}})",
                            tensors);
}

// Every number to a vector, the way nlohmann's SAX interface offers it.
struct PlainSax : nlohmann::json_sax<json> {
  std::vector<float> values;
  bool Add(const char* begin, const char* end) {
    values.push_back(0);
    return std::from_chars(begin, end, values.back()).ec == std::errc();
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t value) override {
    values.push_back(static_cast<float>(value));
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    values.push_back(static_cast<float>(value));
    return true;
  }
  bool number_float(number_float_t, const string_t& text) override {
    return Add(text.data(), text.data() + text.size());
  }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }
};

// Adding the bytes up: what looking at the file costs at least.
void ReadOnly(const std::string& path) {
  const auto file = MappedFile::Open(path);
  uint64_t sum = 0;
  for (size_t i = 0; i < file->bytes().size(); ++i) sum += file->bytes()[i];
  if (sum == 1) std::puts("");
}

void ReadOurs(const std::string& path) { attnmap::OpenJsonWeights(MappedFile::Open(path)); }

void ReadSax(const std::string& path) {
  const auto file = MappedFile::Open(path);
  const auto* begin = reinterpret_cast<const char*>(file->bytes().data());
  PlainSax sax;
  if (!json::sax_parse(begin, begin + file->bytes().size(), &sax)) std::abort();
}

void ReadDom(const std::string& path) {
  const auto file = MappedFile::Open(path);
  const auto* begin = reinterpret_cast<const char*>(file->bytes().data());
  if (json::parse(begin, begin + file->bytes().size()).empty()) std::abort();
}

struct Turn {
  double seconds = 0;  // of the processor: other programs do not count
  double peak_mb = 0;
};

double ProcessorSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

Turn Measure(void (*read)(const std::string&), const std::string& path) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    const double start = ProcessorSeconds();
    read(path);
    const double seconds = ProcessorSeconds() - start;
    if (::write(ends[1], &seconds, sizeof seconds) != sizeof seconds) std::abort();
    std::_Exit(0);
  }
  Turn turn;
  ::close(ends[1]);
  if (::read(ends[0], &turn.seconds, sizeof turn.seconds) != sizeof turn.seconds) std::abort();
  ::close(ends[0]);
  rusage usage{};
  int status = 0;
  ::wait4(child, &status, 0, &usage);
  turn.peak_mb = static_cast<double>(usage.ru_maxrss) / 1024;
  return turn;
}

}  // namespace

int main(int argc, char** argv) {
  std::string path;
  std::string temporary;
  if (argc > 1) {
    path = argv[1];
  } else {
    path = temporary =
        (std::filesystem::temp_directory_path() / "attnmap-json-bench.json").string();
    // In a process of its own, so that its memory is not counted below.
    if (const pid_t child = ::fork(); child == 0) {
      WriteWeights(path);
      std::_Exit(0);
    }
    ::wait(nullptr);
  }
  struct Way {
    const char* name;
    void (*read)(const std::string&);
    std::vector<double> seconds;
    double peak_mb = 0;
  };
  Way ways[] = {{"bytes only", ReadOnly, {}, 0},
                {"attnmap", ReadOurs, {}, 0},
                {"nlohmann SAX", ReadSax, {}, 0},
                {"nlohmann DOM", ReadDom, {}, 0}};
  for (int turn = 0; turn < 5; ++turn) {
    for (Way& way : ways) {
      const Turn result = Measure(way.read, path);
      way.seconds.push_back(result.seconds);
      way.peak_mb = std::max(way.peak_mb, result.peak_mb);
    }
  }
  const double mb = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  int64_t count = 0;
  const auto archive = attnmap::OpenJsonWeights(MappedFile::Open(path));
  for (const auto& info : archive->tensors()) count += attnmap::NumElements(info.shape);
  const double floats_mb = static_cast<double>(count) * 4 / 1048576;
  std::printf("%.1f MB of JSON, %.1f million numbers, %.1f MiB as float32\n", mb,
              static_cast<double>(count) / 1e6, floats_mb);
  std::printf("%-14s %9s %9s %9s %12s\n", "", "seconds", "MB/s", "times", "peak MiB");
  const double ours = Median(ways[1].seconds);
  for (const Way& way : ways) {
    const double seconds = Median(way.seconds);
    std::printf("%-14s %9.3f %9.0f %9.2f %12.0f\n", way.name, seconds, mb / seconds, seconds / ours,
                way.peak_mb);
  }
  attnmap::bench::PrintAim("JSON weights of 100 MB", attnmap::bench::Sense::kAtLeast, 250,
                           mb / ours, "MB/s");
  attnmap::bench::PrintAim("JSON weights of 100 MB, memory (1.5 x floats + 64 MB)",
                           attnmap::bench::Sense::kAtMost, 1.5 * floats_mb + 64e6 / 1048576,
                           ways[1].peak_mb, "MiB");
  if (!temporary.empty()) std::filesystem::remove(temporary);
  return 0;
}
