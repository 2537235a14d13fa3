#ifndef ATTNMAP_ANALYSIS_ROLL_LAYER_H_
#define ATTNMAP_ANALYSIS_ROLL_LAYER_H_

#include <vector>

#include "analysis/fused_rows.h"
#include "attnmap/analysis/rollout.h"

namespace attnmap {

// One step of a rollout: rows <- rows A, A made of the layer's fused weights.
// rows: (asked rows, tokens). The same to the bit for any number of threads
// and any size of the bands.
void RollLayer(FusedRows& layer, const RolloutRule& rule, ThreadPool& pool, std::span<double> rows);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_ROLL_LAYER_H_
