#ifndef ATTNMAP_TESTS_ENCODER_RECORD_H_
#define ATTNMAP_TESTS_ENCODER_RECORD_H_

#include <numeric>
#include <vector>

#include "attnmap/core/capture.h"
#include "attnmap/encoder/encoder.h"

namespace attnmap::test {

inline std::vector<int> UpTo(int count) {
  std::vector<int> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Everything there is, of every layer.
inline CaptureRequest Everything(int num_layers) {
  CaptureRequest request;
  request.layers = UpTo(num_layers);
  LayerWants& wants = request.wants;
  wants.attention = wants.scores = wants.fused = QueryRows::All();
  wants.query = wants.key = wants.value = true;
  wants.tokens = wants.output = wants.hidden = true;
  request.outputs = {true, true, true, true, true};
  return request;
}

// The attention rows of one layer and nothing else.
inline CaptureRequest RowsOf(int layer, QueryRows rows) {
  CaptureRequest request;
  request.layers = {layer};
  request.wants.attention = std::move(rows);
  return request;
}

inline AttentionRecord Encode(const PreparedModel& model, const ModelInput& input,
                              const CaptureRequest& request, int num_threads = 1,
                              const EncodeSettings& settings = {}) {
  ThreadPool pool(num_threads);
  AttentionRecord record(request);
  model.Encode(input, record, pool, settings);
  return record;
}

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_ENCODER_RECORD_H_
