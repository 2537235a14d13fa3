#ifndef ATTNMAP_CLI_PROGRESS_H_
#define ATTNMAP_CLI_PROGRESS_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/cli.h"

namespace attnmap::cli {

// On standard error: a bar on a terminal once a second has passed, else a line
// every few seconds.
class Progress {
 public:
  // unit: "pictures".
  Progress(const Context& context, std::string unit);

  // total: nothing where it is not known.
  void Update(int64_t done, std::optional<int64_t> total);
  // Leaves the line clean for a message.
  void Clear();
  double Seconds() const;

 private:
  const Context& context_;
  std::string unit_;
  bool terminal_;
  bool drawn_ = false;
  double last_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace attnmap::cli

#endif  // ATTNMAP_CLI_PROGRESS_H_
