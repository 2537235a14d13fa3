#include <algorithm>
#include <nlohmann/json.hpp>

#include "attnmap/pipeline/session.h"
#include "attnmap/pipeline/weights_files.h"
#include "attnmap/weights/weight_source.h"

namespace attnmap {
namespace {

using Json = nlohmann::ordered_json;

std::string Left(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

// 923264 as 923,264.
std::string Grouped(int64_t value) {
  std::string text = std::to_string(value);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), ",");
  }
  return text;
}

struct Inspected {
  std::string path;
  std::string format;
  VitModel model;
  std::vector<TensorInfo> tensors;
  int64_t num_parameters = 0;

  bool Used(const std::string& name) const {
    const auto& unused = model.unused_tensors;
    return std::find(unused.begin(), unused.end(), name) == unused.end();
  }
};

Inspected Inspect(const ModelOptions& options) {
  const auto source = OpenWeights(options.path, {options.checkpoint_key});
  Inspected inspected{
      source->path(), std::string(source->format()), LoadVitModel(*source, options.load), {}, 0};
  inspected.tensors.assign(source->tensors().begin(), source->tensors().end());
  for (const TensorInfo& info : inspected.tensors) {
    if (inspected.Used(info.name)) inspected.num_parameters += NumElements(info.shape);
  }
  return inspected;
}

std::string InspectText(const Inspected& inspected, bool list_tensors) {
  const VitModel& model = inspected.model;
  const size_t unused = model.unused_tensors.size();
  size_t key_width = 0;
  size_t value_width = 0;
  for (const Provenance& row : model.provenance) {
    key_width = std::max(key_width, row.key.size());
    value_width = std::max(value_width, std::min<size_t>(row.value.size(), 40));
  }
  std::string text =
      inspected.path + "\n" + Left("format", key_width) + "  " + inspected.format + "\n" +
      Left("parameters", key_width) + "  " + Grouped(inspected.num_parameters) + " in " +
      std::to_string(inspected.tensors.size() - unused) + " tensors" +
      (unused > 0 ? ", " + std::to_string(unused) + " more tensors not used" : "") + "\n";
  for (const Provenance& row : model.provenance) {
    text +=
        Left(row.key, key_width) + "  " + Left(row.value, value_width) + "  (" + row.source + ")\n";
  }
  for (const std::string& note : model.notes) text += "note: " + note + "\n";
  if (!list_tensors) return text;
  size_t name_width = 0;
  size_t shape_width = 0;
  for (const TensorInfo& info : inspected.tensors) {
    name_width = std::max(name_width, info.name.size());
    shape_width = std::max(shape_width, ToString(info.shape).size());
  }
  text += "tensors\n";
  for (const TensorInfo& info : inspected.tensors) {
    text += "  " + Left(info.name, name_width) + "  " + Left(ToString(info.shape), shape_width) +
            "  " + std::string(DataTypeName(info.type)) +
            (inspected.Used(info.name) ? "" : "  not used") + "\n";
  }
  return text;
}

std::string InspectJson(const Inspected& inspected) {
  const VitModel& model = inspected.model;
  Json json;
  json["path"] = inspected.path;
  json["format"] = inspected.format;
  json["family"] = model.config.family;
  json["parameters"] = inspected.num_parameters;
  for (const Provenance& row : model.provenance) {
    json["config"][row.key] = {{"value", row.value}, {"source", row.source}};
  }
  json["notes"] = model.notes;
  json["labels"] = model.labels;
  json["tensors"] = Json::array();
  for (const TensorInfo& info : inspected.tensors) {
    json["tensors"].push_back({{"name", info.name},
                               {"shape", info.shape},
                               {"type", std::string(DataTypeName(info.type))},
                               {"used", inspected.Used(info.name)}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string RunInspect(const InspectOptions& options) {
  const Inspected inspected = Inspect(options.model);
  return options.json ? InspectJson(inspected) : InspectText(inspected, options.tensors);
}

}  // namespace attnmap
