#ifndef ATTNMAP_PIPELINE_WEIGHTS_FILES_H_
#define ATTNMAP_PIPELINE_WEIGHTS_FILES_H_

#include <string>
#include <vector>

#include "attnmap/pipeline/options.h"

namespace attnmap {

// `inspect`: what a weights file is, as text or JSON.
struct InspectOptions {
  ModelOptions model;
  bool json = false;
  bool tensors = true;  // list them
};
std::string RunInspect(const InspectOptions& options);

// `convert`: between weight formats; the ending of `output` chooses.
struct ConvertOptions {
  ModelOptions model;
  std::string output;
  DataType type = DataType::kF32;  // safetensors
  bool type_given = false;
  bool nested = false;     // JSON: nested arrays instead of flat ones with a shape
  int64_t shard_size = 0;  // bytes of a shard, safetensors; 0: one file
};
struct ConvertResult {
  std::vector<std::string> files;
  size_t num_tensors = 0;
  int64_t num_parameters = 0;
  std::vector<std::string> notes;
};
ConvertResult RunConvert(const ConvertOptions& options);

// Checks what can be checked before a file is opened: UsageError.
void CheckConvert(const ConvertOptions& options);

// `init`: fresh random weights.
struct InitFileOptions {
  InitOptions init;
  std::string output;
  bool nested = false;
};
ConvertResult RunInit(const InitFileOptions& options);

// "f32", "f16", "bf16".
DataType ParseDataType(std::string_view text);
// 0 to 2^64 - 1.
uint64_t ParseSeed(std::string_view text);
// A number of bytes, with K, M or G (powers of 1000) or KiB, MiB, GiB.
int64_t ParseByteSize(std::string_view option, std::string_view text);

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_WEIGHTS_FILES_H_
