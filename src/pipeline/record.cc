// How a result reads: the success line, the JSON record, the settings.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "attnmap/core/number_text.h"
#include "attnmap/pipeline/run.h"
#include "pipeline/map_request.h"

namespace attnmap {
namespace {

using Json = nlohmann::ordered_json;

std::string Short(double value) { return Significant(value, 4); }

std::string ForegroundText(const Foreground& foreground) {
  return (foreground.below ? "below:" : "") + Short(foreground.threshold);
}

std::string LayersText(const MapResult& result) {
  const std::vector<int>& layers = result.layers;
  if (layers.empty()) return "pooling head behind " + Counted(result.num_layers, "layer");
  const std::string of = " of " + std::to_string(result.num_layers) + " (counted from 0)";
  if (layers.size() == 1) return "layer " + std::to_string(layers[0]) + of;
  return "layers " + std::to_string(layers.front()) + " to " + std::to_string(layers.back()) + of;
}

std::string HeadsText(const MapResult& result) {
  const bool fused = result.heads == "mean" || result.heads == "max" || result.heads == "min";
  if (fused) return result.heads + " of " + Counted(result.num_heads, "head");
  if (result.heads == "all") return "all " + Counted(result.num_heads, "head");
  return (result.heads.find(',') == std::string::npos ? "head " : "heads ") + result.heads;
}

// The method and its options that are not the default.
std::string MethodText(const MapResult& result, const SelectionOptions& selection) {
  const MethodOptions& options = selection.options;
  std::string text = "method " + std::string(MethodName(selection.method));
  if (result.start_layer != 0) text += " from layer " + std::to_string(result.start_layer);
  if (options.discard_ratio > 0) text += ", discard ratio " + Short(options.discard_ratio);
  if (options.compat != RolloutCompat::kNone) {
    text += ", compat " + std::string(CompatName(options.compat));
  }
  if (selection.method == Method::kSimilarity) {
    text += " of " + std::string(FeaturesName(options.features));
  }
  if (options.foreground) text += ", foreground " + ForegroundText(*options.foreground);
  return text;
}

Json Choice(const LayerChoice& choice) {
  if (choice.single) return choice.begin == -1 ? Json("last") : Json(choice.begin);
  if (choice.begin == 0 && choice.open_end) return "all";
  return std::to_string(choice.begin) + ":" +
         (choice.open_end ? std::string() : std::to_string(choice.end));
}

Json Choice(const HeadChoice& choice) {
  if (choice.kind == HeadChoice::Kind::kAll) return "all";
  if (choice.kind == HeadChoice::Kind::kFused) return std::string(FusionName(choice.fusion));
  return choice.heads;
}

Json Choice(const QueryChoice& choice) {
  using Kind = QueryChoice::Kind;
  switch (choice.kind) {
    case Kind::kDefault:
      return "default";
    case Kind::kClass:
      return "class";
    case Kind::kPool:
      return "pool";
    case Kind::kPatch:
      return std::to_string(choice.row) + "," + std::to_string(choice.col);
    case Kind::kPixel:
      return "px:" + Short(choice.x) + "," + Short(choice.y);
    case Kind::kToken:
      return "token:" + std::to_string(choice.token);
    case Kind::kMean:
      return "mean";
    case Kind::kAll:
      return "all";
  }
  return nullptr;
}

std::string NormalizeText(const Normalize& normalize) {
  switch (normalize.kind) {
    case Normalize::Kind::kMinMax:
      return "minmax";
    case Normalize::Kind::kMax:
      return "max";
    case Normalize::Kind::kPercentile:
      return "percentile:" + Short(normalize.low) + "," + Short(normalize.high);
    case Normalize::Kind::kRange:
      return "range:" + Short(normalize.low) + "," + Short(normalize.high);
  }
  return "unknown";
}

// Those that the method has, and what was said of outliers and objects.
void AddMethodOptions(const SelectionOptions& selection, Json& json) {
  const MethodOptions& options = selection.options;
  if (selection.method == Method::kRollout) {
    json["start_layer"] = options.start_layer;
    json["discard_ratio"] = options.discard_ratio;
    json["compat"] = std::string(CompatName(options.compat));
  }
  if (selection.method == Method::kSimilarity) {
    json["features"] = std::string(FeaturesName(options.features));
  }
  if (selection.method == Method::kPca) {
    json["foreground"] = options.foreground ? Json(ForegroundText(*options.foreground)) : Json();
  }
  json["outliers"] = std::string(OutlierRuleName(options.outliers));
}

Json ObjectsJson(const std::vector<MapObject>& objects) {
  const auto rounded = [](double value, double digits) {
    return std::round(value * digits) / digits;
  };
  constexpr double kPixels = 100;  // to the hundredth of a pixel
  constexpr double kShares = 1e6;
  Json list = Json::array();
  for (const MapObject& object : objects) {
    const Rect& box = object.box;
    list.push_back({{"layer", object.layer < 0 ? Json(nullptr) : Json(object.layer)},
                    {"head", object.head.empty() ? Json(nullptr) : Json(object.head)},
                    {"box",
                     {rounded(box.top, kPixels), rounded(box.left, kPixels),
                      rounded(box.bottom, kPixels), rounded(box.right, kPixels)}},
                    {"area", rounded(object.area, kPixels)},
                    {"patches", object.patches},
                    {"mass", rounded(object.mass, kShares)}});
  }
  return list;
}

Json SizeOf(const FitOptions& fit) {
  if (fit.exact) return {fit.exact->rows, fit.exact->cols};
  if (fit.side) return *fit.side;
  return nullptr;
}

// Not-a-number and infinities have no place in JSON.
Json Number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string Dump(const Json& json) {
  // A file name need not be UTF-8; the record stays valid JSON all the same.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string OutputText(const std::string& output) {
  return output == "-" ? "standard output" : output;
}

std::string SelectionText(const MapResult& result, const MapJob& job) {
  std::string text = LayersText(result);
  if (!result.heads.empty()) text += ", " + HeadsText(result);
  if (!result.query.empty()) text += ", query " + result.query;
  if (job.selection.method != Method::kAttention) text += ", " + MethodText(result, job.selection);
  if (job.format.picture && job.picture.mass) text += ", mass " + Short(*job.picture.mass);
  if (job.selection.precision != Precision::kFloat32) {
    text += ", precision " + std::string(PrecisionName(job.selection.precision));
  }
  return text;
}

std::string GridText(const PatchGrid& grid) {
  return "grid " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols) + " patches of " +
         std::to_string(grid.patch_size) + " px";
}

std::string ValuesText(double min, double max, bool constant) {
  return constant && min == max ? "constant value " + Short(min)
                                : "values " + Short(min) + " to " + Short(max);
}

std::string ClassesText(const MapResult& result) {
  std::string text;
  for (size_t i = 0; i < result.top5.size(); ++i) {
    const ClassProbability& entry = result.top5[i];
    text += (i == 0 ? "; top 5: " : ", ") +
            (entry.label.empty() ? "class " + std::to_string(entry.index) : entry.label) + " " +
            Short(100 * entry.probability) + " %";
  }
  return text;
}

// All that is worth saying of one picture.
std::vector<std::string> NotesOf(const MapResult& result) {
  std::vector<std::string> notes = result.notes;
  notes.insert(notes.end(), result.map_notes.begin(), result.map_notes.end());
  if (const auto& tally = result.outliers) {
    notes.push_back(OutlierText(*tally));
  }
  return notes;
}

// Several pictures' results of one model as one, as far as a line tells of them.
MapResult Joined(std::span<const MapResult> results, size_t first, size_t step) {
  MapResult all = results[first];
  int64_t count = 1;
  for (size_t i = first + step; i < results.size(); i += step, ++count) {
    const MapResult& one = results[i];
    all.min = std::min(all.min, one.min);
    all.max = std::max(all.max, one.max);
    if (all.outliers && one.outliers) all.outliers->count.Add(one.outliers->count);
  }
  if (count > 1) {
    all.map_notes.clear();
    if (all.outliers) AddPlaces(Counted(count, "picture"), *all.outliers);
  }
  return all;
}

}  // namespace

void AddPlaces(const std::string& places, OutlierTally& tally) {
  tally.places += (tally.places.empty() ? "" : " of ") + places;
}

std::string SuccessLine(const MapResult& result, const MapJob& job) {
  return "wrote " + OutputText(result.output) + ": " + WhatWasDone(result, job);
}

std::string WhatWasDone(const MapResult& result, const MapJob& job) {
  return SelectionText(result, job) + ", " + GridText(result.grid) + ", " +
         ValuesText(result.min, result.max, result.constant) + NotesText(NotesOf(result)) +
         ClassesText(result);
}

void MergeNotes(std::span<const std::string> notes, std::vector<std::string>& all) {
  for (const std::string& note : notes) {
    if (std::find(all.begin(), all.end(), note) == all.end()) all.push_back(note);
  }
}

std::string NotesText(std::span<const std::string> notes) {
  std::string text;
  for (const std::string& note : notes) text += "; " + note;
  return text;
}

std::string SheetSuccessLine(std::span<const MapResult> results, const SheetPictures& sheet,
                             const MapJob& job) {
  const size_t num_models = sheet.models.size();
  const std::vector<std::string> models = ModelLabels(sheet.models);
  std::string line = "wrote " + OutputText(sheet.output) + ": " +
                     Counted(static_cast<int64_t>(sheet.images.size()), "picture");
  if (num_models > 1) line += " through " + std::to_string(num_models) + " models";
  for (size_t m = 0; m < num_models; ++m) {
    if (num_models > 1) line += (m == 0 ? ": " : "; ") + models[m] + ":";
    const MapResult all = Joined(results, m, num_models);
    line += (num_models > 1 ? " " : ", ") + SelectionText(all, job) + ", " +
            ValuesText(all.min, all.max, all.constant);
    for (const std::string& note : all.map_notes) line += ", " + note;
    if (all.outliers) {
      line += ", " + OutlierText(*all.outliers);
    }
  }
  std::vector<std::string> notes;
  for (const MapResult& result : results) MergeNotes(result.notes, notes);
  return line + NotesText(notes);
}

std::string SettingsJson(const MapJob& job) {
  const SelectionOptions& selection = job.selection;
  Json json;
  json["layer"] = Choice(selection.layers);
  json["head"] = Choice(selection.heads);
  json["query"] = Choice(selection.query);
  json["method"] = std::string(MethodName(selection.method));
  AddMethodOptions(selection, json);
  json["fit"] = std::string(FitName(job.input.fit.fit));
  json["size"] = SizeOf(job.input.fit);
  json["scale"] = selection.scale ? Json(*selection.scale) : Json("sqrt");
  json["precision"] = std::string(PrecisionName(selection.precision));
  if (job.format.picture) {
    json["layout"] =
        job.Given("--layout") ? Json(std::string(LayoutName(job.picture.layout))) : Json();
    json["colormap"] = job.picture.colormap;
    json["alpha"] = job.picture.alpha;
    json["interpolation"] = std::string(InterpolationName(job.picture.interpolation));
    json["normalize"] = NormalizeText(job.picture.normalize);
    json["shared_scale"] = job.picture.shared_scale;
    json["colorbar"] = job.Given("--colorbar") ? Json(job.picture.colorbar) : Json();
    json["output_size"] = job.picture.output_size
                              ? Json{job.picture.output_size->rows, job.picture.output_size->cols}
                              : Json();
    json["mass"] = job.picture.mass ? Json(*job.picture.mass) : Json();
    json["contour"] = job.picture.contour;
  }
  return Dump(json);
}

std::string RecordJson(const MapResult& result, const std::string& model,
                       const std::string& settings, const std::optional<std::string>& error,
                       bool with_selection) {
  Json json;
  json["image"] = result.image;
  json["output"] = error ? Json(nullptr) : Json(result.output);
  json["status"] = error ? "failed" : "ok";
  json["error"] = error ? Json(*error) : Json(nullptr);
  json["model"] = model;
  json["settings"] = Json::parse(settings);
  json["grid"] = error ? Json(nullptr) : Json{result.grid.rows, result.grid.cols};
  json["min"] = error ? Json(nullptr) : Number(result.min);
  json["max"] = error ? Json(nullptr) : Number(result.max);
  json["seconds"] = std::round(result.seconds * 1e6) / 1e6;
  if (result.objects && !error) json["objects"] = ObjectsJson(*result.objects);
  if (with_selection && !error) {
    json["layer"] = result.layers.empty()       ? Json(nullptr)
                    : result.layers.size() == 1 ? Json(result.layers[0])
                                                : Json(result.layers);
    json["heads"] = result.heads.empty() ? Json(nullptr) : Json(result.heads);
    json["query"] = result.query.empty() ? Json(nullptr) : Json(result.query);
    if (!result.top5.empty()) {
      Json top = Json::array();
      for (const ClassProbability& entry : result.top5) {
        top.push_back({{"class", entry.index},
                       {"label", entry.label.empty() ? Json(nullptr) : Json(entry.label)},
                       {"probability", entry.probability}});
      }
      json["top5"] = std::move(top);
    }
    const std::vector<std::string> notes = NotesOf(result);
    if (!notes.empty()) json["notes"] = notes;
  }
  return Dump(json);
}

}  // namespace attnmap
