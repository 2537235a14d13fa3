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

// Lays the panels out from `data` on and appends what fills them to `tasks`;
// returns the floats used. With `data` null nothing but counting happens.
int64_t LayOut(const LayerWeights& layer, float* data, ProjectionPanels& panels,
               std::vector<PackingTask>& tasks);
int64_t LayOut(const LayerWeights& layer, float* data, RestPanels& panels,
               std::vector<PackingTask>& tasks);
int64_t LayOut(const LinearWeights& linear, float* data, PackedLinear& panels,
               std::vector<PackingTask>& tasks);

// Fills the panels, a few columns an item.
void Pack(std::span<const PackingTask> tasks, ThreadPool& pool);

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_LAYER_PANELS_H_
