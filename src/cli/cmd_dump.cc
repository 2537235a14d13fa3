#include <CLI/CLI.hpp>
#include <memory>

#include "attnmap/core/error.h"
#include "attnmap/pipeline/dump.h"
#include "attnmap/pipeline/session.h"
#include "cli/cli.h"

namespace attnmap::cli {
namespace {

struct DumpArguments {
  std::string image;
  std::string what;
  std::string output;
  std::string format;
  ModelArguments model;
  InputArguments input;
  SelectionArguments selection;
};

int RunDumpCommand(const DumpArguments& arguments, const Context& context) {
  DumpOptions options;
  options.kinds = ParseDumpKinds(arguments.what);
  options.image = arguments.image;
  if (options.image.empty() && NeedsImage(options.kinds)) {
    throw UsageError("dump needs a picture for --what " + arguments.what +
                     " (only --what model does without)");
  }
  options.input = arguments.input.Input(context);
  options.selection = arguments.selection.Selection();
  options.output = arguments.output;
  const OutputFormat format = ParseOutputFormat(arguments.output, arguments.format);
  if (format.picture) {
    throw UsageError("dump writes json, npy, npz, safetensors or csv, not pictures: " +
                     arguments.output);
  }
  options.format = format.array_format;
  CheckDump(options);
  options.model = arguments.model.Model(context);
  CheckOutput(options.output, {options.image, options.input.on}, {options.model.path});
  const DumpResult result = RunDump(options);
  if (options.output == "-") Print(result.bytes);
  constexpr size_t kListed = 8;
  std::string line =
      "wrote " + (options.output == "-" ? std::string("standard output") : options.output) + ":";
  for (size_t i = 0; i < result.arrays.size() && i < kListed; ++i) {
    line += (i == 0 ? " " : ", ") + result.arrays[i];
  }
  if (result.arrays.size() > kListed) {
    line += " and " + std::to_string(result.arrays.size() - kListed) + " more";
  }
  for (const std::string& note : result.notes) line += "; " + note;
  Say(context, line);
  return 0;
}

}  // namespace

Command SetupDump(CLI::App& parent) {
  CLI::App* app =
      parent.add_subcommand("dump", "The matrices themselves: json, npy, npz, csv, ...");
  auto arguments = std::make_shared<DumpArguments>();
  app->add_option("IMAGE", arguments->image, "The picture, or - for standard input");
  arguments->model.AddTo(*app);
  arguments->input.AddTo(*app);
  app->add_option(
         "--what", arguments->what,
         "One or several, comma separated: attention, scores (before scaling), query, key, "
         "value, tokens, output, hidden, pixels, map, logits, class_token_output, "
         "last_hidden_state, image_embedding, pool_attention, model")
      ->required()
      ->group("Selection");
  arguments->selection.AddTo(*app, true);
  app->add_option("-o,--output", arguments->output,
                  "File to write (.json, .npy, .npz, .safetensors, .csv); - is standard output")
      ->required()
      ->group("Output");
  app->add_option("--format", arguments->format, "The format, whatever the ending")
      ->group("Output");
  app->footer(
      "Examples:\n"
      "  attnmap dump data/images/coffee.png --what attention,scores -o attention.npz\n"
      "  attnmap dump data/images/coffee.png --what map --head 0 -o - --format json");
  return [arguments](const Context& context) { return RunDumpCommand(*arguments, context); };
}

}  // namespace attnmap::cli
