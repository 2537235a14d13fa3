#ifndef ATTNMAP_PIPELINE_OPTIONS_H_
#define ATTNMAP_PIPELINE_OPTIONS_H_

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attnmap/analysis/maps.h"
#include "attnmap/core/preprocess.h"
#include "attnmap/core/selection.h"
#include "attnmap/encoder/encoder.h"
#include "attnmap/export/export.h"
#include "attnmap/image/decode.h"
#include "attnmap/image/encode.h"
#include "attnmap/model/vit_model.h"
#include "attnmap/render/picture.h"
#include "attnmap/render/terminal.h"

namespace attnmap {

// Which weights, and what the user knows about them that the file does not say.
struct ModelOptions {
  std::string path;
  std::string checkpoint_key;
  LoadModelOptions load;
};

// How a picture is read and fitted to the model.
struct InputOptions {
  FitOptions fit;
  bool fit_given = false;  // --fit or --size stood on the command line
  DecodeOptions decode;
  std::string on;  // --on: the picture that prepared pixels (.npy) cover
};

// Which maps are meant.
struct SelectionOptions {
  LayerChoice layers;
  HeadChoice heads;
  QueryChoice query;
  Method method = Method::kAttention;
  MethodOptions options;           // start_layer may be negative: from the end
  std::vector<std::string> given;  // of MethodBoundOptions(), those named on the command line
  std::optional<float> scale;      // nothing: 1 / sqrt(d_k)
  int threads = 0;                 // 0: all cores
  Precision precision = Precision::kFloat32;
};

// The threads meant: the number given, else what the machine offers.
int NumThreads(const SelectionOptions& selection);

// Set from outside (a signal handler) to ask for a stop; looked at between stages.
using StopFlag = std::atomic<bool>;

// Text to choice, each throwing UsageError that names the option and what it takes.
std::optional<float> ParseScale(std::string_view text);
Precision ParsePrecision(std::string_view text);
Method ParseMethod(std::string_view text);
RolloutCompat ParseCompat(std::string_view text);
OutlierRule ParseOutliers(std::string_view text);
Features ParseFeatures(std::string_view text);
Foreground ParseForeground(std::string_view text);
double ParseDiscardRatio(std::string_view text);
Layout ParseLayout(std::string_view text);
Interpolation ParseInterpolation(std::string_view text);
Normalize ParseNormalize(std::string_view text);
TerminalStyle ParseTerminalStyle(std::string_view text);
Fit ParseFit(std::string_view text);
// `N` or `ROWSxCOLS`; checks what goes with the fit.
void ParseSize(std::string_view text, FitOptions& options);
RowsCols ParseRowsCols(std::string_view option, std::string_view text);
std::array<uint8_t, 3> ParseColour(std::string_view option, std::string_view text);

// What an output file holds, told by its ending or by --format.
struct OutputFormat {
  bool picture = true;                 // else arrays
  std::optional<VectorFormat> vector;  // a picture as shapes instead of pixels
  PictureFormat picture_format = PictureFormat::kPng;
  ArrayFormat array_format = ArrayFormat::kJson;
};
// Nothing where neither names a format that is known; the other throws UsageError there.
std::optional<OutputFormat> FindOutputFormat(const std::string& output, std::string_view format);
OutputFormat ParseOutputFormat(const std::string& output, std::string_view format);

// The names --colormap takes.
std::vector<std::string> ColourMaps();

// The options of a picture, such as "--alpha".
std::vector<std::string> PictureOptionNames();

// Options that some methods have no use for, such as "--head".
std::vector<std::string> MethodBoundOptions();
// Throws UsageError where an option was given that does nothing with the method
// chosen. `only_maps`: no other matrix is asked for that --layer, --head or
// --query could be meant for.
void CheckMethod(const SelectionOptions& selection, bool only_maps = true);

std::string_view MethodName(Method method);
std::string_view PrecisionName(Precision precision);
std::string_view CompatName(RolloutCompat compat);
std::string_view OutlierRuleName(OutlierRule rule);
std::string_view FeaturesName(Features features);
std::string_view FitName(Fit fit);
std::string_view InterpolationName(Interpolation interpolation);
std::string_view LayoutName(Layout layout);

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_OPTIONS_H_
