#include "attnmap/export/export.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "attnmap/formats/file.h"

namespace attnmap {
namespace {

using Sink = std::function<void(std::string_view)>;

std::string JsonString(const std::string& text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string StringOrNull(const std::string& text) {
  return text.empty() ? "null" : JsonString(text);
}

void AppendRecord(std::string& text, const ExportedArray& array) {
  text += "{\"name\": " + JsonString(array.name) + ", \"shape\": [";
  const Shape& shape = array.tensor.shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  text += "], \"layer\": " + (array.layer ? std::to_string(*array.layer) : "null");
  text += ", \"head\": " + StringOrNull(array.head);
  text += ", \"query\": " + StringOrNull(array.query) + ", \"data\": ";
  AppendJsonArray(text, shape, array.tensor.values());
  text += '}';
}

// An array at a time, so that a large model is never one text in memory.
void WriteJson(std::span<const ExportedArray> arrays, const Sink& sink) {
  const bool single = arrays.size() == 1;
  if (!single) sink("{");
  for (size_t i = 0; i < arrays.size(); ++i) {
    std::string text;
    if (!single) text = (i > 0 ? ",\n" : "\n") + JsonString(arrays[i].name) + ": ";
    AppendRecord(text, arrays[i]);
    sink(text);
  }
  sink(single ? "\n" : "\n}\n");
}

std::vector<ArrayToWrite> ToWrite(std::span<const ExportedArray> arrays) {
  std::vector<ArrayToWrite> result;
  for (const ExportedArray& array : arrays) {
    result.push_back({array.name, array.tensor.shape(), array.tensor.values()});
  }
  return result;
}

std::string ToText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void CheckSingle(std::string_view format, std::span<const ExportedArray> arrays) {
  if (arrays.size() == 1) return;
  throw UsageError("a " + std::string(format) + " file holds one matrix, " +
                   std::to_string(arrays.size()) +
                   " were chosen: choose one, or write npz, safetensors or json");
}

}  // namespace

void CheckExport(ArrayFormat format, std::span<const ExportedArray> arrays) {
  if (format == ArrayFormat::kNpy) CheckSingle(".npy", arrays);
  if (format == ArrayFormat::kCsv) {
    CheckSingle(".csv", arrays);
    const ExportedArray& array = arrays.front();
    if (array.tensor.shape().size() > 2) {
      throw UsageError("a .csv file holds a matrix of at most two axes, " + array.name + " is " +
                       ToString(array.tensor.shape()) + ": write npy, npz, safetensors or json");
    }
  }
  std::set<std::string_view> names;
  for (const ExportedArray& array : arrays) {
    if (!array.tensor.present()) throw Error("there is nothing in the matrix " + array.name);
    if (!names.insert(array.name).second) throw Error("two matrices are called " + array.name);
  }
}

void ExportArrays(const std::string& path, ArrayFormat format,
                  std::span<const ExportedArray> arrays) {
  CheckExport(format, arrays);
  switch (format) {
    case ArrayFormat::kJson: {
      AtomicFile file(path);
      WriteJson(arrays, [&](std::string_view text) { file.Write(text); });
      file.Commit();
      return;
    }
    case ArrayFormat::kNpz:
      WriteNpz(path, ToWrite(arrays));
      return;
    case ArrayFormat::kSafetensors:
      WriteSafetensors(path, ToWrite(arrays));
      return;
    case ArrayFormat::kNpy:
    case ArrayFormat::kCsv: {
      const std::string bytes = ExportBytes(format, arrays);
      WriteFileAtomically(path, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
      return;
    }
  }
}

std::string ExportBytes(ArrayFormat format, std::span<const ExportedArray> arrays) {
  CheckExport(format, arrays);
  switch (format) {
    case ArrayFormat::kJson: {
      std::string text;
      WriteJson(arrays, [&](std::string_view part) { text += part; });
      return text;
    }
    case ArrayFormat::kNpz:
      return ToText(NpzBytes(ToWrite(arrays)));
    case ArrayFormat::kSafetensors:
      return ToText(SafetensorsBytes(ToWrite(arrays)));
    case ArrayFormat::kNpy:
      return ToText(NpyBytes(arrays[0].tensor.shape(), arrays[0].tensor.values()));
    case ArrayFormat::kCsv:
      return CsvText(arrays[0].tensor.shape(), arrays[0].tensor.values());
  }
  throw Error("unknown array format");
}

}  // namespace attnmap
