#include "cli/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "cli/cli.h"

namespace attnmap::cli {
namespace {

// The user's terminal, its lines given as they are typed while this lives.
class OpenTerminal {
 public:
  OpenTerminal() : descriptor_(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    // A job in the background would be stopped.
    if (descriptor_ < 0 || ::tcgetpgrp(descriptor_) != ::getpgrp()) return;
    if (::tcgetattr(descriptor_, &before_) != 0) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    ready_ = ::tcsetattr(descriptor_, TCSANOW, &raw) == 0;
  }
  ~OpenTerminal() {
    // An answer that comes late is not for the shell.
    if (ready_) ::tcsetattr(descriptor_, answered_ ? TCSANOW : TCSAFLUSH, &before_);
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  OpenTerminal(const OpenTerminal&) = delete;
  OpenTerminal& operator=(const OpenTerminal&) = delete;

  // What it answers, up to the end of the answer about its attributes; empty
  // where it has not said so much in time. What was typed ahead is lost.
  std::string Ask(std::string_view question) {
    if (!ready_) return {};
    if (::write(descriptor_, question.data(), question.size()) != std::ssize(question)) return {};
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(1);
    std::string answer;
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
      pollfd waiting = {descriptor_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) return {};
      char bytes[256];
      const ssize_t got = ::read(descriptor_, bytes, sizeof bytes);
      if (got <= 0) return {};
      answer.append(bytes, static_cast<size_t>(got));
      const size_t attributes = answer.find("\x1b[?");
      if (attributes != std::string::npos && answer.find('c', attributes) != std::string::npos) {
        answered_ = true;
        return answer;
      }
    }
  }

 private:
  int descriptor_;
  termios before_ = {};
  bool ready_ = false;
  bool answered_ = false;
};

// tmux and screen hand the variables of the terminal around them on, but not its graphics.
bool Multiplexed(std::string_view term) {
  return !Variable("TMUX").empty() || !Variable("STY").empty() || term.starts_with("screen") ||
         term.starts_with("tmux");
}

// Kitty's protocol asks with a picture of one pixel that is not to be shown; its
// answer comes before the one about attributes (DA1), which all terminals give.
// Among the attributes 4 is sixel.
std::optional<TerminalStyle> GraphicsOfTerminal(std::string_view term) {
  if (::isatty(STDOUT_FILENO) == 0) return std::nullopt;
  OpenTerminal terminal;
  const std::string kitty =  // tmux would make it the window's title
      Multiplexed(term) ? "" : "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\";
  const std::string answer = terminal.Ask(kitty + "\x1b[c");
  if (answer.find("\x1b_Gi=31;OK") != std::string::npos) return TerminalStyle::kKitty;
  const size_t begin = answer.find("\x1b[?");
  if (begin == std::string::npos) return std::nullopt;
  std::string attributes = answer.substr(begin + 3, answer.find('c', begin) - begin - 3);
  attributes = ";" + attributes + ";";
  if (attributes.find(";4;") != std::string::npos) return TerminalStyle::kSixel;
  return std::nullopt;
}

TerminalStyle StyleOf(const std::string& chosen) {
  if (!chosen.empty()) return ParseTerminalStyle(chosen);
  const std::string term = Variable("TERM");
  if (!Variable("NO_COLOR").empty() || term == "dumb") return TerminalStyle::kAscii;
  if (const auto graphics = GraphicsOfTerminal(term)) return *graphics;
  const bool kitty = !Variable("KITTY_WINDOW_ID").empty() || term == "xterm-kitty";
  if (kitty && !Multiplexed(term)) return TerminalStyle::kKitty;
  const std::string colours = Variable("COLORTERM");
  const bool all = colours == "truecolor" || colours == "24bit";
  return all ? TerminalStyle::kTrueColour : TerminalStyle::k256;
}

}  // namespace

TerminalOptions FindTerminal(const std::string& chosen) {
  TerminalOptions options;
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    options.cols = size.ws_col;
    // The line that says what was done, and the prompt, stand below.
    constexpr int kBelow = 3;
    if (size.ws_row > kBelow) options.rows = size.ws_row - kBelow;
    if (size.ws_xpixel > 0 && size.ws_ypixel > 0 && size.ws_row > 0) {
      options.letter = {size.ws_ypixel / size.ws_row, size.ws_xpixel / size.ws_col};
    }
  }
  options.style = StyleOf(chosen);
  return options;
}

}  // namespace attnmap::cli
