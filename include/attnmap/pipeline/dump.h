#ifndef ATTNMAP_PIPELINE_DUMP_H_
#define ATTNMAP_PIPELINE_DUMP_H_

#include <string>
#include <string_view>
#include <vector>

#include "attnmap/pipeline/run.h"

namespace attnmap {

// What `--what` can name, in the order of the interface's table.
enum class DumpKind {
  kAttention,
  kScores,
  kQuery,
  kKey,
  kValue,
  kTokens,
  kOutput,
  kHidden,
  kPixels,
  kMap,
  kLogits,
  kClassTokenOutput,
  kLastHiddenState,
  kImageEmbedding,
  kPoolAttention,
  kModel,
};

// `attention,tokens`: UsageError for an unknown or doubled word, listing all.
std::vector<DumpKind> ParseDumpKinds(std::string_view text);
// Whether the list can be had without a picture.
bool NeedsImage(const std::vector<DumpKind>& kinds);

struct DumpOptions {
  std::string image;  // may be empty where NeedsImage says no
  ModelOptions model;
  InputOptions input;
  SelectionOptions selection;
  std::vector<DumpKind> kinds;
  std::string output;
  ArrayFormat format = ArrayFormat::kJson;
};

struct DumpResult {
  std::string bytes;                // for output "-"
  std::vector<std::string> arrays;  // "attention.3 (4 x 1 x 197)"
  std::vector<std::string> notes;
};

// Options that contradict each other, found before any file is opened: UsageError.
void CheckDump(const DumpOptions& options);

DumpResult RunDump(const DumpOptions& options);

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_DUMP_H_
