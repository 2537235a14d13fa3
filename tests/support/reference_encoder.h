#ifndef ATTNMAP_TESTS_SUPPORT_REFERENCE_ENCODER_H_
#define ATTNMAP_TESTS_SUPPORT_REFERENCE_ENCODER_H_

#include <map>
#include <optional>
#include <vector>

#include "attnmap/core/capture.h"
#include "attnmap/core/model_input.h"
#include "attnmap/model/vit_model.h"

namespace attnmap::test {

// Rows of double.
using Rows = std::vector<std::vector<double>>;

// What one layer computes. Per head where the encoder hands it over per head.
struct ReferenceLayer {
  Rows tokens;                                // (tokens, D)
  std::vector<Rows> query, key, value;        // heads x (tokens, dim)
  std::vector<Rows> scores, weights, output;  // heads x (tokens, tokens or value_dim)
  Rows hidden;
};

struct ReferenceResult {
  std::vector<ReferenceLayer> layers;
  std::map<OutputKind, Rows> outputs;  // vectors as one row
};

// The whole model in double precision and plain loops, written from the
// formulas and sharing no code with the encoder, but that positions on another
// grid come from ops::ResizeGrid, which has golden values of its own. Slow.
ReferenceResult RunReference(const VitModel& model, const ModelInput& input,
                             std::optional<double> score_scale = {});

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_SUPPORT_REFERENCE_ENCODER_H_
