#include "attnmap/pipeline/options.h"

#include <utility>

#include "attnmap/core/error.h"
#include "attnmap/core/thread_pool.h"
#include "attnmap/render/colormap.h"
#include "pipeline/words.h"

namespace attnmap {
namespace {

constexpr Word<Precision> kPrecisions[] = {{"f32", Precision::kFloat32},
                                           {"bf16", Precision::kBfloat16}};
constexpr Word<Layout> kLayouts[] = {{"overlay", Layout::kOverlay},
                                     {"heatmap", Layout::kHeatmap},
                                     {"side-by-side", Layout::kSideBySide},
                                     {"sheet", Layout::kSheet},
                                     {"heads", Layout::kHeads},
                                     {"terminal", Layout::kTerminal}};
constexpr Word<TerminalStyle> kTerminalStyles[] = {{"truecolor", TerminalStyle::kTrueColour},
                                                   {"256", TerminalStyle::k256},
                                                   {"ascii", TerminalStyle::kAscii},
                                                   {"kitty", TerminalStyle::kKitty},
                                                   {"sixel", TerminalStyle::kSixel}};
constexpr Word<Interpolation> kInterpolations[] = {{"nearest", Interpolation::kNearest},
                                                   {"linear", Interpolation::kLinear},
                                                   {"cubic", Interpolation::kCubic}};
constexpr Word<Fit> kFits[] = {
    {"whole", Fit::kWhole}, {"crop", Fit::kCrop}, {"stretch", Fit::kStretch}, {"pad", Fit::kPad}};
constexpr Word<PictureFormat> kPictures[] = {
    {"png", PictureFormat::kPng},   {"jpg", PictureFormat::kJpeg},  {"jpeg", PictureFormat::kJpeg},
    {"webp", PictureFormat::kWebp}, {"tiff", PictureFormat::kTiff}, {"tif", PictureFormat::kTiff}};
constexpr Word<VectorFormat> kVectors[] = {{"svg", VectorFormat::kSvg},
                                           {"pdf", VectorFormat::kPdf}};
constexpr Word<ArrayFormat> kArrays[] = {{"json", ArrayFormat::kJson},
                                         {"npy", ArrayFormat::kNpy},
                                         {"npz", ArrayFormat::kNpz},
                                         {"csv", ArrayFormat::kCsv},
                                         {"safetensors", ArrayFormat::kSafetensors}};

std::optional<std::pair<double, double>> ParsePair(std::string_view text) {
  const size_t comma = text.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto first = ParseNumber<double>(text.substr(0, comma));
  const auto second = ParseNumber<double>(text.substr(comma + 1));
  if (!first || !second) return std::nullopt;
  return std::pair{*first, *second};
}

std::optional<RowsCols> TryRowsCols(std::string_view text) {
  constexpr int kMaxSide = 65536;
  const size_t x = text.find('x');
  if (x == std::string_view::npos) return std::nullopt;
  const auto rows = ParseNumber<int>(text.substr(0, x));
  const auto cols = ParseNumber<int>(text.substr(x + 1));
  if (!rows || !cols || *rows < 1 || *cols < 1 || *rows > kMaxSide || *cols > kMaxSide) {
    return std::nullopt;
  }
  return RowsCols{*rows, *cols};
}

std::string Ending(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  const size_t dot = path.find_last_of('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) return {};
  std::string ending = path.substr(dot + 1);
  for (char& c : ending) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return ending;
}

}  // namespace

int NumThreads(const SelectionOptions& selection) {
  return selection.threads > 0 ? selection.threads : ThreadPool::DefaultThreads();
}

std::optional<float> ParseScale(std::string_view text) {
  if (text == "sqrt") return std::nullopt;
  if (text == "none") return 1.0F;
  if (const auto number = ParseNumber<float>(text)) return *number;
  Refuse("--scale", text, "sqrt (1/√d_k), none, or a number");
}

Precision ParsePrecision(std::string_view text) {
  return Choose<Precision>("--precision", kPrecisions, text);
}

Layout ParseLayout(std::string_view text) { return Choose<Layout>("--layout", kLayouts, text); }

TerminalStyle ParseTerminalStyle(std::string_view text) {
  return Choose<TerminalStyle>("--terminal", kTerminalStyles, text);
}

Interpolation ParseInterpolation(std::string_view text) {
  return Choose<Interpolation>("--interpolation", kInterpolations, text);
}

Normalize ParseNormalize(std::string_view text) {
  using Kind = Normalize::Kind;
  if (text == "minmax") return {Kind::kMinMax, 0, 0};
  if (text == "max") return {Kind::kMax, 0, 0};
  constexpr std::string_view kPercentile = "percentile:";
  constexpr std::string_view kRange = "range:";
  if (text.starts_with(kPercentile)) {
    const auto pair = ParsePair(text.substr(kPercentile.size()));
    if (pair && pair->first >= 0 && pair->first < pair->second && pair->second <= 100) {
      return {Kind::kPercentile, pair->first, pair->second};
    }
  } else if (text.starts_with(kRange)) {
    const auto pair = ParsePair(text.substr(kRange.size()));
    if (pair && pair->first < pair->second) return {Kind::kRange, pair->first, pair->second};
  }
  Refuse("--normalize", text,
         "minmax, max, percentile:LO,HI (0 to 100, LO below HI) or range:A,B (A below B)");
}

Fit ParseFit(std::string_view text) { return Choose<Fit>("--fit", kFits, text); }

void ParseSize(std::string_view text, FitOptions& options) {
  if (const auto exact = TryRowsCols(text)) {
    if (options.fit != Fit::kStretch) {
      throw UsageError("--size " + std::string(text) +
                       " (ROWSxCOLS) goes with --fit stretch alone; --fit " +
                       std::string(FitName(options.fit)) + " takes one number");
    }
    options.exact = exact;
    return;
  }
  constexpr int kMaxSide = 65536;
  const auto side = ParseNumber<int>(text);
  if (!side || *side < 1 || *side > kMaxSide) {
    Refuse("--size", text, "a number of pixels from 1 to 65536, or ROWSxCOLS with --fit stretch");
  }
  options.side = side;
}

RowsCols ParseRowsCols(std::string_view option, std::string_view text) {
  if (const auto size = TryRowsCols(text)) return *size;
  Refuse(option, text, "ROWSxCOLS in pixels, 1 to 65536 each, such as 480x640");
}

std::array<uint8_t, 3> ParseColour(std::string_view option, std::string_view text) {
  std::array<uint8_t, 3> colour{};
  std::string_view rest = text;
  for (size_t i = 0; i < colour.size(); ++i) {
    const size_t comma = rest.find(',');
    const bool last = i + 1 == colour.size();
    const auto value = ParseNumber<int>(rest.substr(0, comma));
    if (!value || *value < 0 || *value > 255 || (comma == std::string_view::npos) != last) {
      Refuse(option, text, "R,G,B, each 0 to 255");
    }
    colour[i] = static_cast<uint8_t>(*value);
    if (!last) rest.remove_prefix(comma + 1);
  }
  return colour;
}

std::optional<OutputFormat> FindOutputFormat(const std::string& output, std::string_view format) {
  const std::string ending = Ending(output);
  const std::string_view word = !format.empty() ? format : std::string_view(ending);
  OutputFormat result;
  if (const auto* picture = Find<PictureFormat>(kPictures, word)) {
    result.picture_format = *picture;
    return result;
  }
  if (const auto* vector = Find<VectorFormat>(kVectors, word)) {
    result.vector = *vector;
    return result;
  }
  if (const auto* array = Find<ArrayFormat>(kArrays, word)) {
    result.picture = false;
    result.array_format = *array;
    return result;
  }
  return std::nullopt;
}

OutputFormat ParseOutputFormat(const std::string& output, std::string_view format) {
  if (const auto found = FindOutputFormat(output, format)) return *found;
  const std::string known = Listed<PictureFormat>(kPictures) + ", " +
                            Listed<VectorFormat>(kVectors) + ", " + Listed<ArrayFormat>(kArrays);
  if (!format.empty()) Refuse("--format", format, known);
  if (output == "-") throw UsageError("-o - (standard output) needs --format: " + known);
  throw UsageError("-o '" + output +
                   "': the ending does not name a format that is known; use one of " + known +
                   ", or --format");
}

std::vector<std::string> ColourMaps() { return ColormapNames(); }

std::string_view PrecisionName(Precision precision) {
  return NameOf<Precision>(kPrecisions, precision);
}
std::string_view FitName(Fit fit) { return NameOf<Fit>(kFits, fit); }
std::string_view InterpolationName(Interpolation interpolation) {
  return NameOf<Interpolation>(kInterpolations, interpolation);
}
std::string_view LayoutName(Layout layout) { return NameOf<Layout>(kLayouts, layout); }

}  // namespace attnmap
