#include "cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace attnmap::cli {
namespace {

std::string Bar(int64_t done, int64_t total) {
  constexpr int64_t kWidth = 30;
  const auto filled = static_cast<size_t>(std::clamp<int64_t>(kWidth * done / total, 0, kWidth));
  return "[" + std::string(filled, '#') + std::string(kWidth - filled, '.') + "] ";
}

}  // namespace

Progress::Progress(const Context& context, std::string unit)
    : context_(context), unit_(std::move(unit)), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::Update(int64_t done, std::optional<int64_t> total) {
  const double seconds = Seconds();
  constexpr double kFirst = 1;
  const double interval = terminal_ ? 0.1 : 5;
  if (context_.quiet || seconds < kFirst || seconds - last_ < interval || done == total) return;
  last_ = seconds;
  const bool known = total && *total > done && done > 0;
  std::string text = std::to_string(done);
  if (known) {
    const double left = seconds / static_cast<double>(done) * static_cast<double>(*total - done);
    text += " of " + std::to_string(*total) + " " + unit_ + ", " +
            std::to_string(static_cast<int64_t>(left + 0.5)) + " s left";
  } else {
    text += " " + unit_;
  }
  if (!terminal_) return Say(context_, text);
  const std::string line = "\r" + (known ? Bar(done, *total) : std::string()) + text + "   ";
  std::fwrite(line.data(), 1, line.size(), stderr);
  drawn_ = true;
}

void Progress::Clear() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
  drawn_ = false;
}

double Progress::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

}  // namespace attnmap::cli
