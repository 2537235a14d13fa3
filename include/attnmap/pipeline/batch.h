#ifndef ATTNMAP_PIPELINE_BATCH_H_
#define ATTNMAP_PIPELINE_BATCH_H_

#include <functional>
#include <string>
#include <vector>

#include "attnmap/pipeline/batch_inputs.h"
#include "attnmap/pipeline/run.h"

namespace attnmap {

struct BatchOptions {
  ModelOptions model;
  MapJob job;
  std::string output_dir;
  bool shared_scale = false;
  const StopFlag* stop = nullptr;
};

struct BatchProgress {
  size_t done = 0;  // ok and failed
  size_t total = 0;
  const BatchItem* item = nullptr;
  std::string error;   // empty: ok
  std::string record;  // the manifest's line, as --json prints it (with the selection)
};

struct BatchSummary {
  size_t ok = 0;
  size_t failed = 0;
  bool interrupted = false;
};

// Does all items, several at once, each on a thread of its own; goes on past
// those that fail. Appends a line to DIR/manifest.jsonl for each as it ends.
// `report` is called after each, from one thread at a time.
BatchSummary RunBatch(const std::vector<BatchItem>& items, const BatchOptions& options,
                      const std::function<void(const BatchProgress&)>& report);

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_BATCH_H_
