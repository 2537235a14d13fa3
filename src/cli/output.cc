#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "attnmap/core/error.h"
#include "attnmap/core/one_line.h"
#include "cli/cli.h"

namespace attnmap::cli {
namespace {

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
