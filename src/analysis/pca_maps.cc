// Patch features as colours (DINOv2, Oquab et al. 2023, figure 1): the first
// three principal components of the patch tokens are red, green and blue.

#include <algorithm>
#include <cmath>

#include "analysis/map_sink.h"
#include "analysis/principal_components.h"
#include "attnmap/analysis/outliers.h"
#include "attnmap/core/error.h"
#include "attnmap/core/number_text.h"

namespace attnmap {
namespace {

constexpr size_t kChannels = 3;

// To [0, 1] over all; one value only becomes 0.
std::vector<float> Scaled(const std::vector<double>& scores) {
  const auto [min, max] = std::minmax_element(scores.begin(), scores.end());
  const double span = *max - *min;
  std::vector<float> scaled;
  scaled.reserve(scores.size());
  for (double score : scores) {
    scaled.push_back(span > 0 ? static_cast<float>((score - *min) / span) : 0.0F);
  }
  return scaled;
}

class PcaSink : public MapSink {
 public:
  explicit PcaSink(const MapRequest& request) : request_(request), last_(request.layers.back()) {}

  LayerWants Wants(int layer) const override {
    LayerWants wants;
    wants.hidden = layer == last_ && request_.options.outliers == OutlierRule::kExclude;
    return wants;
  }
  OutputWants Outputs() const override {
    OutputWants wants;
    wants.last_hidden_state = true;
    return wants;
  }
  void OnMatrix(int, LayerMatrix, Tensor tensor) override {
    const int64_t width = tensor.shape[1];
    outliers_ =
        OutlierPatches({tensor.values.data(), tensor.shape[0], width, width}, request_.tokens);
  }
  void OnOutput(OutputKind kind, Tensor tensor) override {
    if (kind == OutputKind::kLastHiddenState) tokens_ = std::move(tensor);
  }

  std::vector<PatchMap> Maps(ThreadPool&) override {
    std::vector<int> patches;
    for (int i = 0; i < request_.grid.num_patches(); ++i) {
      if (outliers_.empty() || outliers_[static_cast<size_t>(i)] == 0) patches.push_back(i);
    }
    PrincipalComponents components = ComponentsOf(patches);
    if (request_.options.foreground) {
      patches = ForegroundOf(patches, components.scores[0]);
      components = ComponentsOf(patches);
    }
    explained_ = 0;
    for (double share : components.shares) explained_ += share;
    counted_ = patches.size();
    return {MapOf(patches, components)};
  }

  std::optional<OutlierCount> Outliers() const override {
    if (outliers_.empty()) return std::nullopt;
    return CountOutliers(outliers_);
  }

  std::vector<std::string> Notes() const override {
    std::string note =
        "three components hold " + Significant(100 * explained_, 3) + " % of the variance";
    const auto all = static_cast<size_t>(request_.grid.num_patches());
    if (counted_ < all) {
      note += " of " + std::to_string(counted_) + " of " + std::to_string(all) + " patches";
    }
    return {note};
  }

 private:
  PrincipalComponents ComponentsOf(const std::vector<int>& patches) const {
    const int64_t width = tokens_.shape[1];
    Samples samples{static_cast<int64_t>(patches.size()), width, {}};
    for (int patch : patches) {
      const auto row = tokens_.values.begin() + request_.tokens.PatchToken(patch) * width;
      samples.values.insert(samples.values.end(), row, row + width);
    }
    return FindComponents(std::move(samples), static_cast<int>(kChannels));
  }

  std::vector<int> ForegroundOf(const std::vector<int>& patches,
                                const std::vector<double>& first) const {
    const Foreground& foreground = *request_.options.foreground;
    const std::vector<float> scaled = Scaled(first);
    std::vector<int> kept;
    for (size_t i = 0; i < patches.size(); ++i) {
      const bool above = scaled[i] > foreground.threshold;
      const bool below = scaled[i] < foreground.threshold;
      if (foreground.below ? below : above) kept.push_back(patches[i]);
    }
    if (kept.size() > kChannels) return kept;
    throw Error("--foreground leaves " + std::to_string(kept.size()) + " of " +
                std::to_string(patches.size()) +
                " patches, three components need at least 4: choose another threshold");
  }

  PatchMap MapOf(const std::vector<int>& patches, const PrincipalComponents& components) const {
    const auto count = static_cast<size_t>(request_.grid.num_patches());
    PatchMap map;
    map.grid = request_.grid;
    map.layer = last_;
    map.values.assign(count, 0);
    map.colours.assign(kChannels * count, 0);
    std::vector<uint8_t> excluded(count, 1);
    for (int patch : patches) excluded[static_cast<size_t>(patch)] = 0;
    for (size_t channel = 0; channel < components.scores.size(); ++channel) {
      const std::vector<float> scaled = Scaled(components.scores[channel]);
      for (size_t i = 0; i < patches.size(); ++i) {
        map.colours[channel * count + static_cast<size_t>(patches[i])] = scaled[i];
      }
    }
    std::copy_n(map.colours.begin(), count, map.values.begin());
    if (patches.size() < count) ExcludePatches(excluded, map);
    return map;
  }

  MapRequest request_;
  int last_;
  Tensor tokens_;  // (tokens, width)
  std::vector<uint8_t> outliers_;
  double explained_ = 0;
  size_t counted_ = 0;
};

}  // namespace

std::unique_ptr<MapSink> MakePcaSink(const MapRequest& request) {
  return std::make_unique<PcaSink>(request);
}

}  // namespace attnmap
