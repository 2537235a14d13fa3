// Rollout maps: what is kept of each layer, and the layers multiplied.

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/map_sink.h"
#include "analysis/roll_layer.h"
#include "attnmap/core/error.h"

namespace attnmap {
namespace {

using Kind = ResolvedQuery::Kind;

// Bands of recomputed rows: small enough for the cache where each is used
// once, as large as may be where counting reads them three times.
constexpr int64_t kBandBytes = int64_t{4} << 20;
constexpr int64_t kCountedBandBytes = int64_t{72} << 20;

// What all rollout sinks share: which layers, the rows multiplied, the maps.
class RolloutSink : public TileMapSink {
 public:
  explicit RolloutSink(const MapRequest& request)
      : TileMapSink(request),
        targets_(Targets(request)),
        first_(request.options.start_layer),
        last_(targets_.back()),
        rule_{request.options.compat, request.options.discard_ratio, request.tokens.class_token()} {
    if (first_ < 0 || first_ > targets_.front()) {
      throw Error("--start-layer " + std::to_string(first_) + " lies behind layer " +
                  std::to_string(targets_.front()) + ", the last one multiplied");
    }
    if (rule_.compat == RolloutCompat::kVitExplain && !request.tokens.has_class_token) {
      throw Error("--compat vit-explain reads the class token's row, and this model has none");
    }
  }

  OutputWants Outputs() const override {
    OutputWants wants;
    wants.pool_attention = request().query.kind == Kind::kPool;
    return wants;
  }
  void OnOutput(OutputKind kind, Tensor tensor) override {
    if (kind == OutputKind::kPoolAttention) pool_rows_ = std::move(tensor);
  }

  // Backwards through the layers once, the rows of every layer asked for
  // joining where it is the last one multiplied.
  std::vector<PatchMap> Maps(ThreadPool& pool) override {
    std::map<std::pair<int, int>, std::vector<PatchMap>> by_place;
    for (int slot = 0; slot < slots().count(); ++slot) {
      std::vector<double> rows;
      std::vector<int> joined;
      for (int layer = last_; layer >= first_; --layer) {
        if (std::find(targets_.begin(), targets_.end(), layer) != targets_.end()) {
          AppendStartRows(slot, rows);
          joined.push_back(layer);
        }
        RollLayer(*Rows(layer, slot, pool), rule_, pool, rows);
      }
      const size_t size = rows.size() / joined.size();
      for (size_t i = 0; i < joined.size(); ++i) {
        by_place[{joined[i], slot}] =
            MapsOf(joined[i], slot, std::span<const double>(rows).subspan(i * size, size));
      }
    }
    std::vector<PatchMap> maps;
    for (auto& [place, some] : by_place) {
      std::move(some.begin(), some.end(), std::back_inserter(maps));
    }
    return maps;
  }

 protected:
  virtual std::unique_ptr<FusedRows> Rows(int layer, int slot, ThreadPool& pool) const = 0;

  bool InRange(int layer) const { return layer >= first_ && layer <= last_; }
  int num_layers() const { return last_ - first_ + 1; }
  int first() const { return first_; }
  const RolloutRule& rule() const { return rule_; }

  // Of the last layer multiplied, what the first step reads.
  QueryRows RowsOfLast() const {
    const bool whole = rule_.discard_ratio > 0 || rule_.compat != RolloutCompat::kNone;
    const ResolvedQuery& query = request().query;
    if (whole || query.kind == Kind::kPool || query.kind == Kind::kAll) return QueryRows::All();
    if (query.kind == Kind::kToken) return QueryRows::Only({query.token});
    return PatchRows(request());
  }
  bool IsLast(int layer) const { return layer == last_; }

  // Bytes of what `--query all` comes to.
  static double BytesOfAllMaps(const MapRequest& request, int slots) {
    if (request.query.kind != Kind::kAll) return 0;
    const double n = request.tokens.num_tokens(request.grid);
    const double one_slot = 2.0 * sizeof(double) + sizeof(float);
    return n * n * static_cast<double>(request.layers.size()) *
           (one_slot + 2.0 * sizeof(float) * slots);
  }

 private:
  // The pooling head sees the last layer only.
  static std::vector<int> Targets(const MapRequest& request) {
    std::vector<int> layers = request.layers;
    std::sort(layers.begin(), layers.end());
    if (request.query.kind == Kind::kPool) layers.erase(layers.begin(), layers.end() - 1);
    return layers;
  }

  // What is multiplied: rows of the identity, or a mixture of them.
  void AppendStartRows(int slot, std::vector<double>& rows) const {
    const auto n = static_cast<size_t>(num_tokens());
    const ResolvedQuery& query = request().query;
    const bool all = query.kind == Kind::kAll;
    const size_t begin = rows.size();
    rows.resize(begin + (all ? n * n : n));
    double* start = rows.data() + begin;
    if (all) {
      for (size_t i = 0; i < n; ++i) start[i * n + i] = 1;
    } else if (query.kind == Kind::kToken) {
      start[query.token] = 1;
    } else if (query.kind == Kind::kMean) {
      std::fill(start + request().tokens.first_patch_token(), start + n,
                1.0 / request().grid.num_patches());
    } else {
      const std::vector<float> row = slots().PoolRow(pool_rows_, slot, num_tokens());
      double sum = 0;
      for (float weight : row) sum += weight;
      for (size_t i = 0; i < n; ++i) start[i] = sum > 0 ? row[i] / sum : 0;
    }
  }

  std::vector<PatchMap> MapsOf(int layer, int slot, std::span<const double> rows) const {
    std::vector<PatchMap> maps;
    const auto n = static_cast<size_t>(num_tokens());
    for (size_t begin = 0; begin < rows.size(); begin += n) {
      const auto first =
          rows.begin() + static_cast<std::ptrdiff_t>(begin) + request().tokens.first_patch_token();
      std::vector<double> patches(first, first + request().grid.num_patches());
      if (rule_.compat == RolloutCompat::kVitExplain) DivideByMaximum(patches);
      maps.push_back(MakeMap(layer, slot, {patches.begin(), patches.end()}));
      if (request().query.kind == Kind::kAll) {
        maps.back().query = TokenLabel(request(), static_cast<int>(begin / n));
      }
    }
    return maps;
  }

  static void DivideByMaximum(std::vector<double>& values) {
    const double max = *std::max_element(values.begin(), values.end());
    if (!(max > 0)) return;
    for (double& value : values) value /= max;
  }

  std::vector<int> targets_;
  int first_;
  int last_;
  RolloutRule rule_;
  Tensor pool_rows_;
};

// Keeps the fused matrix of every layer multiplied.
class KeepingSink : public RolloutSink {
 public:
  explicit KeepingSink(const MapRequest& request) : RolloutSink(request) {
    const int count = num_layers() * slots().count();
    std::string what = "rollout through " + std::to_string(count) + " matrices";
    CheckMemory(request, what, Bytes(request, num_layers()));
    for (int i = 0; i < count; ++i) matrices_.emplace_back(num_tokens(), num_tokens());
  }

  static double Bytes(const MapRequest& request, int num_layers) {
    const double n = request.tokens.num_tokens(request.grid);
    const int slots = HeadSlots(request.heads, request.num_heads).count();
    return n * n * sizeof(float) * num_layers * slots + BytesOfAllMaps(request, slots);
  }

  LayerWants Wants(int layer) const override {
    if (!InRange(layer)) return {};
    return slots().Wants(IsLast(layer) ? RowsOfLast() : QueryRows::All());
  }

 protected:
  void Receive(int layer, int slot, const AttentionTile& tile) override {
    Matrix& matrix = matrices_[Index(layer, slot)];
    for (int64_t i = 0; i < tile.rows.rows; ++i) {
      std::copy_n(tile.rows.row(i), num_tokens(),
                  matrix.view().row(tile.queries[static_cast<size_t>(i)]));
    }
  }

  std::unique_ptr<FusedRows> Rows(int layer, int slot, ThreadPool&) const override {
    return std::make_unique<KeptRows>(matrices_[Index(layer, slot)].view());
  }

 private:
  size_t Index(int layer, int slot) const {
    return static_cast<size_t>(layer - first()) * static_cast<size_t>(slots().count()) +
           static_cast<size_t>(slot);
  }

  std::vector<Matrix> matrices_;  // by layer, then slot
};

// Keeps queries and keys, and computes the matrices again, a band at a time.
class RecomputingSink : public RolloutSink {
 public:
  explicit RecomputingSink(const MapRequest& request) : RolloutSink(request) {
    CheckMemory(request, "rollout of every query", BytesOfAllMaps(request, slots().count()));
  }

  LayerWants Wants(int layer) const override {
    LayerWants wants;
    wants.query = wants.key = InRange(layer);
    return wants;
  }
  void OnMatrix(int layer, LayerMatrix kind, Tensor tensor) override {
    (kind == LayerMatrix::kQuery ? queries_ : keys_)[layer] = std::move(tensor);
  }

 protected:
  void Receive(int, int, const AttentionTile&) override {}

  std::unique_ptr<FusedRows> Rows(int layer, int slot, ThreadPool& pool) const override {
    const QueriesAndKeys from{&queries_.at(layer), &keys_.at(layer), *request().score_scale,
                              slots().Head(slot), slots().fusion()};
    const int64_t bytes = rule().discard_ratio > 0 ? kCountedBandBytes : kBandBytes;
    return std::make_unique<RecomputedRows>(from, std::min(bytes, request().keep_limit), pool);
  }

 private:
  std::map<int, Tensor> queries_;  // (heads, tokens, head_dim)
  std::map<int, Tensor> keys_;
};

}  // namespace

std::unique_ptr<MapSink> MakeRolloutSink(const MapRequest& request) {
  const int last = *std::max_element(request.layers.begin(), request.layers.end());
  const double bytes = KeepingSink::Bytes(request, last - request.options.start_layer + 1);
  const bool keep = bytes <= static_cast<double>(request.keep_limit) || !request.score_scale;
  if (keep) return std::make_unique<KeepingSink>(request);
  return std::make_unique<RecomputingSink>(request);
}

}  // namespace attnmap
