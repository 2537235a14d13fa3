#include <CLI/CLI.hpp>
#include <memory>

#include "attnmap/pipeline/explain.h"
#include "cli/cli.h"

namespace attnmap::cli {
namespace {

struct ExplainArguments {
  std::string image;
  int top = 10;
  bool json = false;
  ModelArguments model;
  InputArguments input;
  SelectionArguments selection;
};

int RunExplainCommand(const ExplainArguments& arguments, const Context& context) {
  ExplainOptions options;
  options.image = arguments.image;
  options.input = arguments.input.Input(context);
  options.selection = arguments.selection.Selection();
  options.head_given = !arguments.selection.head.empty();
  options.top = arguments.top;
  options.model = arguments.model.Model(context);
  const ExplainResult result = RunExplain(options);
  Print(arguments.json ? ExplainJson(result) : ExplainText(result));
  for (const std::string& note : result.notes) Say(context, note);
  return 0;
}

}  // namespace

Command SetupExplain(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("explain", "One token's attention worked out step by step");
  auto arguments = std::make_shared<ExplainArguments>();
  app->add_option("IMAGE", arguments->image, "The picture, or - for standard input")->required();
  arguments->model.AddTo(*app);
  arguments->input.AddTo(*app);
  arguments->selection.AddTo(*app, false);
  app->get_option("--head")->description("N, a list such as 0,3,5, or all [0]");
  app->add_option("--top", arguments->top, "How many of the strongest keys to show [10]")
      ->group("Selection");
  app->add_flag("--json", arguments->json, "The same as JSON, a record a layer and head")
      ->group("Output");
  app->footer(
      "Examples:\n"
      "  attnmap explain data/images/coffee.png --query px:300,200\n"
      "  attnmap explain data/images/chelsea.png --layer 0 --head 2 --scale none");
  return [arguments](const Context& context) { return RunExplainCommand(*arguments, context); };
}

}  // namespace attnmap::cli
