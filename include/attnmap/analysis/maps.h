#ifndef ATTNMAP_ANALYSIS_MAPS_H_
#define ATTNMAP_ANALYSIS_MAPS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attnmap/core/capture.h"
#include "attnmap/core/patch_map.h"
#include "attnmap/core/selection.h"

namespace attnmap {

enum class Method {
  kAttention,  // a row of one layer's weights (DINO, Caron et al. 2021)
  kRollout,    // across layers (Abnar & Zuidema 2020)
};

// Which maps are wanted of one image: one per layer and head chosen, layers
// ascending, heads within a layer in the order given. The pool query has no layer: its maps
// carry the last of `layers`. With the query `all` there is one map for each
// layer, head and query token, tokens innermost.
struct MapRequest {
  Method method = Method::kAttention;
  std::vector<int> layers;
  HeadChoice heads;
  ResolvedQuery query;
  TokenLayout tokens;
  PatchGrid grid;
  int num_heads = 0;
  // For what has to be kept at N x N (rollout, the query `all`), in bytes.
  int64_t memory_limit = int64_t{2} << 30;
};

// A sink that keeps just what the maps need (for the mean over patch rows:
// a running sum, never N x N), and then makes them. Values are the attention
// weights as they are, not renormalised over the patches. The same to the bit
// for any number of threads and any order of tiles. For rollout the layer
// chosen is the last one multiplied; layers 0 to it are captured.
class MapSink : public AttentionSink {
 public:
  virtual std::vector<PatchMap> Maps() const = 0;
};

// Throws Error where the request needs more memory than its limit.
std::unique_ptr<MapSink> MakeMapSink(const MapRequest& request);

// One attention row's patch columns. row: (tokens).
PatchMap MapFromRow(std::span<const float> row, const TokenLayout& tokens, const PatchGrid& grid);

// Entropy in nats of one row, 0 ln 0 = 0.
double Entropy(std::span<const float> row);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_MAPS_H_
