#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>

#include "attnmap/core/error.h"
#include "cli/cli.h"
#include "cli/terminal.h"

namespace attnmap::cli {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void ModelArguments::AddTo(CLI::App& app, bool positional, bool several) {
  const std::string group = "Input";
  if (positional) {
    path_option = app.add_option("MODEL", path, "Weights file, or a folder that holds one");
    path_option->required();
  } else if (several) {
    path_option = app.add_option("-m,--model", paths,
                                 "Weights file or folder, again for each model to compare "
                                 "[$ATTNMAP_MODEL, else the demo model]");
    path_option->allow_extra_args(false)->group(group);
  } else {
    path_option = app.add_option("-m,--model", path,
                                 "Weights file or folder [$ATTNMAP_MODEL, else the demo model]");
    path_option->group(group);
  }
  num_heads_option =
      app.add_option("--num-heads", num_heads, "Number of heads, where the file cannot say")
          ->group(group);
  app.add_option("--family", family, "Model family, to overrule what was recognised")->group(group);
  app.add_option("--act", activation, "Activation of the MLP: gelu, gelu_tanh, quick_gelu, silu")
      ->group(group);
  app.add_option("--checkpoint-key", checkpoint_key, "Which nested dictionary of a checkpoint")
      ->group(group);
}

ModelOptions ModelArguments::Model(const Context& context) const {
  ModelOptions options;
  options.path = path;
  if (path_option->count() > 0 && path.empty()) throw UsageError("--model is empty: name a file");
  if (options.path.empty()) {
    const std::string variable = Variable("ATTNMAP_MODEL");
    options.path = variable.empty() ? context.resources.demo_model : variable;
  }
  if (num_heads_option->count() > 0 && num_heads < 1) {
    throw UsageError("--num-heads takes a number of at least 1");
  }
  options.checkpoint_key = checkpoint_key;
  options.load = {num_heads, family, activation};
  return options;
}

std::vector<ModelOptions> ModelArguments::Models(const Context& context) const {
  std::vector<ModelOptions> models;
  ModelArguments one = *this;
  for (size_t i = 0; i < std::max<size_t>(1, paths.size()); ++i) {
    if (!paths.empty()) one.path = paths[i];
    models.push_back(one.Model(context));
  }
  return models;
}

void InputArguments::AddTo(CLI::App& command, bool prepared_pixels) {
  app = &command;
  const std::string group = "Input";
  command
      .add_option("--fit", fit,
                  "How the picture meets the model: whole, crop, stretch, pad [whole]")
      ->group(group);
  command
      .add_option("--size", size,
                  "Short side in pixels, or ROWSxCOLS with --fit stretch [the model's]")
      ->group(group);
  if (prepared_pixels) {
    command.add_option("--on", on, "The picture that prepared pixels (.npy) cover")->group(group);
  }
  command.add_flag("--no-exif", no_exif, "Do not turn the picture as its EXIF data says")
      ->group(group);
  command.add_option("--background", background, "R,G,B to show through transparency [drop alpha]")
      ->group(group);
  command
      .add_option("--gray16", gray16, "16-bit grey: high-byte or pillow (saturates) [high-byte]")
      ->group(group);
  command.add_option("--max-pixels", max_pixels, "Refuse larger pictures [178956970]")
      ->group(group);
}

InputOptions InputArguments::Input(const Context& context) const {
  InputOptions options;
  options.fit.fit = ParseFit(fit);
  options.fit_given = app->count("--fit") > 0 || app->count("--size") > 0;
  if (!size.empty()) ParseSize(size, options.fit);
  options.on = on;
  options.decode.apply_exif = !no_exif;
  if (!background.empty()) options.decode.background = ParseColour("--background", background);
  if (gray16 != "high-byte" && gray16 != "pillow") {
    throw UsageError("--gray16 '" + gray16 + "' is not known: it takes high-byte or pillow");
  }
  options.decode.gray16 = gray16 == "pillow" ? Gray16::kPillow : Gray16::kHighByte;
  if (max_pixels < 1) throw UsageError("--max-pixels takes a number of at least 1");
  options.decode.max_pixels = max_pixels;
  options.decode.codec_module = context.resources.codec_module;
  return options;
}

void EngineArguments::AddTo(CLI::App& app) {
  const std::string group = "Selection";
  app.add_option("--precision", precision,
                 "f32, or bf16: faster where the processor multiplies bfloat16 [f32]")
      ->group(group);
  threads_option = app.add_option("--threads", threads, "Threads to use [all cores]");
  threads_option->group(group);
}

void EngineArguments::Fill(SelectionOptions& options) const {
  options.precision = ParsePrecision(precision);
  constexpr int kMaxThreads = 1024;
  if ((threads_option->count() > 0 && threads < 1) || threads > kMaxThreads) {
    throw UsageError("--threads takes a number from 1 to 1024");
  }
  options.threads = threads;
}

void SelectionArguments::AddTo(CLI::App& command, bool with_method) {
  app = &command;
  const std::string group = "Selection";
  command
      .add_option("--layer", layer,
                  "last, N (from 0), -N (from the end), A:B (B excluded), all [last]")
      ->group(group);
  command.add_option("--head", head, "mean, max, min, N, a list such as 0,3,5, or all [mean]")
      ->group(group);
  command
      .add_option("--query", query,
                  "class, pool, ROW,COL (patch), px:X,Y (pixel), token:N, mean [class]")
      ->group(group);
  if (with_method) AddMethodTo(command);
  command
      .add_option("--scale", scale, "Factor on the scores: sqrt (1/√d_k), none, or a number [sqrt]")
      ->group(group);
  engine.AddTo(command);
}

void SelectionArguments::AddMethodTo(CLI::App& command) {
  const std::string group = "Selection";
  command
      .add_option(
          "--method", method,
          "attention (a row of one layer; Caron et al. 2021), rollout (across layers; Abnar "
          "& Zuidema 2020), value-norm (weights times the norm of what they carry; Kobayashi "
          "et al. 2020), similarity (of every patch to the one of --query; Amir et al. "
          "2021), pca (patch features as colours; Oquab et al. 2023) [attention]")
      ->group(group);
  command
      .add_option("--start-layer", start_layer,
                  "rollout: the first layer multiplied; --layer is the last [0]")
      ->group(group);
  command
      .add_option("--discard-ratio", discard_ratio,
                  "rollout: share of each layer's smallest weights that are set to 0 [0]")
      ->group(group);
  command
      .add_option("--compat", compat,
                  "rollout: none, or vit-explain (that script's numbers, faults included) [none]")
      ->group(group);
  command
      .add_option("--outliers", outliers,
                  "Patch tokens of outlying norm (Darcet et al. 2024): keep, clip (to the largest "
                  "of the others) or exclude [keep]")
      ->group(group);
  command
      .add_option("--features", features,
                  "similarity: outputs (of the layer's block) or keys [outputs]")
      ->group(group);
  command
      .add_option("--foreground", foreground,
                  "pca: only patches whose first component, scaled to 0..1, is above T; or below:T")
      ->group(group);
}

SelectionOptions SelectionArguments::Selection() const {
  SelectionOptions options;
  options.layers = ParseLayerChoice(layer);
  if (!head.empty()) options.heads = ParseHeadChoice(head);
  if (!query.empty()) options.query = ParseQueryChoice(query);
  options.method = ParseMethod(method);
  options.options.start_layer = start_layer;
  options.options.discard_ratio = ParseDiscardRatio(discard_ratio);
  options.options.compat = ParseCompat(compat);
  options.options.outliers = ParseOutliers(outliers);
  options.options.features = ParseFeatures(features);
  if (!foreground.empty()) options.options.foreground = ParseForeground(foreground);
  for (const std::string& name : MethodBoundOptions()) {
    const CLI::Option* option = app->get_option_no_throw(name);
    if (option != nullptr && option->count() > 0) options.given.push_back(name);
  }
  options.scale = ParseScale(scale);
  engine.Fill(options);
  return options;
}

void PictureArguments::AddTo(CLI::App& command, bool with_terminal) {
  app = &command;
  for_terminal = with_terminal;
  const std::string group = "Picture";
  command
      .add_option("--layout", layout,
                  std::string("overlay, heatmap, side-by-side, sheet, heads (a colour for each "
                              "head; Caron et al. 2021, fig. 3)") +
                      (with_terminal ? ", terminal" : "") + " [overlay; sheet for several maps]")
      ->group(group);
  command.add_option("--colormap", colormap, "A colour map's name; see --list-colormaps [inferno]")
      ->group(group);
  command.add_option("--alpha", alpha, "0 to 1: (1 - alpha) photo + alpha colour [0.6]")
      ->group(group);
  command.add_option("--interpolation", interpolation, "nearest, linear or cubic [cubic]")
      ->group(group);
  command
      .add_option("--normalize", normalize, "minmax, max, percentile:LO,HI or range:A,B [minmax]")
      ->group(group);
  command.add_flag("--shared-scale", shared_scale, "One range of values for all maps")
      ->group(group);
  command.add_option("--mass", mass, "Keep the fewest patches that hold this share, 0 to 1 [off]")
      ->group(group);
  command
      .add_flag("--contour", contour,
                "Outline the patches that hold the share of --mass [0.6 where --mass is off]")
      ->group(group);
  command
      .add_flag("--colorbar,!--no-colorbar", colorbar,
                "Draw the scale with its two ends [sheets only]")
      ->group(group);
  if (with_terminal) {
    command
        .add_option("--terminal", terminal,
                    "With --layout terminal: truecolor, 256, ascii, kitty or sixel "
                    "[$ATTNMAP_TERMINAL, else what the terminal says it can]")
        ->group(group);
  }
  command.add_option("--output-size", output_size, "ROWSxCOLS of the picture [the input's]")
      ->group(group);
}

TerminalOptions PictureArguments::Terminal() const {
  return FindTerminal(terminal.empty() ? Variable("ATTNMAP_TERMINAL") : terminal);
}

bool PictureArguments::Given(const std::string& name) const {
  const CLI::Option* option = app->get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

PictureOptions PictureArguments::Picture(const Context& context) const {
  PictureOptions options;
  if (!layout.empty()) options.layout = ParseLayout(layout);
  const std::vector<std::string> names = ColourMaps();
  if (std::find(names.begin(), names.end(), colormap) == names.end()) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    throw UsageError("--colormap '" + colormap + "' is not known: it takes " + list);
  }
  options.colormap = colormap;
  options.alpha = alpha;
  options.interpolation = ParseInterpolation(interpolation);
  options.normalize = ParseNormalize(normalize);
  options.shared_scale = shared_scale;
  if (Given("--mass")) options.mass = mass;
  options.colorbar = colorbar;
  if (!output_size.empty()) options.output_size = ParseRowsCols("--output-size", output_size);
  options.contour = contour;
  options.font = context.resources.font;
  options.fallback_fonts = context.resources.fallback_fonts;
  options.pdf_module = context.resources.pdf_module;
  return options;
}

MapJob MakeJob(const InputArguments& input, const SelectionArguments& selection,
               const PictureArguments& picture, const Context& context) {
  MapJob job;
  job.input = input.Input(context);
  job.selection = selection.Selection();
  job.picture = picture.Picture(context);
  if (job.picture.layout == Layout::kHeads && selection.head.empty()) {
    job.selection.heads.kind = HeadChoice::Kind::kAll;
  }
  if (job.picture.layout == Layout::kTerminal && !picture.for_terminal) {
    throw UsageError("--layout terminal goes with attnmap run");
  }
  if (!picture.terminal.empty() && job.picture.layout != Layout::kTerminal) {
    throw UsageError("--terminal goes with --layout terminal");
  }
  for (const std::string& name : PictureOptionNames()) {
    if (picture.Given(name)) job.given.push_back(name);
  }
  return job;
}

}  // namespace attnmap::cli
