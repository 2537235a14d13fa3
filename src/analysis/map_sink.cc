#include "analysis/map_sink.h"

#include <algorithm>
#include <numeric>

#include "attnmap/core/error.h"
#include "attnmap/ops/fuse_heads.h"

namespace attnmap {

HeadSlots::HeadSlots(const HeadChoice& choice, int num_heads)
    : fused_(choice.kind == HeadChoice::Kind::kFused),
      fusion_(choice.fusion),
      heads_(choice.heads) {
  if (choice.kind != HeadChoice::Kind::kList) heads_.resize(static_cast<size_t>(num_heads));
  if (choice.kind == HeadChoice::Kind::kAll) std::iota(heads_.begin(), heads_.end(), 0);
}

LayerWants HeadSlots::Wants(QueryRows rows) const {
  LayerWants wants;
  if (fused_) {
    wants.fused = std::move(rows);
    wants.fusion = fusion_;
  } else {
    wants.attention = std::move(rows);
    wants.attention_heads = heads_;
    std::sort(wants.attention_heads.begin(), wants.attention_heads.end());
  }
  return wants;
}

int HeadSlots::SlotOf(int head) const {
  if (fused_) return 0;
  return static_cast<int>(std::find(heads_.begin(), heads_.end(), head) - heads_.begin());
}

std::string HeadSlots::Label(int slot) const {
  return fused_ ? std::string(FusionName(fusion_))
                : std::to_string(heads_[static_cast<size_t>(slot)]);
}

std::vector<float> HeadSlots::PoolRow(const Tensor& rows, int slot, int num_tokens) const {
  if (rows.shape.size() != 2 || rows.shape[0] < 1 || rows.shape[1] != num_tokens) {
    throw Error("the pooling head gave weights of shape " + ToString(rows.shape) + ", heads x " +
                std::to_string(num_tokens) + " were expected");
  }
  const int64_t num_heads = rows.shape[0];
  const auto row = [&](int64_t head) { return rows.values.begin() + head * num_tokens; };
  if (!fused_) {
    const int head = heads_[static_cast<size_t>(slot)];
    if (head >= num_heads) {
      throw Error("the pooling head has " + std::to_string(num_heads) +
                  " heads, there is no head " + std::to_string(head));
    }
    return {row(head), row(head + 1)};
  }
  std::vector<float> fused(row(0), row(1));
  for (int64_t head = 1; head < num_heads; ++head) {
    ops::FuseInto(fusion_, &*row(head), num_tokens, fused.data());
  }
  ops::FinishFusing(fusion_, static_cast<int>(num_heads), num_tokens, fused.data());
  return fused;
}

TileMapSink::TileMapSink(const MapRequest& request)
    : request_(request),
      slots_(request.heads, request.num_heads),
      num_tokens_(request.tokens.num_tokens(request.grid)) {}

void TileMapSink::Begin(int num_heads, int num_tokens) {
  if (num_heads == request_.num_heads && num_tokens == num_tokens_) return;
  throw Error("maps were asked for " + std::to_string(request_.num_heads) + " heads and " +
              std::to_string(num_tokens_) + " tokens, the encoder has " +
              std::to_string(num_heads) + " and " + std::to_string(num_tokens));
}

void TileMapSink::OnAttention(const AttentionTile& tile) {
  Receive(tile.layer, slots_.SlotOf(tile.head), tile);
}

PatchMap TileMapSink::MakeMap(int layer, int slot, std::vector<float> patch_values) const {
  PatchMap map;
  map.grid = request_.grid;
  map.values = std::move(patch_values);
  map.layer = layer;
  map.head = slots_.Label(slot);
  map.query = request_.query.label;
  return map;
}

QueryRows PatchRows(const MapRequest& request) {
  std::vector<int> patches(static_cast<size_t>(request.grid.num_patches()));
  std::iota(patches.begin(), patches.end(), request.tokens.first_patch_token());
  return QueryRows::Only(std::move(patches));
}

std::string TokenLabel(const MapRequest& request, int token) {
  const TokenLayout& tokens = request.tokens;
  if (tokens.has_class_token && token == tokens.class_token()) return "class";
  if (token < tokens.first_patch_token()) return "token " + std::to_string(token);
  const RowsCols at = request.grid.PatchAt(token - tokens.first_patch_token());
  return "patch " + std::to_string(at.rows) + "," + std::to_string(at.cols);
}

void CheckMemory(const MapRequest& request, const std::string& what, double bytes) {
  if (bytes <= static_cast<double>(request.memory_limit)) return;
  constexpr double kMiB = 1 << 20;
  const auto mib = [](double b) { return std::to_string(static_cast<int64_t>(b / kMiB + 0.5)); };
  const int num_tokens = request.tokens.num_tokens(request.grid);
  throw Error(what + " of " + std::to_string(num_tokens) + " x " + std::to_string(num_tokens) +
              " attention weights needs " + mib(bytes) + " MiB, more than the limit of " +
              mib(static_cast<double>(request.memory_limit)) + " MiB: choose a smaller --size");
}

namespace {

std::unique_ptr<MapSink> MakeMethodSink(const MapRequest& request) {
  switch (request.method) {
    case Method::kAttention:
      return MakeAttentionSink(request);
    case Method::kRollout:
      return MakeRolloutSink(request);
    case Method::kValueNorm:
      return MakeValueNormSink(request);
    case Method::kSimilarity:
      return MakeSimilaritySink(request);
    case Method::kPca:
      return MakePcaSink(request);
  }
  throw Error("unknown method");
}

}  // namespace

std::unique_ptr<MapSink> MakeMapSink(const MapRequest& request) {
  if (request.layers.empty()) throw Error("maps were asked for without a layer");
  auto maps = MakeMethodSink(request);
  // pca leaves them out itself, before the components are found.
  const bool treated = request.options.outliers != OutlierRule::kKeep;
  if (!treated || request.method == Method::kPca) return maps;
  return MakeOutlierSink(request, std::move(maps));
}

}  // namespace attnmap
