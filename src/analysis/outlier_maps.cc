// What becomes of outlier tokens in the maps of another sink.

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "analysis/map_sink.h"
#include "attnmap/analysis/outliers.h"

namespace attnmap {
namespace {

bool IsAny(const std::vector<uint8_t>& outliers) {
  return std::find(outliers.begin(), outliers.end(), 1) != outliers.end();
}

// Cuts outliers to the largest of the other patches, and gives the map the sum
// back that it had.
void Clip(const std::vector<uint8_t>& outliers, std::vector<float>& values) {
  double before = 0;
  double after = 0;
  float most = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (outliers[i] == 0) most = std::max(most, values[i]);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    before += values[i];
    if (outliers[i] != 0) values[i] = std::min(values[i], most);
    after += values[i];
  }
  if (!(after > 0)) return;
  for (float& value : values) value = static_cast<float>(value * (before / after));
}

class OutlierSink : public MapSink {
 public:
  OutlierSink(const MapRequest& request, std::unique_ptr<MapSink> maps)
      : request_(request),
        layers_(request.layers.begin(), request.layers.end()),
        maps_(std::move(maps)) {}

  LayerWants Wants(int layer) const override {
    LayerWants wants = maps_->Wants(layer);
    if (layers_.contains(layer)) wants.hidden = true;
    return wants;
  }
  OutputWants Outputs() const override { return maps_->Outputs(); }
  void Begin(int num_heads, int num_tokens) override { maps_->Begin(num_heads, num_tokens); }
  void OnAttention(const AttentionTile& tile) override { maps_->OnAttention(tile); }
  void OnScores(const AttentionTile& tile) override { maps_->OnScores(tile); }
  void OnFused(const AttentionTile& tile) override { maps_->OnFused(tile); }
  void OnOutput(OutputKind kind, Tensor tensor) override {
    maps_->OnOutput(kind, std::move(tensor));
  }
  void OnMatrix(int layer, LayerMatrix kind, Tensor tensor) override {
    if (kind == LayerMatrix::kHidden && layers_.contains(layer)) {
      const int64_t width = tensor.shape[1];
      outliers_[layer] =
          OutlierPatches({tensor.values.data(), tensor.shape[0], width, width}, request_.tokens);
      if (!maps_->Wants(layer).hidden) return;
    }
    maps_->OnMatrix(layer, kind, std::move(tensor));
  }

  std::vector<PatchMap> Maps(ThreadPool& pool) override {
    std::vector<PatchMap> maps = maps_->Maps(pool);
    for (PatchMap& map : maps) {
      Treat(outliers_.at(map.layer < 0 ? *layers_.rbegin() : map.layer), map);
    }
    return maps;
  }

  std::optional<OutlierCount> Outliers() const override {
    OutlierCount all;
    for (const auto& [layer, outliers] : outliers_) {
      // The pooling head's maps stand behind the last.
      const bool pooled = request_.query.kind == ResolvedQuery::Kind::kPool;
      if (!pooled || layer == *layers_.rbegin()) all.Add(CountOutliers(outliers));
    }
    return all;
  }
  std::vector<std::string> Notes() const override { return maps_->Notes(); }

 private:
  void Treat(const std::vector<uint8_t>& outliers, PatchMap& map) const {
    if (!IsAny(outliers)) return;
    if (request_.options.outliers == OutlierRule::kClip) return Clip(outliers, map.values);
    ExcludePatches(outliers, map);
  }

  MapRequest request_;
  std::set<int> layers_;
  std::unique_ptr<MapSink> maps_;
  std::map<int, std::vector<uint8_t>> outliers_;  // by layer: 1 where a patch is one
};

}  // namespace

void ExcludePatches(const std::vector<uint8_t>& excluded, PatchMap& map) {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  map.shown.resize(map.values.size(), 1);
  for (size_t i = 0; i < map.values.size(); ++i) {
    if (excluded[i] == 0) continue;
    map.shown[i] = 0;
    for (size_t at = i; at < map.colours.size(); at += map.values.size()) map.colours[at] = kNone;
    map.values[i] = kNone;
  }
}

std::unique_ptr<MapSink> MakeOutlierSink(const MapRequest& request, std::unique_ptr<MapSink> maps) {
  return std::make_unique<OutlierSink>(request, std::move(maps));
}

}  // namespace attnmap
