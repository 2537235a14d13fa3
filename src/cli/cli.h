#ifndef ATTNMAP_CLI_CLI_H_
#define ATTNMAP_CLI_CLI_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attnmap/pipeline/options.h"
#include "attnmap/pipeline/resources.h"
#include "attnmap/pipeline/run.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
class Option;
}  // namespace CLI

namespace attnmap::cli {

// What all subcommands share: how much to say, and what ships with the program.
struct Context {
  Resources resources;
  const StopFlag* stop = nullptr;
  bool quiet = false;
  bool verbose = false;
};

// Says something on standard error: a success line or a note (not with -q),
// a detail (only with -v), and the one line of a failure.
void Say(const Context& context, const std::string& line);
void SayDetail(const Context& context, const std::string& line);
void SayError(const std::string& line);

// Writes results to standard output; Error where it cannot be written.
void Print(std::string_view bytes);

// Options that several commands share, as text; set-up opens nothing. The
// texts become choices in Model(), Input(), ... before any file is opened.
struct ModelArguments {
  std::string path;
  std::string checkpoint_key;
  int num_heads = 0;
  std::string family;
  std::string activation;
  CLI::Option* num_heads_option = nullptr;
  CLI::Option* path_option = nullptr;

  std::vector<std::string> paths;  // of a command that takes several

  void AddTo(CLI::App& app, bool positional = false, bool several = false);
  // $ATTNMAP_MODEL, then the demo model, where none is named.
  ModelOptions Model(const Context& context) const;
  // One at least.
  std::vector<ModelOptions> Models(const Context& context) const;
};

struct InputArguments {
  std::string fit = "whole";
  std::string size;
  std::string on;
  bool no_exif = false;
  std::string background;
  std::string gray16 = "high-byte";
  int64_t max_pixels = DecodeOptions{}.max_pixels;
  const CLI::App* app = nullptr;

  void AddTo(CLI::App& command, bool prepared_pixels = true);
  InputOptions Input(const Context& context) const;
};

// How to compute: threads and precision.
struct EngineArguments {
  std::string precision = "f32";
  int threads = 0;
  CLI::Option* threads_option = nullptr;

  void AddTo(CLI::App& app);
  void Fill(SelectionOptions& options) const;
};

struct SelectionArguments {
  std::string layer = "last";
  std::string head;
  std::string query;
  std::string method = "attention";
  int start_layer = 0;
  std::string discard_ratio = "0";
  std::string compat = "none";
  std::string outliers = "keep";
  std::string features = "outputs";
  std::string foreground;
  std::string scale = "sqrt";
  EngineArguments engine;
  const CLI::App* app = nullptr;

  void AddTo(CLI::App& command, bool with_method);
  SelectionOptions Selection() const;

 private:
  void AddMethodTo(CLI::App& command);
};

struct PictureArguments {
  bool for_terminal = false;  // the command can print to the terminal
  std::string layout;
  std::string colormap = "inferno";
  double alpha = 0.6;
  std::string interpolation = "cubic";
  std::string normalize = "minmax";
  bool shared_scale = false;
  double mass = 0;
  bool contour = false;
  bool colorbar = false;
  bool no_colorbar = false;
  std::string output_size;
  std::string terminal;
  const CLI::App* app = nullptr;

  void AddTo(CLI::App& command, bool with_terminal = false);
  // How to draw in this terminal: as asked, else as the environment says.
  TerminalOptions Terminal() const;
  PictureOptions Picture(const Context& context) const;
  bool Given(const std::string& name) const;
};

// A variable of the environment; empty where it is not set.
std::string Variable(const char* name);

// The job that run and batch share, but for what they do with the result.
MapJob MakeJob(const InputArguments& input, const SelectionArguments& selection,
               const PictureArguments& picture, const Context& context);

// A subcommand: set-up makes its options; what it returns does the work, after
// parsing, and gives the exit status.
using Command = std::function<int(const Context&)>;
Command SetupRun(CLI::App& parent);
Command SetupBatch(CLI::App& parent);
Command SetupDump(CLI::App& parent);
Command SetupExplain(CLI::App& parent);
Command SetupStats(CLI::App& parent);
Command SetupVideo(CLI::App& parent);
Command SetupInspect(CLI::App& parent);
Command SetupConvert(CLI::App& parent);
Command SetupInit(CLI::App& parent);
Command SetupBench(CLI::App& parent);

}  // namespace attnmap::cli

#endif  // ATTNMAP_CLI_CLI_H_
