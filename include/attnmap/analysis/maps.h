#ifndef ATTNMAP_ANALYSIS_MAPS_H_
#define ATTNMAP_ANALYSIS_MAPS_H_

#include <memory>
#include <span>
#include <vector>

#include "attnmap/core/capture.h"
#include "attnmap/core/patch_map.h"
#include "attnmap/core/selection.h"

namespace attnmap {

enum class Method { kAttention, kRollout };

// Which maps are wanted of one image: one per layer and head chosen.
struct MapRequest {
  Method method = Method::kAttention;
  std::vector<int> layers;
  HeadChoice heads;
  ResolvedQuery query;
  TokenLayout tokens;
  PatchGrid grid;
  int num_heads = 0;
};

// A sink that keeps just what the maps need (for the mean over patch rows:
// a running sum, never N x N), and then makes them. For rollout the layer
// chosen is the last one multiplied; layers 0 to it are captured.
class MapSink : public AttentionSink {
 public:
  virtual std::vector<PatchMap> Maps() const = 0;
};
std::unique_ptr<MapSink> MakeMapSink(const MapRequest& request);

// One attention row's patch columns.
PatchMap MapFromRow(std::span<const float> row, const TokenLayout& tokens, const PatchGrid& grid);

// The smallest set of patches that holds a share of the shown patches' mass
// (DINO's rule: sort ascending, cumulate, keep where above 1 - share). 1 where kept.
std::vector<uint8_t> MassMask(const PatchMap& map, double share);

// Entropy in nats of one row.
double Entropy(std::span<const float> row);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_MAPS_H_
