#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>

#include "attnmap/core/error.h"
#include "attnmap/pipeline/run.h"
#include "attnmap/pipeline/session.h"
#include "cli/cli.h"

namespace attnmap::cli {
namespace {

struct RunOptions {
  std::vector<std::string> images;
  std::string output;
  std::string format;
  bool json = false;
  bool objects = false;
  bool list_colormaps = false;
  ModelArguments model;
  InputArguments input;
  SelectionArguments selection;
  PictureArguments picture;
  const CLI::App* app = nullptr;
};

int ListColormaps() {
  std::string list;
  for (const std::string& name : ColourMaps()) list += name + "\n";
  Print(list);
  return 0;
}

std::string OutputName(const RunOptions& options, const MapJob& job) {
  if (options.app->count("--output") > 0 && options.output.empty()) {
    throw UsageError("--output is empty: name a file, or - for standard output");
  }
  if (job.picture.layout == Layout::kTerminal) {
    if (!options.output.empty() && options.output != "-") {
      throw UsageError("--layout terminal prints to standard output: leave -o out");
    }
    return "-";
  }
  if (!options.output.empty()) return options.output;
  return options.images.size() == 1 ? DefaultOutputName(options.images[0]) : "sheet.attnmap.png";
}

void SayModels(const RunOptions& options, const std::vector<ModelOptions>& models,
               const MapJob& job, double seconds, const Context& context) {
  for (const ModelOptions& model : models) SayDetail(context, "model " + model.path);
  SayDetail(context, std::to_string(NumThreads(job.selection)) + " threads, " +
                         std::to_string(seconds) + " s for " +
                         (options.images.size() == 1 ? "the picture" : "the pictures"));
}

int RunOnePicture(const RunOptions& options, const std::string& output, const MapJob& job,
                  const ModelOptions& model, const Context& context) {
  const OneResult one = RunOne(model, {options.images[0], output}, job, context.stop);
  if (output == "-") Print(one.bytes);
  if (options.json) {
    Print(RecordJson(one.result, model.path, SettingsJson(job), std::nullopt, true) + "\n");
  }
  SayModels(options, {model}, job, one.result.seconds, context);
  Say(context, SuccessLine(one.result, job));
  return 0;
}

int RunContactSheet(const RunOptions& options, const std::string& output, const MapJob& job,
                    const std::vector<ModelOptions>& models, const Context& context) {
  if (!job.format.picture) {
    throw UsageError(
        "several pictures or models make a contact sheet, which is a picture: use attnmap batch "
        "for the maps themselves");
  }
  const SheetPictures sheet{options.images, models, output};
  const SheetResult done = RunSheet(sheet, job, context.stop);
  if (output == "-") Print(done.bytes);
  double seconds = 0;
  for (size_t i = 0; i < done.results.size(); ++i) {
    seconds += done.results[i].seconds;
    if (!options.json) continue;
    Print(RecordJson(done.results[i], models[i % models.size()].path, SettingsJson(job),
                     std::nullopt, true) +
          "\n");
  }
  SayModels(options, models, job, seconds, context);
  Say(context, SheetSuccessLine(done.results, sheet, job));
  return 0;
}

int RunRun(const RunOptions& options, const Context& context) {
  if (options.list_colormaps) return ListColormaps();
  if (options.images.empty()) throw UsageError("run needs a picture: attnmap run IMAGE");
  MapJob job = MakeJob(options.input, options.selection, options.picture, context);
  const std::string output = OutputName(options, job);
  const bool chosen = !options.output.empty() || !options.format.empty();
  const bool terminal = job.picture.layout == Layout::kTerminal;
  if (terminal && !options.format.empty()) {
    throw UsageError("--format does nothing with --layout terminal: leave it out");
  }
  if (terminal && options.json) {
    throw UsageError("--layout terminal and --json both want standard output: leave one out");
  }
  job.format = ParseOutputFormat(output, chosen && !terminal ? options.format : "png");
  job.want_classes = true;
  job.objects = options.objects;
  CheckJob(job);
  if (options.objects && !options.json) {
    throw UsageError("--objects puts boxes into the record: give --json as well");
  }
  if (terminal) job.terminal = options.picture.Terminal();  // which may be asked
  if (output == "-" && options.json) {
    throw UsageError("-o - and --json both want standard output: write to a file");
  }
  const std::vector<ModelOptions> models = options.model.Models(context);
  std::vector<std::string> inputs = options.images;
  inputs.push_back(job.input.on);
  std::vector<std::string> model_paths;
  model_paths.reserve(models.size());
  for (const ModelOptions& model : models) model_paths.push_back(model.path);
  CheckOutput(output, inputs, model_paths);
  if (options.images.size() == 1 && models.size() == 1) {
    CheckOnePicture(job);
    return RunOnePicture(options, output, job, models[0], context);
  }
  const auto reads = std::count(options.images.begin(), options.images.end(), "-");
  if (reads * static_cast<std::ptrdiff_t>(models.size()) > 1) {
    throw UsageError("standard input (-) can be read only once");
  }
  return RunContactSheet(options, output, job, models, context);
}

}  // namespace

Command SetupRun(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("run", "One picture: its attention map; several: a sheet");
  auto options = std::make_shared<RunOptions>();
  options->app = app;
  app->add_option("IMAGE", options->images,
                  "The picture, or - for standard input; a .npy holds prepared pixels; several "
                  "make a contact sheet");
  options->model.AddTo(*app, false, true);
  options->input.AddTo(*app);
  options->selection.AddTo(*app, true);
  options->picture.AddTo(*app, true);
  app->add_flag("--list-colormaps", options->list_colormaps, "List the colour maps and stop")
      ->group("Picture");
  app->add_option("-o,--output", options->output,
                  "File to write; its ending chooses png, jpg, webp, tiff, svg, pdf (pictures) or "
                  "json, npy, "
                  "npz, safetensors, csv (the map); - is standard output [STEM.attnmap.png; of "
                  "several pictures sheet.attnmap.png]")
      ->group("Output");
  app->add_option("--format", options->format, "The format, whatever the ending")->group("Output");
  app->add_flag("--json", options->json, "Print a record of the result on standard output")
      ->group("Output");
  app->add_flag("--objects", options->objects,
                "Boxes and areas of the connected parts of the --mass mask [0.6], into the record")
      ->group("Output");
  app->footer(
      "Examples:\n"
      "  attnmap run data/images/chelsea.png\n"
      "  attnmap run data/images/coffee.png --layer all --head all -o sheet.png");
  return [options](const Context& context) { return RunRun(*options, context); };
}

}  // namespace attnmap::cli
