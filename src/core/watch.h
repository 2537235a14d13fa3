#ifndef ATTNMAP_CORE_WATCH_H_
#define ATTNMAP_CORE_WATCH_H_

#include <chrono>

namespace attnmap {

// How long a thread looks for news before it sleeps. A model's phases follow
// one another within microseconds, waking a thread takes tens of them.
inline constexpr auto kPatience = std::chrono::microseconds(60);

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

// Waits for `done` without sleeping, not for long; whether it came.
template <typename Done>
bool Watch(const Done& done) {
  constexpr int kLooks = 64;  // between two at the clock
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    for (int i = 0; i < kLooks; ++i) {
      if (done()) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

}  // namespace attnmap

#endif  // ATTNMAP_CORE_WATCH_H_
