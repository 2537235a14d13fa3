#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "attnmap/core/error.h"
#include "attnmap/pipeline/batch.h"
#include "cli/cli.h"
#include "cli/progress.h"

namespace attnmap::cli {
namespace {

struct BatchArguments {
  std::vector<std::string> inputs;
  std::string output_dir;
  std::string format = "png";
  bool json = false;
  bool objects = false;
  bool force = false;  // until batches resume, each run does all anew
  ModelArguments model;
  InputArguments input;
  SelectionArguments selection;
  PictureArguments picture;
};

std::string Summary(const BatchSummary& summary, const BatchArguments& arguments, double seconds) {
  const auto count = static_cast<double>(summary.ok + summary.failed);
  std::string line = std::to_string(summary.ok) + " written to " + arguments.output_dir;
  if (summary.failed > 0) line += ", " + std::to_string(summary.failed) + " failed";
  char rate[64];
  std::snprintf(rate, sizeof(rate), " in %.1f s (%.1f a second)", seconds,
                seconds > 0 ? count / seconds : 0.0);
  return line + rate + "; manifest " + arguments.output_dir + "/manifest.jsonl";
}

int RunBatchCommand(const BatchArguments& arguments, const Context& context) {
  BatchOptions options;
  options.job = MakeJob(arguments.input, arguments.selection, arguments.picture, context);
  options.job.format = ParseOutputFormat("x." + arguments.format, arguments.format);
  options.job.want_classes = arguments.json;
  options.job.objects = arguments.objects;
  CheckJob(options.job);
  CheckOnePicture(options.job);
  options.shared_scale = arguments.picture.shared_scale;
  options.output_dir = arguments.output_dir;
  options.stop = context.stop;
  options.model = arguments.model.Model(context);
  const std::vector<BatchItem> items =
      CollectBatch(arguments.inputs, arguments.output_dir, ".attnmap." + arguments.format);
  if (items.empty()) throw Error("no pictures found in what was named");

  Progress progress(context, "pictures");
  const BatchSummary summary = RunBatch(items, options, [&](const BatchProgress& step) {
    if (!step.error.empty()) {
      progress.Clear();
      SayError(step.error);
    }
    if (arguments.json) Print(step.record + "\n");
    progress.Update(static_cast<int64_t>(step.done), static_cast<int64_t>(step.total));
  });
  progress.Clear();
  if (summary.interrupted) {
    SayError("interrupted: " + Summary(summary, arguments, progress.Seconds()));
    return 130;
  }
  const std::string line = Summary(summary, arguments, progress.Seconds());
  Say(context, line);
  return summary.failed > 0 ? 1 : 0;
}

}  // namespace

Command SetupBatch(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("batch", "Many pictures: folders, globs, list files, -");
  auto arguments = std::make_shared<BatchArguments>();
  app->add_option("INPUT", arguments->inputs,
                  "Folders (recursive), pictures, quoted globs (** is any depth), list files "
                  "(.txt: a path a line), or - for such a list on standard input")
      ->required();
  arguments->model.AddTo(*app);
  arguments->input.AddTo(*app, false);
  arguments->selection.AddTo(*app, true);
  arguments->picture.AddTo(*app);
  app->add_option("-o,--output", arguments->output_dir, "Folder to write to")
      ->required()
      ->group("Output");
  app->add_option("--format", arguments->format,
                  "png, jpg, webp, tiff, svg, pdf, json, npy, npz, safetensors or csv [png]")
      ->group("Output");
  app->add_flag("--force", arguments->force, "Do everything anew")->group("Output");
  app->add_flag("--json", arguments->json, "Print a record a picture on standard output")
      ->group("Output");
  app->add_flag(
         "--objects", arguments->objects,
         "Boxes and areas of the connected parts of the --mass mask [0.6], into manifest and "
         "records")
      ->group("Output");
  app->footer(
      "Exit status: 0 all done, 1 some failed (the rest is done).\n"
      "Examples:\n"
      "  attnmap batch data/images -o maps\n"
      "  find data/images -name '*.png' | attnmap batch - -o maps --format jpg");
  return [arguments](const Context& context) { return RunBatchCommand(*arguments, context); };
}

}  // namespace attnmap::cli
