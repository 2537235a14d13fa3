#ifndef ATTNMAP_ENCODER_LAYER_PANELS_H_
#define ATTNMAP_ENCODER_LAYER_PANELS_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "attnmap/core/thread_pool.h"
#include "attnmap/model/vit_model.h"
#include "attnmap/ops/panels.h"

namespace attnmap::encoder {

// A linear layer ready for the kernels. No weight: not there.
struct PackedLinear {
  ops::MutablePanels weight;
  const float* bias = nullptr;  // null: zero
  bool present() const { return weight.data != nullptr; }
};

// The linear layers of a block. Two halves, because a block's rest and the next
// block's projections are computed in one go.
struct ProjectionPanels {
  PackedLinear query, key, value;
};
struct RestPanels {
  PackedLinear output, gate, fc1, fc2;
};

// A linear layer still to be packed, and where to.
struct PackingTask {
  MatrixView weight;
  ops::MutablePanels panels;
};

// Gives panels their places, one after the other. Used twice: without room, to
// count it, and with it.
class PanelLayout {
 public:
  // data: null or room for what the first use counted. `pairs`: as pairs of
  // bfloat16.
  PanelLayout(float* data, bool pairs) : data_(data), pairs_(pairs) {}

  void Add(const LayerWeights& layer, ProjectionPanels& panels);
  void Add(const LayerWeights& layer, RestPanels& panels);
  // A layer that stays float32 whatever `pairs` says.
  void AddFloat32(const LinearWeights& linear, PackedLinear& panels);

  int64_t size() const { return size_; }  // floats
  std::span<const PackingTask> tasks() const { return tasks_; }

 private:
  void Add(const LinearWeights& linear, bool pairs, PackedLinear& panels);

  float* data_;
  bool pairs_;
  int64_t size_ = 0;
  std::vector<PackingTask> tasks_;
};

// Fills the panels, a few columns an item.
void Pack(std::span<const PackingTask> tasks, ThreadPool& pool);

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_LAYER_PANELS_H_
