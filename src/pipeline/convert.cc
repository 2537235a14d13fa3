#include <algorithm>
#include <charconv>
#include <filesystem>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "attnmap/formats/json_weights.h"
#include "attnmap/pipeline/session.h"
#include "attnmap/pipeline/weights_files.h"

namespace attnmap {
namespace {

enum class WeightsFormat { kJson, kSafetensors, kNpz };

WeightsFormat FormatOf(const std::string& output) {
  const std::string ending = std::filesystem::path(output).extension().string();
  if (ending == ".json") return WeightsFormat::kJson;
  if (ending == ".safetensors") return WeightsFormat::kSafetensors;
  if (ending == ".npz") return WeightsFormat::kNpz;
  throw UsageError("'" + output +
                   "': weights are written as .json, .safetensors or .npz, chosen by the ending");
}

std::vector<ArrayToWrite> Arrays(const std::vector<NamedTensor>& tensors) {
  std::vector<ArrayToWrite> arrays;
  arrays.reserve(tensors.size());
  for (const NamedTensor& named : tensors) {
    arrays.push_back({named.name, named.tensor.shape(), named.tensor.values()});
  }
  return arrays;
}

void WriteJson(const std::string& output, const VitModel& model,
               const std::vector<NamedTensor>& tensors, bool nested) {
  const std::string header = CanonicalHeader(model);
  if (HasLayerForm(model.config)) {
    WriteJsonLayer(output, header, tensors);
  } else {
    WriteJsonWeights(output, header, tensors, nested);
  }
}

// Canonical names, in the format that the ending of `options.output` names.
ConvertResult Write(const VitModel& model, const ConvertOptions& options) {
  const std::vector<NamedTensor> tensors = CanonicalTensors(model);
  ConvertResult result;
  result.num_tensors = tensors.size();
  for (const NamedTensor& named : tensors) result.num_parameters += named.tensor.size();
  result.notes = model.notes;
  result.files = {options.output};
  switch (FormatOf(options.output)) {
    case WeightsFormat::kJson:
      WriteJson(options.output, model, tensors, options.nested);
      break;
    case WeightsFormat::kSafetensors: {
      const SafetensorsOptions write{options.type, {{kArchiveHeader, CanonicalHeader(model)}}};
      if (options.shard_size > 0) {
        result.files =
            WriteSafetensorsShards(options.output, Arrays(tensors), options.shard_size, write);
      } else {
        WriteSafetensors(options.output, Arrays(tensors), write);
      }
      break;
    }
    case WeightsFormat::kNpz:
      WriteNpz(options.output, Arrays(tensors), CanonicalHeader(model));
      break;
  }
  return result;
}

}  // namespace

void CheckConvert(const ConvertOptions& options) {
  const WeightsFormat format = FormatOf(options.output);
  if (format != WeightsFormat::kSafetensors && options.type_given) {
    throw UsageError("--dtype goes with .safetensors; " + options.output + " is written as f32");
  }
  if (format != WeightsFormat::kSafetensors && options.shard_size > 0) {
    throw UsageError("--shard-size goes with .safetensors, not with " + options.output);
  }
  if (format != WeightsFormat::kJson && options.nested) {
    throw UsageError("--nested goes with .json, not with " + options.output);
  }
}

ConvertResult RunConvert(const ConvertOptions& options) {
  CheckConvert(options);
  return Write(LoadModel(options.model), options);
}

ConvertResult RunInit(const InitFileOptions& options) {
  ConvertOptions write;
  write.output = options.output;
  write.nested = options.nested;
  CheckConvert(write);
  return Write(InitModel(options.init), write);
}

DataType ParseDataType(std::string_view text) {
  for (DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16}) {
    if (text == DataTypeName(type)) return type;
  }
  throw UsageError("--dtype '" + std::string(text) + "' is not known: it takes f32, f16 or bf16");
}

uint64_t ParseSeed(std::string_view text) {
  uint64_t seed = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (code != std::errc() || stop != text.data() + text.size()) {
    throw UsageError("--seed '" + std::string(text) +
                     "' is not a seed: it takes a whole number from 0 to 18446744073709551615");
  }
  return seed;
}

int64_t ParseByteSize(std::string_view option, std::string_view text) {
  struct Unit {
    std::string_view name;
    int64_t bytes;
  };
  constexpr Unit kUnits[] = {
      {"", 1},          {"B", 1},         {"KB", 1000},    {"MB", 1'000'000}, {"GB", 1'000'000'000},
      {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
  int64_t count = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit(stop, static_cast<size_t>(text.data() + text.size() - stop));
  constexpr int64_t kMost = int64_t{1} << 50;
  for (const Unit& known : kUnits) {
    if (code != std::errc() || unit != known.name || count < 1) continue;
    if (count > kMost / known.bytes) break;
    return count * known.bytes;
  }
  throw UsageError(std::string(option) + " '" + std::string(text) +
                   "' is not a size: it takes a number of bytes, such as 500MB or 2GiB");
}

}  // namespace attnmap
