// Value-norm maps: weights times the norm of what they carry.

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/map_sink.h"
#include "analysis/value_norm.h"
#include "attnmap/core/error.h"
#include "attnmap/ops/fuse_heads.h"

namespace attnmap {
namespace {

using Kind = ResolvedQuery::Kind;

// Keeps the weights of the rows asked for, of every head, and the values.
class ValueNormSink : public TileMapSink {
 public:
  explicit ValueNormSink(const MapRequest& request) : TileMapSink(request) {
    if (request.query.kind == Kind::kPool) {
      throw Error("value-norm has no pool query: use --query mean, ROW,COL or px:X,Y");
    }
    const auto rows = static_cast<double>(RowCount());
    const double heads = request.num_heads;
    const auto layers = static_cast<double>(request.layers.size());
    CheckMemory(
        request,
        "value-norm of " + std::to_string(static_cast<int64_t>(heads * layers)) + " heads' rows",
        sizeof(float) * layers * num_tokens() * (rows * heads + heads * heads) +
            rows * request.grid.num_patches() * BytesAnEntry(request, slots().count()));
    for (int layer : request.layers) {
      weights_.emplace(layer, Tensor({request.num_heads, RowCount(), num_tokens()}));
    }
  }

  LayerWants Wants(int layer) const override {
    LayerWants wants;
    if (!weights_.contains(layer)) return wants;
    const ResolvedQuery& query = request().query;
    wants.value = true;
    if (query.kind == Kind::kToken) {
      wants.attention = QueryRows::Only({query.token});
    } else if (query.kind == Kind::kAll) {
      wants.attention = QueryRows::All();
    } else {
      wants.attention = PatchRows(request());
    }
    return wants;
  }

  void OnAttention(const AttentionTile& tile) override {
    Tensor& weights = weights_.at(tile.layer);
    for (int64_t i = 0; i < tile.rows.rows; ++i) {
      const int64_t row = RowOf(tile.queries[static_cast<size_t>(i)]);
      std::copy_n(tile.rows.row(i), num_tokens(),
                  weights.values.data() + (tile.head * RowCount() + row) * num_tokens());
    }
  }
  void OnMatrix(int layer, LayerMatrix kind, Tensor tensor) override {
    if (kind == LayerMatrix::kValue) values_[layer] = std::move(tensor);
  }

  std::vector<PatchMap> Maps(ThreadPool& pool) override {
    std::vector<PatchMap> maps;
    for (const auto& [layer, weights] : weights_) {
      MatrixView output;
      if (static_cast<size_t>(layer) < request().output_weights.size()) {
        output = request().output_weights[static_cast<size_t>(layer)];
      }
      const Tensor gram = ValueGram(values_.at(layer), output, pool);
      for (int slot = 0; slot < slots().count(); ++slot) {
        AppendMaps(layer, slot, weights, gram, pool, maps);
      }
    }
    return maps;
  }

 protected:
  void Receive(int, int, const AttentionTile&) override {}

 private:
  // Of one entry of the maps: doubles of a layer and slot at a time, and with
  // `--query all` the maps themselves, as numbers and as they are written.
  static double BytesAnEntry(const MapRequest& request, int slots) {
    if (request.query.kind != Kind::kAll) return sizeof(double);
    return sizeof(double) +
           2.0 * sizeof(float) * slots * static_cast<double>(request.layers.size());
  }
  int64_t RowCount() const {
    if (request().query.kind == Kind::kToken) return 1;
    return request().query.kind == Kind::kAll ? num_tokens() : request().grid.num_patches();
  }
  int64_t RowOf(int token) const {
    if (request().query.kind == Kind::kToken) return 0;
    return request().query.kind == Kind::kAll ? token
                                              : token - request().tokens.first_patch_token();
  }

  // One entry, from the weights of all heads at that query and key.
  double Entry(int slot, std::span<const float> weights, const float* gram) const {
    const auto heads = static_cast<size_t>(request().num_heads);
    const auto norm = [&](size_t head) {
      return weights[head] * std::sqrt(std::max(gram[head * heads + head], 0.0F));
    };
    if (slots().Head(slot) >= 0) return norm(static_cast<size_t>(slots().Head(slot)));
    if (slots().fusion() == HeadFusion::kMean) return FusedNorm(weights, gram);
    float fused = norm(0);
    for (size_t head = 1; head < heads; ++head) {
      const float other = norm(head);
      ops::FuseInto(slots().fusion(), &other, 1, &fused);
    }
    return fused;
  }

  std::vector<double> Row(int slot, int64_t row, const Tensor& weights, const Tensor& gram) const {
    const int64_t heads = request().num_heads;
    std::vector<float> at_key(static_cast<size_t>(heads));
    std::vector<double> values;
    for (int64_t token = request().tokens.first_patch_token(); token < num_tokens(); ++token) {
      for (int64_t head = 0; head < heads; ++head) {
        at_key[static_cast<size_t>(head)] =
            weights.values[static_cast<size_t>((head * RowCount() + row) * num_tokens() + token)];
      }
      values.push_back(Entry(slot, at_key, gram.values.data() + token * heads * heads));
    }
    return values;
  }

  void AppendMaps(int layer, int slot, const Tensor& weights, const Tensor& gram, ThreadPool& pool,
                  std::vector<PatchMap>& maps) const {
    std::vector<std::vector<double>> rows(static_cast<size_t>(RowCount()));
    pool.Run(RowCount(), [&](int64_t row, int) {
      rows[static_cast<size_t>(row)] = Row(slot, row, weights, gram);
    });
    if (request().query.kind == Kind::kMean) {
      for (size_t i = 1; i < rows.size(); ++i) {
        for (size_t j = 0; j < rows[i].size(); ++j) rows[0][j] += rows[i][j];
      }
      for (double& value : rows[0]) value /= static_cast<double>(rows.size());
      rows.resize(1);
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      maps.push_back(MakeMap(layer, slot, {rows[i].begin(), rows[i].end()}));
      if (request().query.kind == Kind::kAll) {
        maps.back().query = TokenLabel(request(), static_cast<int>(i));
      }
    }
  }

  std::map<int, Tensor> weights_;  // by layer: (heads, rows asked for, tokens)
  std::map<int, Tensor> values_;   // by layer: (heads, tokens, value_dim)
};

}  // namespace

std::unique_ptr<MapSink> MakeValueNormSink(const MapRequest& request) {
  return std::make_unique<ValueNormSink>(request);
}

}  // namespace attnmap
