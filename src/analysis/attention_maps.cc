// Maps of single layers: rows as they come, their mean, or the pooling probe's.

#include <algorithm>
#include <map>

#include "analysis/map_sink.h"
#include "analysis/row_sum.h"
#include "attnmap/core/error.h"

namespace attnmap {
namespace {

using Kind = ResolvedQuery::Kind;
using LayerSlot = std::pair<int, int>;

bool Contains(const std::vector<int>& layers, int layer) {
  return std::find(layers.begin(), layers.end(), layer) != layers.end();
}

MatrixView PatchColumns(MatrixView rows, const TokenLayout& tokens, const PatchGrid& grid) {
  return {rows.data + tokens.first_patch_token(), rows.rows, grid.num_patches(), rows.stride};
}

// One query token's row, or every token's.
class RowsSink : public TileMapSink {
 public:
  explicit RowsSink(const MapRequest& request)
      : TileMapSink(request), all_(request.query.kind == Kind::kAll) {
    const int64_t num_rows = all_ ? num_tokens() : 1;
    if (all_) {
      const auto count = static_cast<double>(request.layers.size()) * slots().count();
      CheckMemory(request,
                  "--query all with " + std::to_string(static_cast<int64_t>(count)) + " maps",
                  2.0 * sizeof(float) * count * num_tokens() * request.grid.num_patches());
    }
    for (int layer : request.layers) {
      for (int slot = 0; slot < slots().count(); ++slot) {
        rows_.emplace(LayerSlot{layer, slot}, Matrix(num_rows, request.grid.num_patches()));
      }
    }
  }

  LayerWants Wants(int layer) const override {
    if (!Contains(request().layers, layer)) return {};
    return slots().Wants(all_ ? QueryRows::All() : QueryRows::Only({request().query.token}));
  }

  std::vector<PatchMap> Maps(ThreadPool&) override {
    std::vector<PatchMap> maps;
    for (const auto& [key, rows] : rows_) {
      for (int64_t i = 0; i < rows.rows(); ++i) {
        const float* row = rows.view().row(i);
        maps.push_back(MakeMap(key.first, key.second, {row, row + rows.cols()}));
        if (all_) maps.back().query = TokenLabel(request(), static_cast<int>(i));
      }
    }
    return maps;
  }

 protected:
  void Receive(int layer, int slot, const AttentionTile& tile) override {
    Matrix& rows = rows_.at({layer, slot});
    const MatrixView patches = PatchColumns(tile.rows, request().tokens, request().grid);
    for (int64_t i = 0; i < patches.rows; ++i) {
      const int64_t to = all_ ? tile.queries[static_cast<size_t>(i)] : 0;
      std::copy_n(patches.row(i), patches.cols, rows.view().row(to));
    }
  }

 private:
  bool all_;
  std::map<LayerSlot, Matrix> rows_;
};

// The mean over the patch tokens' rows.
class MeanSink : public TileMapSink {
 public:
  explicit MeanSink(const MapRequest& request) : TileMapSink(request) {
    const int num_patches = request.grid.num_patches();
    for (int layer : request.layers) {
      for (int slot = 0; slot < slots().count(); ++slot) {
        sums_.emplace(LayerSlot{layer, slot}, RowSum(num_patches, num_patches));
      }
    }
  }

  LayerWants Wants(int layer) const override {
    if (!Contains(request().layers, layer)) return {};
    return slots().Wants(PatchRows(request()));
  }

  std::vector<PatchMap> Maps(ThreadPool&) override {
    std::vector<PatchMap> maps;
    for (const auto& [key, sum] : sums_) {
      maps.push_back(MakeMap(key.first, key.second, sum.Mean(request().grid.num_patches())));
    }
    return maps;
  }

 protected:
  void Receive(int layer, int slot, const AttentionTile& tile) override {
    sums_.at({layer, slot}).Add(PatchColumns(tile.rows, request().tokens, request().grid));
  }

 private:
  std::map<LayerSlot, RowSum> sums_;
};

// The probe of an attention-pooling head, behind all layers.
class PoolSink : public TileMapSink {
 public:
  explicit PoolSink(const MapRequest& request) : TileMapSink(request) {}

  LayerWants Wants(int) const override { return {}; }
  OutputWants Outputs() const override {
    OutputWants wants;
    wants.pool_attention = true;
    return wants;
  }
  void OnOutput(OutputKind kind, Tensor tensor) override {
    if (kind == OutputKind::kPoolAttention) rows_ = std::move(tensor);
  }

  std::vector<PatchMap> Maps(ThreadPool&) override {
    std::vector<PatchMap> maps;
    for (int slot = 0; slot < slots().count(); ++slot) {
      const std::vector<float> row = slots().PoolRow(rows_, slot, num_tokens());
      maps.push_back(MakeMap(-1, slot, MapFromRow(row, request().tokens, request().grid).values));
    }
    return maps;
  }

 protected:
  void Receive(int, int, const AttentionTile&) override {}

 private:
  Tensor rows_;
};

}  // namespace

std::unique_ptr<MapSink> MakeAttentionSink(const MapRequest& request) {
  switch (request.query.kind) {
    case Kind::kMean:
      return std::make_unique<MeanSink>(request);
    case Kind::kPool:
      return std::make_unique<PoolSink>(request);
    case Kind::kToken:
    case Kind::kAll:
      break;
  }
  return std::make_unique<RowsSink>(request);
}

}  // namespace attnmap
