#ifndef ATTNMAP_TESTS_SUPPORT_PEAK_MEMORY_H_
#define ATTNMAP_TESTS_SUPPORT_PEAK_MEMORY_H_

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "support/catch.h"

namespace attnmap::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

// By how many bytes the peak rises while `work` runs in a process of its own;
// nothing, and that is said, where a sanitizer keeps memory of its own beside.
template <typename Work>
std::optional<int64_t> PeakRise(const Work& work) {
  if (kSanitized) {
    WARN("skipped: sanitizers need memory of their own");
    return std::nullopt;
  }
  const auto peak = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return int64_t{usage.ru_maxrss} * 1024;
  };
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const int64_t before = peak();
    work();
    const int64_t rise = peak() - before;
    std::_Exit(::write(ends[1], &rise, sizeof rise) == sizeof rise ? 0 : 1);
  }
  int64_t rise = 0;
  ::close(ends[1]);
  REQUIRE(::read(ends[0], &rise, sizeof rise) == sizeof rise);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return rise;
}

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_SUPPORT_PEAK_MEMORY_H_
