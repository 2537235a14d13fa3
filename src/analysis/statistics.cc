#include "attnmap/analysis/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "analysis/exact_sum.h"
#include "analysis/map_sink.h"
#include "analysis/row_statistics.h"
#include "attnmap/analysis/maps.h"
#include "attnmap/analysis/outliers.h"
#include "attnmap/core/error.h"

namespace attnmap {
namespace {

// What is added up over the rows of one head.
struct Sums {
  ExactSum entropy;  // over all rows; the rest over the patches' rows
  ExactSum distance;
  ExactSum class_mass;
  ExactSum register_mass;
  int64_t patches_50 = 0;
  int64_t patches_90 = 0;

  Sums Empty() const {
    return {entropy.Empty(), distance.Empty(), class_mass.Empty(), register_mass.Empty(), 0, 0};
  }
  void Add(const Sums& other) {
    entropy.Add(other.entropy);
    distance.Add(other.distance);
    class_mass.Add(other.class_mass);
    register_mass.Add(other.register_mass);
    patches_50 += other.patches_50;
    patches_90 += other.patches_90;
  }
};

// One head of one layer while tiles arrive.
struct HeadState {
  Sums sums;
  std::vector<float> query_row;  // (patches); empty: not asked for
};

class Gatherer : public StatisticsSink {
 public:
  explicit Gatherer(const StatisticsRequest& request)
      : request_(request),
        slots_(request.heads, request.num_heads),
        num_tokens_(request.tokens.num_tokens(request.grid)),
        distances_(request.grid) {
    if (request.layers.empty()) throw Error("statistics were asked for without a layer");
    if (request.heads.kind == HeadChoice::Kind::kFused) {
      throw Error("statistics are of one head at a time, not of fused ones");
    }
    const int64_t num_patches = request.grid.num_patches();
    HeadState state;
    state.sums.entropy = ExactSum(std::log(num_tokens_) + 1, num_tokens_);
    state.sums.distance = ExactSum(2 * distances_.largest(), num_patches);
    state.sums.class_mass = state.sums.register_mass = ExactSum(2, num_patches);
    if (request.query_token) state.query_row.resize(static_cast<size_t>(num_patches));
    for (int layer : request.layers) {
      heads_[layer].assign(static_cast<size_t>(slots_.count()), state);
    }
  }

  LayerWants Wants(int layer) const override {
    if (!heads_.contains(layer)) return {};
    LayerWants wants = slots_.Wants(QueryRows::All());
    wants.hidden = true;
    return wants;
  }

  void Begin(int num_heads, int num_tokens) override {
    if (num_heads == request_.num_heads && num_tokens == num_tokens_) return;
    throw Error("statistics were asked for of " + std::to_string(request_.num_heads) +
                " heads and " + std::to_string(num_tokens_) + " tokens, the encoder has " +
                std::to_string(num_heads) + " and " + std::to_string(num_tokens));
  }

  void OnAttention(const AttentionTile& tile) override {
    HeadState& head = heads_.at(tile.layer)[static_cast<size_t>(slots_.SlotOf(tile.head))];
    Sums sums = head.sums.Empty();
    Concentration concentration;
    for (int64_t i = 0; i < tile.rows.rows; ++i) {
      const int token = tile.queries[static_cast<size_t>(i)];
      const std::span<const float> row(tile.rows.row(i), static_cast<size_t>(num_tokens_));
      AddRow(token, row, concentration, sums);
      if (token == request_.query_token) {
        const auto patches = PatchesOf(row);
        std::copy(patches.begin(), patches.end(), head.query_row.begin());
      }
    }
    const std::lock_guard lock(mutex_);
    head.sums.Add(sums);
  }

  void OnMatrix(int layer, LayerMatrix kind, Tensor tensor) override {
    if (kind != LayerMatrix::kHidden) return;
    const int64_t width = tensor.shape[1];
    outliers_[layer] =
        OutlierPatches({tensor.values.data(), tensor.shape[0], width, width}, request_.tokens);
  }

  std::vector<HeadStatistics> Records() const override {
    std::vector<HeadStatistics> records;
    for (const auto& [layer, heads] : heads_) {
      for (size_t slot = 0; slot < heads.size(); ++slot) {
        records.push_back(Record(heads[slot], outliers_.at(layer)));
        records.back().layer = layer;
        records.back().head = slots_.Head(static_cast<int>(slot));
      }
    }
    return records;
  }

 private:
  std::span<const float> PatchesOf(std::span<const float> row) const {
    return row.subspan(static_cast<size_t>(request_.tokens.first_patch_token()),
                       static_cast<size_t>(request_.grid.num_patches()));
  }

  void AddRow(int token, std::span<const float> row, Concentration& concentration,
              Sums& sums) const {
    sums.entropy.Add(Entropy(row));
    const TokenLayout& tokens = request_.tokens;
    if (token < tokens.first_patch_token()) return;
    const std::span<const float> patches = PatchesOf(row);
    sums.distance.Add(distances_.WeightedSum(token - tokens.first_patch_token(), patches));
    if (tokens.has_class_token) {
      sums.class_mass.Add(row[static_cast<size_t>(tokens.class_token())]);
    }
    double registers = 0;
    const auto first = static_cast<size_t>(tokens.first_register_token());
    const auto count = static_cast<size_t>(tokens.num_register_tokens);
    for (float weight : row.subspan(first, count)) registers += weight;
    sums.register_mass.Add(registers);
    concentration.Look(patches);
    sums.patches_50 += concentration.CountHolding(0.5);
    sums.patches_90 += concentration.CountHolding(0.9);
  }

  HeadStatistics Record(const HeadState& head, const std::vector<uint8_t>& outliers) const {
    const int64_t num_patches = request_.grid.num_patches();
    const auto square = static_cast<double>(num_patches * num_patches);
    HeadStatistics record;
    record.entropy = head.sums.entropy.Mean(num_tokens_);
    record.distance = head.sums.distance.Mean(num_patches);
    if (request_.tokens.has_class_token) {
      record.class_mass = head.sums.class_mass.Mean(num_patches);
    }
    if (request_.tokens.num_register_tokens > 0) {
      record.register_mass = head.sums.register_mass.Mean(num_patches);
    }
    record.patches_50 = static_cast<double>(head.sums.patches_50) / square;
    record.patches_90 = static_cast<double>(head.sums.patches_90) / square;
    const auto count = std::count(outliers.begin(), outliers.end(), 1);
    record.outlier_share = static_cast<double>(count) / static_cast<double>(num_patches);
    if (!request_.query_token) return record;
    double mass = 0;
    for (size_t j = 0; j < outliers.size(); ++j) mass += outliers[j] != 0 ? head.query_row[j] : 0;
    record.outlier_mass = mass;
    return record;
  }

  StatisticsRequest request_;
  HeadSlots slots_;
  int num_tokens_;
  PatchDistances distances_;
  std::mutex mutex_;
  std::map<int, std::vector<HeadState>> heads_;   // by layer, then slot
  std::map<int, std::vector<uint8_t>> outliers_;  // by layer: (patches)
};

}  // namespace

std::unique_ptr<StatisticsSink> MakeStatisticsSink(const StatisticsRequest& request) {
  return std::make_unique<Gatherer>(request);
}

double UniformEntropy(const TokenLayout& tokens, const PatchGrid& grid) {
  return std::log(tokens.num_tokens(grid));
}

double UniformDistance(const TokenLayout& tokens, const PatchGrid& grid) {
  // Pairs of patches by how far they lie apart.
  double sum = 0;
  for (int rows = 1 - grid.rows; rows < grid.rows; ++rows) {
    for (int cols = 1 - grid.cols; cols < grid.cols; ++cols) {
      sum += std::hypot(rows, cols) * (grid.rows - std::abs(rows)) * (grid.cols - std::abs(cols));
    }
  }
  return grid.patch_size * sum / grid.num_patches() / tokens.num_tokens(grid);
}

}  // namespace attnmap
