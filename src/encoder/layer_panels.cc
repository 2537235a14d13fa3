#include "encoder/layer_panels.h"

#include <algorithm>

#include "attnmap/ops/bfloat16.h"

namespace attnmap::encoder {

void PanelLayout::Add(const LinearWeights& linear, bool pairs, PackedLinear& panels) {
  if (!linear.present()) return;
  const MatrixView weight = linear.weight.matrix();
  const int64_t depth = pairs ? ops::PairCount(weight.cols) : weight.cols;
  if (data_ != nullptr) {
    panels.weight = ops::MakePanels(data_ + size_, depth, weight.rows);
    panels.weight.pairs = pairs;
    panels.bias = linear.bias.data();
    tasks_.push_back({weight, panels.weight});
  }
  size_ += ops::PanelFloats(depth, weight.rows);
}

void PanelLayout::AddFloat32(const LinearWeights& linear, PackedLinear& panels) {
  Add(linear, false, panels);
}

void PanelLayout::Add(const LayerWeights& layer, ProjectionPanels& panels) {
  Add(layer.query, pairs_, panels.query);
  Add(layer.key, pairs_, panels.key);
  Add(layer.value, pairs_, panels.value);
}

void PanelLayout::Add(const LayerWeights& layer, RestPanels& panels) {
  Add(layer.output, pairs_, panels.output);
  Add(layer.gate, pairs_, panels.gate);
  Add(layer.fc1, pairs_, panels.fc1);
  Add(layer.fc2, pairs_, panels.fc2);
}

void Pack(std::span<const PackingTask> tasks, ThreadPool& pool) {
  constexpr int64_t kCols = 4 * ops::kPanelCols;
  struct Part {
    const PackingTask* task;
    int64_t first;
  };
  std::vector<Part> parts;
  for (const PackingTask& task : tasks) {
    for (int64_t col = 0; col < task.weight.rows; col += kCols) parts.push_back({&task, col});
  }
  pool.Run(static_cast<int64_t>(parts.size()), [&](int64_t item, int) {
    const auto& [task, first] = parts[static_cast<size_t>(item)];
    const MatrixView& weight = task->weight;
    const int64_t count = std::min(kCols, weight.rows - first);
    const MatrixView rows = {weight.row(first), count, weight.cols, weight.stride};
    task->panels.pairs ? ops::PackPairs(rows, first, task->panels)
                       : ops::PackColumns(rows, first, task->panels);
  });
}

}  // namespace attnmap::encoder
