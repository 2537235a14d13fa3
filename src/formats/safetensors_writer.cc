#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <list>
#include <utility>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "attnmap/formats/dtype.h"
#include "formats/array_checks.h"
#include "formats/text.h"

namespace attnmap {
namespace {

using Sink = std::function<void(std::span<const uint8_t>)>;

std::string_view TypeName(DataType type) {
  switch (type) {
    case DataType::kF32:
      return "F32";
    case DataType::kF16:
      return "F16";
    case DataType::kBF16:
      return "BF16";
    default:
      throw Error("safetensors are written as f32, f16 or bf16, not as " +
                  std::string(DataTypeName(type)));
  }
}

std::string Header(std::span<const ArrayToWrite> arrays, const SafetensorsOptions& options) {
  const std::string type(TypeName(options.type));
  std::string json = "{";
  if (!options.metadata.empty()) {
    json += "\"__metadata__\":{";
    for (const auto& [key, value] : options.metadata) {
      json += JsonString(key) + ':' + JsonString(value) + ',';
    }
    json.back() = '}';
    json += ',';
  }
  int64_t begin = 0;
  for (const ArrayToWrite& array : arrays) {
    std::string shape;
    for (int64_t dim : array.shape) shape += (shape.empty() ? "" : ",") + std::to_string(dim);
    const int64_t end = begin + NumElements(array.shape) * DataTypeSize(options.type);
    json += JsonString(array.name) + R"(:{"dtype":")" + type + R"(","shape":[)" + shape +
            R"(],"data_offsets":[)" + std::to_string(begin) + ',' + std::to_string(end) + "]},";
    begin = end;
  }
  if (json.back() == ',') json.pop_back();
  json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');  // the numbers start aligned
  return json;
}

// Numbers in half their bytes, piece by piece.
void PutHalves(const ArrayToWrite& array, DataType type, const Sink& sink) {
  std::array<uint16_t, 16384> piece;
  for (size_t at = 0; at < array.values.size(); at += piece.size()) {
    const auto values = array.values.subspan(at, std::min(piece.size(), array.values.size() - at));
    for (size_t i = 0; i < values.size(); ++i) {
      const bool half = type == DataType::kF16;
      piece[i] = half ? FloatToHalf(values[i]) : FloatToBfloat16(values[i]);
      const float back = half ? HalfToFloat(piece[i]) : Bfloat16ToFloat(piece[i]);
      if (std::isinf(back) && std::isfinite(values[i])) {
        std::string number;
        AppendFloat(number, values[i]);
        throw Error("cannot write the tensor " + Shown(array.name) + " as " +
                    std::string(DataTypeName(type)) + ": its value " + number + " is too large");
      }
    }
    sink({reinterpret_cast<const uint8_t*>(piece.data()), values.size() * sizeof(uint16_t)});
  }
}

void Put(std::span<const ArrayToWrite> arrays, const SafetensorsOptions& options,
         const Sink& sink) {
  const std::string header = Header(arrays, options);
  const uint64_t length = header.size();
  std::array<uint8_t, sizeof length> preamble;
  std::memcpy(preamble.data(), &length, sizeof length);
  sink(preamble);
  sink(AsBytes(header));
  for (const ArrayToWrite& array : arrays) {
    if (options.type == DataType::kF32) {
      sink(AsBytes(array.values));
    } else {
      PutHalves(array, options.type, sink);
    }
  }
}

void Check(std::span<const ArrayToWrite> arrays) {
  RequireWritable(arrays);
  for (const ArrayToWrite& array : arrays) {
    if (array.name == "__metadata__") {
      throw Error("safetensors: no tensor may be called __metadata__");
    }
  }
}

// Where each shard begins in the list of arrays, and the list's end.
std::vector<size_t> Cut(std::span<const ArrayToWrite> arrays, int64_t shard_bytes, DataType type) {
  std::vector<size_t> cuts = {0};
  int64_t used = 0;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const int64_t bytes = NumElements(arrays[i].shape) * DataTypeSize(type);
    if (i > cuts.back() && bytes > shard_bytes - used) {
      cuts.push_back(i);
      used = 0;
    }
    used += bytes;
  }
  cuts.push_back(arrays.size());
  return cuts;
}

std::string ShardName(const std::string& stem, size_t number, size_t count) {
  const auto digits = [](size_t value) {
    const std::string text = std::to_string(value);
    return std::string(5 - std::min<size_t>(5, text.size()), '0') + text;
  };
  return stem + '-' + digits(number) + "-of-" + digits(count) + ".safetensors";
}

}  // namespace

std::vector<uint8_t> SafetensorsBytes(std::span<const ArrayToWrite> arrays,
                                      const SafetensorsOptions& options) {
  Check(arrays);
  std::vector<uint8_t> bytes;
  Put(arrays, options,
      [&](std::span<const uint8_t> part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
  return bytes;
}

void WriteSafetensors(const std::string& path, std::span<const ArrayToWrite> arrays,
                      const SafetensorsOptions& options) {
  Check(arrays);
  AtomicFile file(path);
  Put(arrays, options, [&](std::span<const uint8_t> part) { file.Write(part); });
  file.Commit();
}

std::vector<std::string> WriteSafetensorsShards(const std::string& path,
                                                std::span<const ArrayToWrite> arrays,
                                                int64_t shard_bytes,
                                                const SafetensorsOptions& options) {
  Check(arrays);
  const auto cuts = Cut(arrays, shard_bytes, options.type);
  const size_t count = cuts.size() - 1;
  const std::filesystem::path target(path);
  std::vector<std::string> paths;
  std::list<AtomicFile> files;  // put in place only when all are written
  const auto open = [&](const std::string& name) -> AtomicFile& {
    paths.push_back((target.parent_path() / name).string());
    return files.emplace_back(paths.back());
  };

  std::string map;
  int64_t total = 0;
  for (size_t shard = 0; shard < count; ++shard) {
    const std::string name = ShardName(target.stem().string(), shard + 1, count);
    const auto part = arrays.subspan(cuts[shard], cuts[shard + 1] - cuts[shard]);
    AtomicFile& file = open(name);
    Put(part, options, [&](std::span<const uint8_t> bytes) { file.Write(bytes); });
    for (const ArrayToWrite& array : part) {
      map +=
          (map.empty() ? "\n    " : ",\n    ") + JsonString(array.name) + ": " + JsonString(name);
      total += NumElements(array.shape) * DataTypeSize(options.type);
    }
  }
  open(target.stem().string() + ".safetensors.index.json")
      .Write("{\n  \"metadata\": {\"total_size\": " + std::to_string(total) +
             "},\n  \"weight_map\": {" + map + "\n  }\n}\n");
  for (AtomicFile& file : files) file.Commit();
  return paths;
}

}  // namespace attnmap
