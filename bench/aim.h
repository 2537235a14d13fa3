#ifndef ATTNMAP_BENCH_AIM_H_
#define ATTNMAP_BENCH_AIM_H_

#include <cstdio>
#include <string>

namespace attnmap::bench {

enum class Sense { kAtLeast, kAtMost };

// What a benchmark found beside what is aimed at, as a line that scripts/bench-aims
// collects: work, aim, measured, measured by aim.
inline void PrintAim(const std::string& work, Sense sense, double aim, double measured,
                     const std::string& unit) {
  std::printf("aim\t%s\t%s %.4g %s\t%.4g\t%.2f\n", work.c_str(),
              sense == Sense::kAtLeast ? "at least" : "at most", aim, unit.c_str(), measured,
              measured / aim);
  std::fflush(stdout);
}

}  // namespace attnmap::bench

#endif  // ATTNMAP_BENCH_AIM_H_
