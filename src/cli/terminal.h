#ifndef ATTNMAP_CLI_TERMINAL_H_
#define ATTNMAP_CLI_TERMINAL_H_

#include <string>

#include "attnmap/pipeline/options.h"

namespace attnmap::cli {

// How to draw on standard output. `chosen`: the style's name, empty where it is
// left to what the environment and, where standard output is one, the terminal
// itself say. Throws UsageError for a style that is not known.
TerminalOptions FindTerminal(const std::string& chosen);

}  // namespace attnmap::cli

#endif  // ATTNMAP_CLI_TERMINAL_H_
