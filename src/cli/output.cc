#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "attnmap/core/error.h"
#include "cli/cli.h"

namespace attnmap::cli {
namespace {

// A message stays one line, and moves no cursor, whatever a file name holds:
// control characters (C0, DEL, and C1 as UTF-8 has them) become blanks.
std::string OneLine(const std::string& text) {
  std::string line;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool c1 = byte >= 0x80 && byte < 0xA0 && !line.empty() && line.back() == '\xC2';
    if (c1) line.back() = ' ';
    if (!c1) line += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  return line;
}

void PutLine(const std::string& line) {
  const std::string text = "attnmap: " + OneLine(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

void Say(const Context& context, const std::string& line) {
  if (!context.quiet) PutLine(line);
}

void SayDetail(const Context& context, const std::string& line) {
  if (context.verbose) PutLine(line);
}

void SayError(const std::string& line) { PutLine(line); }

void Print(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() ||
      std::fflush(stdout) != 0) {
    throw Error("cannot write standard output: " + std::generic_category().message(errno));
  }
}

}  // namespace attnmap::cli
