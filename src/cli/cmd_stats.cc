#include <CLI/CLI.hpp>
#include <memory>

#include "attnmap/core/error.h"
#include "attnmap/core/number_text.h"
#include "attnmap/pipeline/session.h"
#include "attnmap/pipeline/stats.h"
#include "cli/cli.h"

namespace attnmap::cli {
namespace {

struct StatsArguments {
  std::vector<std::string> images;
  std::string output;
  std::string format;
  std::string plot;
  bool json = false;
  ModelArguments model;
  InputArguments input;
  SelectionArguments selection;
  const CLI::App* app = nullptr;
};

// What is printed on standard output.
enum class Shown { kTable, kJsonLines, kFile, kNothing };

// Fills in where the numbers go; says what is left for standard output.
Shown SetOutput(const StatsArguments& arguments, StatsOptions& options) {
  const bool named = arguments.app->count("--output") > 0;
  if (named && arguments.output.empty()) {
    throw UsageError("--output is empty: name a file, or - for standard output");
  }
  if (!named && arguments.format.empty()) {
    return arguments.json ? Shown::kJsonLines : Shown::kTable;
  }
  const std::string output = named ? arguments.output : "-";
  const auto format = FindOutputFormat(output, arguments.format);
  if (!format || format->picture ||
      (format->array_format != ArrayFormat::kCsv && format->array_format != ArrayFormat::kJson)) {
    throw UsageError("stats writes csv or json with -o, told by the ending or --format, not '" +
                     (arguments.format.empty() ? output : arguments.format) +
                     "'; the figure comes with --plot FILE.png");
  }
  options.format = format->array_format;
  if (output == "-") {
    if (arguments.json) throw UsageError("--json and --format both want standard output");
    return Shown::kFile;
  }
  options.output = output;
  return arguments.json ? Shown::kJsonLines : Shown::kNothing;
}

void SetFigure(const StatsArguments& arguments, const Context& context, StatsOptions& options) {
  if (arguments.app->count("--plot") == 0) return;
  if (arguments.plot.empty() || arguments.plot == "-") {
    throw UsageError("--plot takes a file to write: png, jpg, webp or tiff");
  }
  const auto format = FindOutputFormat(arguments.plot, {});
  if (!format || !format->picture || format->vector) {
    throw UsageError("--plot '" + arguments.plot +
                     "' is no picture, told by its ending: png, jpg, webp or tiff");
  }
  options.figure = arguments.plot;
  options.figure_format = format->picture_format;
  options.font = context.resources.font;
  options.fallback_fonts = context.resources.fallback_fonts;
}

std::string WroteLine(const StatsOptions& options, const std::vector<ImageStatistics>& all) {
  std::string line = "wrote " + options.output;
  if (!options.output.empty() && !options.figure.empty()) line += " and ";
  line += options.figure + ": " + Counted(std::ssize(all.front().heads), "head");
  if (all.size() > 1) line += ", of each of " + std::to_string(all.size()) + " pictures";
  return line;
}

// At the very end, so that an error stays alone on standard error.
void SayDone(const StatsOptions& options, const std::vector<ImageStatistics>& all,
             const Context& context) {
  std::vector<std::string> notes;
  for (const ImageStatistics& one : all) MergeNotes(one.notes, notes);
  if (!options.output.empty() || !options.figure.empty()) {
    return Say(context, WroteLine(options, all) + NotesText(notes));
  }
  for (const std::string& note : notes) Say(context, note);
}

int RunStatsCommand(const StatsArguments& arguments, const Context& context) {
  StatsOptions options;
  options.images = arguments.images;
  options.input = arguments.input.Input(context);
  options.selection = arguments.selection.Selection();
  CheckStats(options);
  const Shown shown = SetOutput(arguments, options);
  SetFigure(arguments, context, options);
  options.model = arguments.model.Model(context);
  std::vector<std::string> inputs = options.images;
  inputs.push_back(options.input.on);
  for (const std::string& file : {options.output, options.figure}) {
    CheckOutput(file, inputs, {options.model.path});
  }
  if (!options.output.empty() && SameFile(options.output, options.figure)) {
    throw UsageError("-o and --plot both name '" + options.figure + "': name two files");
  }
  bool first = true;
  const auto all = RunStats(options, [&](const ImageStatistics& one) {
    if (shown == Shown::kJsonLines) Print(StatsJsonLines(one));
    if (shown == Shown::kTable) Print((first ? "" : "\n") + StatsTable(one));
    first = false;
  });
  if (shown == Shown::kFile) {
    Print(options.format == ArrayFormat::kCsv ? StatsCsv(all) : StatsJson(all));
  }
  SayDone(options, all, context);
  return 0;
}

}  // namespace

Command SetupStats(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("stats", "Entropy, distance and more of every head");
  auto arguments = std::make_shared<StatsArguments>();
  arguments->app = app;
  app->add_option("IMAGE", arguments->images, "Pictures, or - for standard input")->required();
  arguments->model.AddTo(*app);
  arguments->input.AddTo(*app);
  arguments->selection.layer = arguments->selection.head = "all";
  arguments->selection.AddTo(*app, false);
  app->get_option("--layer")->description(
      "last, N (from 0), -N (from the end), A:B (B excluded), all [all]");
  app->get_option("--head")->description("N, a list such as 0,3,5, or all [all]");
  app->get_option("--query")->description(
      "Whose mass on outliers is given: class, ROW,COL, px:X,Y or token:N [class]");
  app->add_flag("--json", arguments->json, "A JSON object a layer and head instead of the table")
      ->group("Output");
  app->add_option("-o,--output", arguments->output,
                  "File to write instead: .csv or .json; - is standard output")
      ->group("Output");
  app->add_option("--format", arguments->format, "csv or json, whatever the ending")
      ->group("Output");
  app->add_option("--plot", arguments->plot,
                  "Picture of distance and entropy, a dot a head (png, jpg, webp, tiff)")
      ->group("Output");
  app->footer(
      "Examples:\n"
      "  attnmap stats data/images/chelsea.png --layer last\n"
      "  attnmap stats data/images/coffee.png -o stats.csv --plot stats.png");
  return [arguments](const Context& context) { return RunStatsCommand(*arguments, context); };
}

}  // namespace attnmap::cli
