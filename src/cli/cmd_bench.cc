#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "attnmap/core/error.h"
#include "attnmap/pipeline/bench.h"
#include "cli/cli.h"

namespace attnmap::cli {
namespace {

struct BenchArguments {
  std::vector<std::string> names;
  std::string size;
  double seconds = 2;
  bool json = false;
  ModelArguments model;
  EngineArguments engine;
};

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

int RunBenchCommand(const BenchArguments& arguments, const Context& context) {
  BenchOptions options;
  options.names = arguments.names;
  const std::vector<std::string> known = BenchModels();
  for (const std::string& name : options.names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw UsageError("the model '" + name + "' is not known: it takes " + Joined(known));
  }
  if (!arguments.size.empty()) options.size = ParseRowsCols("--size", arguments.size);
  if (!(arguments.seconds > 0 && arguments.seconds <= 3600)) {
    throw UsageError("--seconds takes a number above 0 and up to 3600");
  }
  options.seconds = arguments.seconds;
  arguments.engine.Fill(options.selection);
  // A model is measured where one is named here; the environment's is not meant.
  if (arguments.model.path_option->count() > 0) options.model = arguments.model.Model(context);
  if (options.names.empty() && options.model.path.empty()) {
    options.names = {"vit-ti16", "vit-s16", "vit-b16"};
  }
  options.stop = context.stop;
  bool first = true;
  const BenchResult result = RunBench(options, [&](const BenchResult& so_far) {
    if (arguments.json) return;
    if (std::exchange(first, false)) Print(BenchHeadText(so_far));
    Print(BenchRowText(so_far.rows.back()));
  });
  if (arguments.json) Print(BenchJson(result));
  return 0;
}

}  // namespace

Command SetupBench(CLI::App& parent) {
  CLI::App* app =
      parent.add_subcommand("bench", "How near the engine comes to this machine's limit");
  auto arguments = std::make_shared<BenchArguments>();
  app->add_option(
      "NAME", arguments->names,
      "Models with random weights: " + Joined(BenchModels()) + " [vit-ti16 vit-s16 vit-b16]");
  arguments->model.AddTo(*app);
  app->get_option("--model")->description("A weights file or folder to measure");
  arguments->engine.AddTo(*app);
  app->add_option("--size", arguments->size,
                  "Rows x columns of the picture in pixels [the model's]")
      ->group("Input");
  app->add_option("--seconds", arguments->seconds, "About how long for each model [2]")
      ->group("Input");
  app->add_flag("--json", arguments->json, "The same as JSON")->group("Output");
  app->footer(
      "Examples:\n"
      "  attnmap bench\n"
      "  attnmap bench vit-s16 --threads 1 --json");
  return [arguments](const Context& context) { return RunBenchCommand(*arguments, context); };
}

}  // namespace attnmap::cli
