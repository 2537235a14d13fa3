#include <algorithm>

#include "analysis/map_sink.h"
#include "attnmap/analysis/rollout.h"
#include "attnmap/core/error.h"

namespace attnmap {
namespace {

using Kind = ResolvedQuery::Kind;

// Keeps the fused matrix of every layer up to the last one multiplied.
class RolloutSink : public TileMapSink {
 public:
  explicit RolloutSink(const MapRequest& request)
      : TileMapSink(request), layers_(LayersAskedFor(request)), last_(layers_.back()) {
    const double count = (last_ + 1.0) * slots().count();
    const double square = static_cast<double>(num_tokens()) * num_tokens();
    const double maps = request.query.kind == Kind::kAll
                            ? sizeof(double) + 2.0 * sizeof(float) * slots().count() *
                                                   static_cast<double>(layers_.size())
                            : 0;
    CheckMemory(request,
                "rollout through " + std::to_string(static_cast<int64_t>(count)) + " matrices",
                square * (count * sizeof(float) + maps));
    for (double i = 0; i < count; ++i) matrices_.emplace_back(num_tokens(), num_tokens());
  }

  LayerWants Wants(int layer) const override {
    return layer <= last_ ? slots().Wants(QueryRows::All()) : LayerWants{};
  }
  OutputWants Outputs() const override {
    OutputWants wants;
    wants.pool_attention = request().query.kind == Kind::kPool;
    return wants;
  }
  void OnOutput(OutputKind kind, Tensor tensor) override {
    if (kind == OutputKind::kPoolAttention) pool_rows_ = std::move(tensor);
  }

  std::vector<PatchMap> Maps() const override {
    std::vector<PatchMap> maps;
    for (int layer : layers_) {
      for (int slot = 0; slot < slots().count(); ++slot) AppendMaps(layer, slot, maps);
    }
    return maps;
  }

 protected:
  void Receive(int layer, int slot, const AttentionTile& tile) override {
    Matrix& matrix = matrices_[Index(layer, slot)];
    for (int64_t i = 0; i < tile.rows.rows; ++i) {
      std::copy_n(tile.rows.row(i), num_tokens(),
                  matrix.view().row(tile.queries[static_cast<size_t>(i)]));
    }
  }

 private:
  // The pooling head sees the last layer only.
  static std::vector<int> LayersAskedFor(const MapRequest& request) {
    std::vector<int> layers = request.layers;
    std::sort(layers.begin(), layers.end());
    if (request.query.kind == Kind::kPool) layers.erase(layers.begin(), layers.end() - 1);
    return layers;
  }

  size_t Index(int layer, int slot) const {
    return static_cast<size_t>(layer) * static_cast<size_t>(slots().count()) +
           static_cast<size_t>(slot);
  }

  void AppendMaps(int layer, int slot, std::vector<PatchMap>& maps) const {
    std::vector<MatrixView> chain;
    for (int l = 0; l <= layer; ++l) chain.push_back(matrices_[Index(l, slot)].view());
    std::vector<double> rows = StartRows(slot);
    RollOut(rows, chain);
    const int num_rows = static_cast<int>(rows.size() / static_cast<size_t>(num_tokens()));
    for (int i = 0; i < num_rows; ++i) {
      const auto first = rows.begin() + static_cast<int64_t>(i) * num_tokens() +
                         request().tokens.first_patch_token();
      maps.push_back(MakeMap(layer, slot, {first, first + request().grid.num_patches()}));
      if (num_rows > 1) maps.back().query = TokenLabel(i);
    }
  }

  // What is multiplied: rows of the identity, or a mixture of them.
  std::vector<double> StartRows(int slot) const {
    const auto n = static_cast<size_t>(num_tokens());
    const ResolvedQuery& query = request().query;
    const bool all = query.kind == Kind::kAll;
    std::vector<double> rows(all ? n * n : n);
    if (all) {
      for (size_t i = 0; i < n; ++i) rows[i * n + i] = 1;
    } else if (query.kind == Kind::kToken) {
      rows[static_cast<size_t>(query.token)] = 1;
    } else if (query.kind == Kind::kMean) {
      std::fill(rows.begin() + request().tokens.first_patch_token(), rows.end(),
                1.0 / request().grid.num_patches());
    } else {
      const std::vector<float> row = slots().PoolRow(pool_rows_, slot, num_tokens());
      double sum = 0;
      for (float weight : row) sum += weight;
      for (size_t i = 0; i < n; ++i) rows[i] = sum > 0 ? row[i] / sum : 0;
    }
    return rows;
  }

  std::vector<int> layers_;
  int last_;
  std::vector<Matrix> matrices_;  // by layer, then slot
  Tensor pool_rows_;
};

}  // namespace

std::unique_ptr<MapSink> MakeRolloutSink(const MapRequest& request) {
  return std::make_unique<RolloutSink>(request);
}

}  // namespace attnmap
