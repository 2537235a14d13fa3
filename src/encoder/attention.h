#ifndef ATTNMAP_ENCODER_ATTENTION_H_
#define ATTNMAP_ENCODER_ATTENTION_H_

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "attnmap/core/capture.h"
#include "attnmap/core/tensor.h"
#include "attnmap/core/thread_pool.h"
#include "attnmap/encoder/stage_times.h"
#include "attnmap/ops/panels.h"
#include "attnmap/ops/relative_position.h"
#include "encoder/workspace.h"

namespace attnmap::encoder {

// One layer's attention: softmax(scale * q.k + bias) . v, in tiles of query
// rows, never a whole (tokens, tokens) matrix.
struct Attention {
  int layer = 0;
  int num_heads = 0;
  int64_t num_tokens = 0;
  int64_t head_dim = 0;
  int64_t value_dim = 0;
  float scale = 1;

  std::span<const int> queries;                // the token of each row of `query`, ascending
  MatrixView query;                            // (queries, heads * head_dim)
  std::span<const ops::MutablePanels> keys;    // a head each: (head_dim, tokens)
  std::span<const ops::MutablePanels> values;  // a head each: (tokens, value_dim)
  const ops::RelativePositionBias* bias = nullptr;

  // The leading rows of `query` whose A.V is wanted, and where it goes.
  int64_t context_rows = 0;
  MutableMatrixView context;  // (context_rows, heads * value_dim)

  const LayerWants* wants = nullptr;
  AttentionSink* sink = nullptr;
  const std::atomic<bool>* stop = nullptr;
  StageTimes* times = nullptr;
};

// Hands the rows asked for to the sink, from the workers' threads.
void RunAttention(const Attention& attention, ThreadPool& pool,
                  std::vector<WorkerScratch>& workers);

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_ATTENTION_H_
