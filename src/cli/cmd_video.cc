#include <CLI/CLI.hpp>
#include <memory>

#include "attnmap/core/error.h"
#include "attnmap/pipeline/session.h"
#include "attnmap/pipeline/video.h"
#include "cli/cli.h"
#include "cli/progress.h"

namespace attnmap::cli {
namespace {

struct VideoArguments {
  std::string input;
  std::string output;
  bool json = false;
  ModelArguments model;
  InputArguments image;
  SelectionArguments selection;
  PictureArguments picture;
};

// A bar for each pass.
class VideoBar {
 public:
  explicit VideoBar(const Context& context) : context_(context) {}

  void Update(const VideoProgress& step) {
    if (!progress_ || step.pass != pass_) {
      Clear();
      pass_ = step.pass;
      const bool looks = step.num_passes == 2 && step.pass == 1;
      progress_.emplace(context_, looks ? "frames looked at (for one scale)" : "frames drawn");
    }
    progress_->Update(step.done, step.total);
  }
  void Clear() {
    if (progress_) progress_->Clear();
  }

 private:
  const Context& context_;
  int pass_ = 0;
  std::optional<Progress> progress_;
};

int RunVideoCommand(const VideoArguments& arguments, const Context& context) {
  VideoOptions options;
  options.input = arguments.input;
  options.output = arguments.output;
  options.job = MakeJob(arguments.image, arguments.selection, arguments.picture, context);
  options.video_module = context.resources.video_module;
  options.stop = context.stop;
  CheckVideo(options);
  options.model = arguments.model.Model(context);
  CheckOutput(options.output, {options.input}, {options.model.path});
  VideoBar bar(context);
  try {
    const VideoResult done =
        RunVideo(options, [&](const VideoProgress& step) { bar.Update(step); });
    bar.Clear();
    if (arguments.json) Print(VideoRecord(done, options) + "\n");
    const std::string line = VideoLine(done, options);
    if (!done.claimed) {
      Say(context, line);
      return 0;
    }
    SayError(line);
    return 1;
  } catch (...) {
    bar.Clear();
    throw;
  }
}

}  // namespace

Command SetupVideo(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand("video", "A film, frame by frame, on one scale");
  auto arguments = std::make_shared<VideoArguments>();
  app->add_option("IN", arguments->input, "The film")->required();
  app->add_option("OUT", arguments->output,
                  "File to write: .mp4 or .mkv (H.264), .avi (Motion JPEG); without sound")
      ->required();
  arguments->model.AddTo(*app);
  arguments->image.AddTo(*app, false);
  arguments->selection.AddTo(*app, true);
  arguments->picture.AddTo(*app);
  // What only files of one picture have, and what a film always does.
  for (const char* name : {"--background", "--gray16", "--shared-scale"}) {
    app->remove_option(app->get_option(name));
  }
  app->get_option("--max-pixels")->description("Refuse larger frames [178956970]");
  app->get_option("--no-exif")
      ->description("Leave frames as they are stored, whatever the film says about turning them");
  app->get_option("--normalize")
      ->description(
          "minmax, max or percentile:LO,HI of the whole film (read twice), or range:A,B [minmax]");
  app->add_flag("--json", arguments->json, "Print a record of the result on standard output")
      ->group("Output");
  app->footer(
      "Examples:\n"
      "  attnmap video walk.mp4 walk-attention.mp4\n"
      "  attnmap video walk.mp4 heads.mkv --head all --normalize range:0,0.05\n"
      "walk.mp4 stands for a film of yours: none comes with attnmap.");
  return [arguments](const Context& context) { return RunVideoCommand(*arguments, context); };
}

}  // namespace attnmap::cli
