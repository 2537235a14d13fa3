// inspect, convert and init: what concerns weights files alone.
#include <CLI/CLI.hpp>
#include <memory>

#include "attnmap/core/error.h"
#include "attnmap/pipeline/weights_files.h"
#include "cli/cli.h"

namespace attnmap::cli {
namespace {

struct InspectArguments {
  ModelArguments model;
  bool json = false;
  bool summary = false;
};

struct ConvertArguments {
  ModelArguments model;
  std::string output;
  std::string dtype;
  bool nested = false;
  std::string shard_size;
};

struct InitArguments {
  std::string output;
  std::string form = "full";
  std::string image_size = "224x224";
  std::string seed = "0";
  bool nested = false;
  InitOptions init;
};

std::string Written(const ConvertResult& result) {
  std::string line = "wrote";
  for (size_t i = 0; i < result.files.size(); ++i) line += (i == 0 ? " " : ", ") + result.files[i];
  line += ": " + std::to_string(result.num_tensors) + " tensors, " +
          std::to_string(result.num_parameters) + " numbers";
  for (const std::string& note : result.notes) line += "; " + note;
  return line;
}

int RunConvertCommand(const ConvertArguments& arguments, const Context& context) {
  ConvertOptions options;
  options.output = arguments.output;
  options.nested = arguments.nested;
  options.type_given = !arguments.dtype.empty();
  if (options.type_given) options.type = ParseDataType(arguments.dtype);
  if (!arguments.shard_size.empty()) {
    options.shard_size = ParseByteSize("--shard-size", arguments.shard_size);
  }
  CheckConvert(options);
  options.model = arguments.model.Model(context);
  CheckOutput(options.output, {}, {options.model.path});
  if (!arguments.shard_size.empty()) {
    CheckOutput(options.output + ".index.json", {}, {options.model.path});
  }
  Say(context, Written(RunConvert(options)));
  return 0;
}

int RunInitCommand(const InitArguments& arguments, const Context& context) {
  InitFileOptions options;
  if (arguments.form != "full" && arguments.form != "one-layer") {
    throw UsageError("--form '" + arguments.form + "' is not known: it takes one-layer or full");
  }
  options.init = arguments.init;
  options.init.seed = ParseSeed(arguments.seed);
  options.init.one_layer = arguments.form == "one-layer";
  options.init.image_size = ParseRowsCols("--image-size", arguments.image_size);
  options.output = arguments.output;
  options.nested = arguments.nested;
  Say(context, Written(RunInit(options)));
  return 0;
}

}  // namespace

Command SetupInspect(CLI::App& parent) {
  CLI::App* app =
      parent.add_subcommand("inspect", "What a weights file holds: family, sizes, tensors");
  auto arguments = std::make_shared<InspectArguments>();
  arguments->model.AddTo(*app, true);
  app->get_option("MODEL")->required(false);
  app->add_flag("--json", arguments->json, "As JSON")->group("Output");
  app->add_flag("--summary", arguments->summary, "Do not list the tensors")->group("Output");
  app->footer(
      "Examples:\n"
      "  attnmap inspect data/models/demo-vit.json\n"
      "  attnmap inspect data/models/one-layer.json --json");
  return [arguments](const Context& context) {
    SayDetail(context, "inspecting " + arguments->model.Model(context).path);
    Print(RunInspect({arguments->model.Model(context), arguments->json, !arguments->summary}));
    return 0;
  };
}

Command SetupConvert(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("convert", "Between weight formats");
  auto arguments = std::make_shared<ConvertArguments>();
  arguments->model.AddTo(*app, true);
  app->get_option("MODEL")->description("IN: weights file or folder");
  app->add_option("OUT", arguments->output, "File to write: .json, .safetensors or .npz")
      ->required();
  app->add_option("--dtype", arguments->dtype, "safetensors: f32, f16 or bf16 [f32]")
      ->group("Output");
  app->add_option("--shard-size", arguments->shard_size,
                  "safetensors: split into files of at most this size, such as 2GB")
      ->group("Output");
  app->add_flag("--nested", arguments->nested, "JSON: nested arrays instead of shape and data")
      ->group("Output");
  app->footer(
      "Examples:\n"
      "  attnmap convert data/models/demo-vit.json demo-vit.safetensors --dtype f16\n"
      "  attnmap convert data/models/one-layer.json one-layer.npz");
  return [arguments](const Context& context) { return RunConvertCommand(*arguments, context); };
}

Command SetupInit(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("init", "Fresh random weights");
  auto arguments = std::make_shared<InitArguments>();
  InitOptions& init = arguments->init;
  app->add_option("OUT", arguments->output, "File to write (.json, .safetensors, .npz)")
      ->required();
  app->add_option("--form", arguments->form, "one-layer or full [full]")->group("Model");
  app->add_option("--patch-size", init.patch_size, "Side of a patch in pixels [16]")
      ->group("Model");
  app->add_option("--embed-dim", init.embed_dim, "Width of a token [192]")->group("Model");
  app->add_option("--num-layers", init.num_layers, "Number of layers [12; one-layer: 1]")
      ->group("Model");
  app->add_option("--num-heads", init.num_heads, "Number of heads [3]")->group("Model");
  app->add_option("--image-size", arguments->image_size, "ROWSxCOLS in pixels [224x224]")
      ->group("Model");
  app->add_option("--num-classes", init.num_classes, "Classes of the head, 0 for none [0]")
      ->group("Model");
  app->add_option("--seed", arguments->seed, "Seed of the random numbers [0]")->group("Model");
  app->add_flag("--nested", arguments->nested, "Nested arrays instead of shape and data")
      ->group("Output");
  app->footer(
      "Examples:\n"
      "  attnmap init tiny.json --embed-dim 64 --num-layers 2 --num-heads 2\n"
      "  attnmap init layer.json --form one-layer --embed-dim 32 --num-heads 1 --seed 7");
  return [arguments](const Context& context) { return RunInitCommand(*arguments, context); };
}

}  // namespace attnmap::cli
