#include "attnmap/pipeline/peak_memory.h"

#include <sys/resource.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace attnmap {

// Where Linux has it, the line that ForgetPeakMemory sets back; getrusage's
// number stays.
double PeakMegabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    long kilobytes = 0;
    if (std::sscanf(line.c_str(), "VmHWM: %ld kB", &kilobytes) == 1) {
      return static_cast<double>(kilobytes) / 1024;
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void ForgetPeakMemory() { std::ofstream("/proc/self/clear_refs") << "5\n"; }

}  // namespace attnmap
