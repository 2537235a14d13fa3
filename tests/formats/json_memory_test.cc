// The text of JSON weights does not count as memory, and the floats only once.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "attnmap/formats/json_weights.h"
#include "support/catch.h"
#include "support/temporary.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ATTNMAP_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ATTNMAP_SANITIZED
#endif

namespace attnmap {
namespace {

#ifndef ATTNMAP_SANITIZED
int64_t PeakBytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

// How much the peak rises while `path` is read, in a process of its own.
int64_t PeakOfReading(const std::string& path) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const int64_t before = PeakBytes();
    OpenJsonWeights(MappedFile::Open(path));
    const int64_t rise = PeakBytes() - before;
    std::_Exit(::write(ends[1], &rise, sizeof rise) == sizeof rise ? 0 : 1);
  }
  int64_t rise = 0;
  ::close(ends[1]);
  REQUIRE(::read(ends[0], &rise, sizeof rise) == sizeof rise);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return rise;
}
#endif

TEST_CASE("JSON weights: peak memory is the floats, half as much again, and a little") {
#ifdef ATTNMAP_SANITIZED
  WARN("skipped: sanitizers need memory of their own");
#else
  const test::TemporaryFolder folder;
  const std::string path = folder / "w.json";
  constexpr int64_t kCount = 5'000'000;
  {
    // 12 bytes of text a number, in one tensor: the worst case for a buffer that doubles.
    const std::vector<NamedTensor> tensors = {
        {"w", SharedTensor(Tensor({kCount}, std::vector<float>(kCount, 0.12345679F)))}};
    WriteJsonWeights(path, R"({"format":"attnmap-weights","version":1,"config":{}})", tensors);
  }
  REQUIRE(std::filesystem::file_size(path) > 11 * kCount);
  // Far below 1.5 x the floats + 64 MB, which so small a text would not reach.
  CHECK(PeakOfReading(path) < kCount * 6 + (int64_t{16} << 20));
#endif
}

}  // namespace
}  // namespace attnmap
