#ifndef ATTNMAP_ANALYSIS_MAP_SINK_H_
#define ATTNMAP_ANALYSIS_MAP_SINK_H_

#include <memory>
#include <string>
#include <vector>

#include "attnmap/analysis/maps.h"

namespace attnmap {

// The heads a choice comes to: one slot for a fused choice, else one a head,
// in the order given.
class HeadSlots {
 public:
  HeadSlots(const HeadChoice& choice, int num_heads);

  int count() const { return fused_ ? 1 : static_cast<int>(heads_.size()); }
  // What to ask a layer for, to get rows of every slot.
  LayerWants Wants(QueryRows rows) const;
  // head: a tile's, -1 where fused.
  int SlotOf(int head) const;
  std::string Label(int slot) const;
  // The head of a slot, -1: all heads fused.
  int Head(int slot) const { return fused_ ? -1 : heads_[static_cast<size_t>(slot)]; }
  HeadFusion fusion() const { return fusion_; }
  // One slot's row of a pooling head's, (heads, tokens). Throws Error where
  // the shape is another or the head is not there.
  std::vector<float> PoolRow(const Tensor& rows, int slot, int num_tokens) const;

 private:
  bool fused_;
  HeadFusion fusion_;
  std::vector<int> heads_;
};

// What the sinks of this room share: tiles are sorted by layer and slot.
class TileMapSink : public MapSink {
 public:
  explicit TileMapSink(const MapRequest& request);
  void Begin(int num_heads, int num_tokens) override;
  void OnAttention(const AttentionTile& tile) override;
  void OnFused(const AttentionTile& tile) override { OnAttention(tile); }

 protected:
  // May come from several threads at once, each row once.
  virtual void Receive(int layer, int slot, const AttentionTile& tile) = 0;

  const MapRequest& request() const { return request_; }
  const HeadSlots& slots() const { return slots_; }
  int num_tokens() const { return num_tokens_; }
  // A map with its names. patch_values: (patches).
  PatchMap MakeMap(int layer, int slot, std::vector<float> patch_values) const;

 private:
  MapRequest request_;
  HeadSlots slots_;
  int num_tokens_;
};

// The rows that the patch tokens ask with.
QueryRows PatchRows(const MapRequest& request);

// Of one query of `--query all`: "class", "patch 3,5", "token 1".
std::string TokenLabel(const MapRequest& request, int token);

// Throws Error where `bytes` pass the request's limit. `what` begins the sentence.
void CheckMemory(const MapRequest& request, const std::string& what, double bytes);

std::unique_ptr<MapSink> MakeAttentionSink(const MapRequest& request);
std::unique_ptr<MapSink> MakeRolloutSink(const MapRequest& request);
std::unique_ptr<MapSink> MakeValueNormSink(const MapRequest& request);
std::unique_ptr<MapSink> MakeSimilaritySink(const MapRequest& request);
std::unique_ptr<MapSink> MakePcaSink(const MapRequest& request);
// Marks patches (1 where excluded) as not shown and not a number.
void ExcludePatches(const std::vector<uint8_t>& excluded, PatchMap& map);
// Treats the outliers of another sink's maps.
std::unique_ptr<MapSink> MakeOutlierSink(const MapRequest& request, std::unique_ptr<MapSink> maps);

}  // namespace attnmap

#endif  // ATTNMAP_ANALYSIS_MAP_SINK_H_
