#ifndef ATTNMAP_ANALYSIS_MAPS_H_
#define ATTNMAP_ANALYSIS_MAPS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnmap/analysis/outliers.h"
#include "attnmap/analysis/rollout.h"
#include "attnmap/core/capture.h"
#include "attnmap/core/patch_map.h"
#include "attnmap/core/selection.h"
#include "attnmap/core/thread_pool.h"

namespace attnmap {

// Formulas: docs/methods.md.
enum class Method {
  kAttention,   // a row of one layer's weights (DINO, Caron et al. 2021)
  kRollout,     // across layers (Abnar & Zuidema 2020)
  kValueNorm,   // weights times the norm of what they carry (Kobayashi et al. 2020)
  kSimilarity,  // cosine of each patch's features to a token's (Amir et al. 2021)
  kPca,         // patch features as colours (Oquab et al. 2023)
};

// What becomes of outlier tokens (attnmap/analysis/outliers.h).
enum class OutlierRule {
  kKeep,
  kClip,     // cut to the largest value of the other patches, then the map has its old sum again
  kExclude,  // not shown, and not a number
};

// What `similarity` compares.
enum class Features {
  kOutputs,  // what leaves the block
  kKeys,     // the layer's keys, heads concatenated
};

// Which side of the first component `pca` takes for the foreground.
struct Foreground {
  double threshold = 0;  // of the component scaled to [0, 1]
  bool below = false;
};

struct MethodOptions {
  int start_layer = 0;  // rollout: the first layer multiplied
  RolloutCompat compat = RolloutCompat::kNone;
  double discard_ratio = 0;
  OutlierRule outliers = OutlierRule::kKeep;
  Features features = Features::kOutputs;
  std::optional<Foreground> foreground;
};

// Which maps are wanted of one image: one per layer and head chosen, layers
// ascending, heads within a layer in the order given. The pool query stands behind all
// layers: its maps have none (-1), but those of a rollout. With the query `all` there is one map
// for each layer, head and query token, tokens innermost. `similarity` has no heads, `pca` neither
// layers, heads nor query: the names of what does not apply are empty, and the layer of pca is the
// last.
struct MapRequest {
  Method method = Method::kAttention;
  std::vector<int> layers;
  HeadChoice heads;
  ResolvedQuery query;
  TokenLayout tokens;
  PatchGrid grid;
  int num_heads = 0;
  MethodOptions options;
  // The factor on the scores, where weights are softmax(factor * q.k) and so can be
  // computed again from queries and keys. Nothing: they have a bias besides.
  std::optional<float> score_scale;
  // value-norm, by layer: what a head's output is multiplied with, (width, heads * value_dim).
  // data null: no output projection. Valid while the sink lives.
  std::vector<MatrixView> output_weights;
  // For what has to be kept at N x N, in bytes.
  int64_t memory_limit = int64_t{2} << 30;
  // Rollout: matrices that need more than this are computed again, where possible.
  int64_t keep_limit = int64_t{128} << 20;
};

// A sink that keeps just what the maps need (for the mean over patch rows:
// a running sum, never N x N), and then makes them. Values are the attention
// weights as they are, not renormalised over the patches. The same to the bit
// for any number of threads and any order of tiles. For rollout the layer
// chosen is the last one multiplied; layers start_layer to it are captured.
class MapSink : public AttentionSink {
 public:
  // Once the encoder is done. The pool does what is left to compute.
  virtual std::vector<PatchMap> Maps(ThreadPool& pool) = 0;
  std::vector<PatchMap> Maps() {
    ThreadPool alone(1);
    return Maps(alone);
  }
  // Where outlier tokens are treated: how many there are, over the layers asked for; after Maps.
  virtual std::optional<OutlierCount> Outliers() const { return std::nullopt; }
  // What else is worth saying of the maps; after Maps.
  virtual std::vector<std::string> Notes() const { return {}; }
};

// Throws Error where the request needs more memory than its limit, or the
// model does not have what the method reads.
std::unique_ptr<MapSink> MakeMapSink(const MapRequest& request);

// One attention row's patch columns. row: (tokens).
PatchMap MapFromRow(std::span<const float> row, const TokenLayout& tokens, const PatchGrid& grid);

// Entropy in nats of one row, 0 ln 0 = 0.
double Entropy(std::span<const float> row);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_MAPS_H_
