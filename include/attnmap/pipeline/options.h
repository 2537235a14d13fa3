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
  std::optional<float> scale;  // nothing: 1 / sqrt(d_k)
  int threads = 0;             // 0: all cores
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
OutputFormat ParseOutputFormat(const std::string& output, std::string_view format);

// The names --colormap takes.
std::vector<std::string> ColourMaps();

std::string_view MethodName(Method method);
std::string_view PrecisionName(Precision precision);
std::string_view FitName(Fit fit);
std::string_view InterpolationName(Interpolation interpolation);
std::string_view LayoutName(Layout layout);

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_OPTIONS_H_
