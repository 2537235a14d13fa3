// The preview in a terminal that answers: a pseudo terminal with this test at its other end.

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "cli/support.h"
#include "support/catch.h"

using namespace attnmap::test;

namespace {

struct Answering {
  std::string answer;  // to the question about attributes; empty: none
  std::map<std::string, std::string> env;
};

struct Session {
  std::string shown;   // what the program sent
  int status = -1;     // of waitpid
  termios after = {};  // how it left the terminal
};

// The program at a terminal of 40 letters by 30 lines, each of 8 x 16 pixels.
Session At(const Answering& terminal) {
  winsize size = {};
  size.ws_col = 40;
  size.ws_row = 30;
  size.ws_xpixel = 320;
  size.ws_ypixel = 480;
  int master = -1;
  const pid_t child = forkpty(&master, nullptr, nullptr, &size);
  REQUIRE(child >= 0);
  if (child == 0) {
    for (const char* name : {"TERM", "COLORTERM", "KITTY_WINDOW_ID", "TMUX", "STY", "NO_COLOR"}) {
      unsetenv(name);
    }
    for (const auto& [name, value] : terminal.env) setenv(name.c_str(), value.c_str(), 1);
    const std::string photo = Photo("coffee.png").string();
    execl(Program().c_str(), "attnmap", "run", photo.c_str(), "--layout", "terminal", "-q",
          static_cast<char*>(nullptr));
    _exit(127);
  }
  Session session;
  std::string& shown = session.shown;
  bool answered = false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(240);
  while (std::chrono::steady_clock::now() < end) {
    pollfd waiting = {master, POLLIN, 0};
    if (poll(&waiting, 1, 1000) == 0) continue;
    char bytes[4096];
    const ssize_t got = read(master, bytes, sizeof bytes);
    tcgetattr(master, &session.after);
    if (got <= 0) break;
    shown.append(bytes, static_cast<size_t>(got));
    if (answered || shown.find("\x1b[c") == std::string::npos) continue;
    answered = true;
    if (write(master, terminal.answer.data(), terminal.answer.size()) < 0) break;
  }
  close(master);
  waitpid(child, &session.status, 0);
  return session;
}

std::string Shown(const Answering& terminal) {
  const Session session = At(terminal);
  CHECK(WIFEXITED(session.status));
  CHECK(WEXITSTATUS(session.status) == 0);
  return session.shown;
}

bool Holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the terminal is asked for graphics and believed, whatever the environment says") {
  const std::string xterm = "\x1b[?62;22c";
  const std::string sixel = Shown({"\x1b[?62;4;22c", {{"TERM", "xterm-256color"}}});
  CHECK(Holds(sixel, "\x1bPq\"1;1;320;"));  // as wide as its 40 letters of 8 pixels
  const std::string kitty = Shown({"\x1b_Gi=31;OK\x1b\\" + xterm, {{"TERM", "xterm-ghostty"}}});
  CHECK(Holds(kitty, "\x1b_Gf=100,a=T,q=2,c=40,"));
  const std::string blocks = Shown({xterm, {{"COLORTERM", "truecolor"}}});
  CHECK(Holds(blocks, "\x1b[38;2;"));
  CHECK(Holds(blocks, "▀"));
  // What comes back when the terminal does not know the question is no sixel: 4 stands alone.
  CHECK(Holds(Shown({"\x1b[?64;14c", {}}), "\x1b[38;5;"));
}

TEST_CASE("tmux hands on the variables of the terminal around it, not its graphics") {
  const std::string answer = "\x1b[?1;2c";
  const std::string inside =
      Shown({answer, {{"KITTY_WINDOW_ID", "1"}, {"TMUX", "tmux,1,0"}, {"TERM", "tmux-256color"}}});
  CHECK_FALSE(Holds(inside, "\x1b_G"));  // which tmux would make the window's title
  CHECK(Holds(inside, "▀"));
}

TEST_CASE("a terminal that does not answer is not waited for, nor one that is told its style") {
  const std::string silent = Shown({"", {{"COLORTERM", "truecolor"}}});
  CHECK(Holds(silent, "\x1b[38;2;"));
  const std::string told = Shown({"", {{"ATTNMAP_TERMINAL", "256"}}});
  CHECK_FALSE(Holds(told, "\x1b[c"));
  CHECK(Holds(told, "\x1b[38;5;"));
  CHECK_FALSE(Holds(Shown({"", {{"NO_COLOR", "1"}}}), "\x1b"));
}

TEST_CASE(
    "Ctrl-C twice while a terminal is asked ends the program and leaves the terminal as it was") {
  const Session session = At({"\x03\x03", {}});
  CHECK(WIFEXITED(session.status));
  CHECK(WEXITSTATUS(session.status) == 130);
  CHECK((session.after.c_lflag & ECHO) != 0);
  CHECK((session.after.c_lflag & ICANON) != 0);
}
