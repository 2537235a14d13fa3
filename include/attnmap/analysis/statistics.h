#ifndef ATTNMAP_ANALYSIS_STATISTICS_H_
#define ATTNMAP_ANALYSIS_STATISTICS_H_

#include <memory>
#include <optional>
#include <vector>

#include "attnmap/core/capture.h"
#include "attnmap/core/patch_grid.h"
#include "attnmap/core/selection.h"

namespace attnmap {

// Numbers that describe one head of one layer on one image. With A its
// attention weights, (tokens, tokens), queries i by keys j:
struct HeadStatistics {
  int layer = 0;
  int head = 0;
  // -mean over i of sum over j of A_ij ln A_ij, in nats, over all tokens.
  double entropy = 0;
  // mean over patches i of sum over patches j of A_ij |pos_i - pos_j|, in
  // pixels of the prepared image; the other tokens' columns are left out and
  // the rest is not renormalised (Dosovitskiy et al. 2021, fig. 7).
  double distance = 0;
  // Mean over the patch queries of the weight given to the class token, and to
  // all registers; nothing where the model has none.
  std::optional<double> class_mass;
  std::optional<double> register_mass;
  // The share of the patches that hold 50 and 90 % of what a patch query gives
  // to patches, averaged over the patch queries.
  double patches_50 = 0;
  double patches_90 = 0;
  // The share of the patches that are outliers at the layer's output
  // (outliers.h), and the share of the query token's row that they get.
  double outlier_share = 0;
  std::optional<double> outlier_mass;
};

struct StatisticsRequest {
  std::vector<int> layers;  // ascending
  HeadChoice heads;         // a list, or all
  // The token whose row outlier_mass looks at; nothing: none is given.
  std::optional<int> query_token;
  TokenLayout tokens;
  PatchGrid grid;
  int num_heads = 0;
};

// Gathers the statistics tile by tile: of the weights nothing is kept but sums
// and the query token's row, never tokens x tokens. The same to the bit for any
// number of threads and any order of tiles. For one image.
class StatisticsSink : public AttentionSink {
 public:
  // A record for each layer and head, layers ascending, heads in the order given.
  virtual std::vector<HeadStatistics> Records() const = 0;
};

// Throws Error where there is no layer, or heads are fused.
std::unique_ptr<StatisticsSink> MakeStatisticsSink(const StatisticsRequest& request);

// What entropy and distance are where every token gives every token the same.
double UniformEntropy(const TokenLayout& tokens, const PatchGrid& grid);
double UniformDistance(const TokenLayout& tokens, const PatchGrid& grid);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_STATISTICS_H_
