#ifndef ATTNMAP_ANALYSIS_EXPLAIN_H_
#define ATTNMAP_ANALYSIS_EXPLAIN_H_

#include <span>
#include <vector>

#include "attnmap/core/tensor.h"

namespace attnmap {

// What one key gets of one query's attention, step by step.
struct ExplainedKey {
  int token = 0;
  double score = 0;        // q.k
  double scaled = 0;       // score * scale (+ bias)
  double exponential = 0;  // exp(scaled - the row's largest)
  double weight = 0;       // exponential / sum
};

// One query's attention in one head, worked out in double from the numbers
// the encoder used (after bias, query/key norm and RoPE).
struct RowExplanation {
  double scale = 0;                     // the factor on the scores
  double max_scaled = 0;                // subtracted before the exponential
  double sum = 0;                       // of the exponentials, over all tokens
  std::vector<ExplainedKey> strongest;  // by weight, falling; ties by token
  std::vector<double> blended;          // (value_dim): sum of weight * value
  double entropy = 0;                   // nats
  double top_weight = 0;
  double unscaled_entropy = 0;  // the same with a factor of 1
  double unscaled_top_weight = 0;
  double max_entropy = 0;  // ln(tokens): all weights equal
};

struct ExplainInput {
  std::span<const float> query;  // (head_dim)
  MatrixView keys;               // (tokens, head_dim)
  MatrixView values;             // (tokens, value_dim)
  std::span<const float> bias;   // (tokens), added after scaling; empty: none
  double scale = 1;
  int num_strongest = 10;
};

// Throws Error where the shapes do not fit each other or there is no token.
RowExplanation ExplainRow(const ExplainInput& input);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_EXPLAIN_H_
