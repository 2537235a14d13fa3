#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <map>
#include <new>
#include <string>

#include "attnmap/core/error.h"
#include "attnmap/pipeline/session.h"
#include "cli/cli.h"

namespace attnmap::cli {
namespace {

StopFlag stop_requested{false};

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kInterrupted = 130;

// Commands that look at the stop flag between stages; the others end at once:
// what they were writing has no name yet, or loses it.
volatile std::sig_atomic_t stops_by_itself = 0;

// The first signal asks for a stop, a second ends at once.
void OnSignal(int /*signal*/) {
  if (stops_by_itself != 0 && !stop_requested.exchange(true)) return;
  constexpr char kLine[] = "attnmap: interrupted\n";
  RemoveUnfinishedOutputs();
  static_cast<void>(::write(STDERR_FILENO, kLine, sizeof(kLine) - 1) + 1);
  ::_exit(kInterrupted);
}

// One line in our own form out of one of CLI11's.
std::string Rewritten(const CLI::Error& error, const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  const std::string command = chosen.empty() ? "attnmap" : "attnmap " + chosen.back()->get_name();
  std::string text = error.what();
  if (const auto* extras = dynamic_cast<const CLI::ExtrasError*>(&error)) {
    (void)extras;
    const size_t colon = text.find(": ");
    const std::string words = colon == std::string::npos ? text : text.substr(colon + 2);
    const bool option = words.starts_with("-");
    const size_t dash = words.find(" -");
    if (!option && dash != std::string::npos) {
      text = "unknown option " + words.substr(dash + 1);
      return text + " (see " + command + " --help)";
    }
    text = chosen.empty() && !option
               ? "unknown command '" + words + "'"
               : (option ? "unknown option " : "unexpected argument ") + words;
  }
  constexpr std::string_view kNotANumber = "Could not convert: ";
  if (text.starts_with(kNotANumber)) {
    const size_t equals = text.find(" = ");
    const std::string option = text.substr(kNotANumber.size(), equals - kNotANumber.size());
    text = option + " takes a number" +
           (equals == std::string::npos ? "" : ", not '" + text.substr(equals + 3) + "'");
  }
  return text + " (see " + command + " --help)";
}

int Dispatch(int argc, char** argv) {
  CLI::App app("What a Vision Transformer looks at: attention maps of pictures.", "attnmap");
  Context context;
  app.set_version_flag("--version", "attnmap " ATTNMAP_VERSION);
  app.add_flag("-q,--quiet", context.quiet, "Say nothing but errors");
  app.add_flag("-v,--verbose", context.verbose, "Say more");
  app.set_config("--config", "", "Read options from a TOML or INI file");
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.require_subcommand(0, 1);
  app.fallthrough();
  app.footer("Without --model the demo model is used. attnmap COMMAND --help tells more.");

  std::map<std::string, Command> commands;
  commands["run"] = SetupRun(app);
  commands["batch"] = SetupBatch(app);
  commands["dump"] = SetupDump(app);
  commands["explain"] = SetupExplain(app);
  commands["stats"] = SetupStats(app);
  commands["video"] = SetupVideo(app);
  commands["inspect"] = SetupInspect(app);
  commands["convert"] = SetupConvert(app);
  commands["init"] = SetupInit(app);
  commands["bench"] = SetupBench(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);  // --help, --version
  } catch (const CLI::Error& error) {
    SayError(Rewritten(error, app));
    return kWrongUsage;
  }
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    std::fputs(app.help().c_str(), stderr);
    return kWrongUsage;
  }
  context.resources = FindResources();
  context.stop = &stop_requested;
  const std::string name = chosen.front()->get_name();
  const bool looks = name == "run" || name == "batch" || name == "video" || name == "bench";
  stops_by_itself = looks ? 1 : 0;
  return commands.at(name)(context);
}

}  // namespace
}  // namespace attnmap::cli

int main(int argc, char** argv) {
  using namespace attnmap;  // NOLINT(google-build-using-namespace)
  std::signal(SIGINT, cli::OnSignal);
  std::signal(SIGTERM, cli::OnSignal);
  // The terminal is closed; nohup has it ignored.
  if (std::signal(SIGHUP, cli::OnSignal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  try {
    return cli::Dispatch(argc, argv);
  } catch (const Interrupted& error) {
    cli::SayError(error.what());
    return cli::kInterrupted;
  } catch (const UsageError& error) {
    cli::SayError(error.what());
    return cli::kWrongUsage;
  } catch (const Error& error) {
    cli::SayError(error.what());
  } catch (const std::bad_alloc&) {
    cli::SayError("not enough memory");
  } catch (const std::exception& error) {
    cli::SayError(std::string("internal error: ") + error.what());
  }
  return cli::kFailed;
}
