#include <CLI/CLI.hpp>
#include <memory>

#include "attnmap/core/error.h"
#include "attnmap/pipeline/run.h"
#include "cli/cli.h"

namespace attnmap::cli {
namespace {

struct RunOptions {
  std::string image;
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

int RunRun(const RunOptions& options, const Context& context) {
  if (options.list_colormaps) return ListColormaps();
  if (options.image.empty()) throw UsageError("run needs a picture: attnmap run IMAGE");
  MapJob job = MakeJob(options.input, options.selection, options.picture, context);
  if (options.app->count("--output") > 0 && options.output.empty()) {
    throw UsageError("--output is empty: name a file, or - for standard output");
  }
  const std::string output =
      options.output.empty() ? DefaultOutputName(options.image) : options.output;
  job.format = ParseOutputFormat(
      output, options.output.empty() && options.format.empty() ? "png" : options.format);
  job.want_classes = true;
  job.objects = options.objects;
  CheckJob(job);
  if (options.objects && !options.json) {
    throw UsageError("--objects puts boxes into the record: give --json as well");
  }
  if (output == "-" && options.json) {
    throw UsageError("-o - and --json both want standard output: write to a file");
  }
  const ModelOptions model_options = options.model.Model(context);
  const OneResult one = RunOne(model_options, {options.image, output}, job, context.stop);
  if (output == "-") Print(one.bytes);
  if (options.json) {
    Print(RecordJson(one.result, model_options.path, SettingsJson(job), std::nullopt, true) + "\n");
  }
  SayDetail(context, "model " + model_options.path + ", " +
                         std::to_string(NumThreads(job.selection)) + " threads, " +
                         std::to_string(one.result.seconds) + " s for the picture");
  Say(context, SuccessLine(one.result, job));
  return 0;
}

}  // namespace

Command SetupRun(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("run", "One picture: its attention map");
  auto options = std::make_shared<RunOptions>();
  options->app = app;
  app->add_option("IMAGE", options->image,
                  "The picture, or - for standard input; a .npy holds prepared pixels");
  options->model.AddTo(*app);
  options->input.AddTo(*app);
  options->selection.AddTo(*app, true);
  options->picture.AddTo(*app);
  app->add_flag("--list-colormaps", options->list_colormaps, "List the colour maps and stop")
      ->group("Picture");
  app->add_option("-o,--output", options->output,
                  "File to write; its ending chooses png, jpg, webp, tiff (pictures) or json, npy, "
                  "npz, safetensors, csv (the map); - is standard output [STEM.attnmap.png]")
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
