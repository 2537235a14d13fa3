#include "encoder/layer_panels.h"

#include <algorithm>

namespace attnmap::encoder {

int64_t LayOut(const LinearWeights& linear, float* data, PackedLinear& panels,
               std::vector<PackingTask>& tasks) {
  if (!linear.present()) return 0;
  const MatrixView weight = linear.weight.matrix();
  const int64_t size = ops::PanelFloats(weight.cols, weight.rows);
  if (data != nullptr) {
    panels.weight = ops::MakePanels(data, weight.cols, weight.rows);
    panels.bias = linear.bias.data();
    tasks.push_back({weight, panels.weight});
  }
  return size;
}

namespace {

// One after the other.
int64_t LayOutAll(std::span<const std::pair<const LinearWeights*, PackedLinear*>> parts,
                  float* data, std::vector<PackingTask>& tasks) {
  int64_t used = 0;
  for (const auto& [linear, panels] : parts) {
    used += LayOut(*linear, data == nullptr ? nullptr : data + used, *panels, tasks);
  }
  return used;
}

}  // namespace

int64_t LayOut(const LayerWeights& layer, float* data, ProjectionPanels& panels,
               std::vector<PackingTask>& tasks) {
  const std::pair<const LinearWeights*, PackedLinear*> parts[] = {
      {&layer.query, &panels.query}, {&layer.key, &panels.key}, {&layer.value, &panels.value}};
  return LayOutAll(parts, data, tasks);
}

int64_t LayOut(const LayerWeights& layer, float* data, RestPanels& panels,
               std::vector<PackingTask>& tasks) {
  const std::pair<const LinearWeights*, PackedLinear*> parts[] = {{&layer.output, &panels.output},
                                                                  {&layer.gate, &panels.gate},
                                                                  {&layer.fc1, &panels.fc1},
                                                                  {&layer.fc2, &panels.fc2}};
  return LayOutAll(parts, data, tasks);
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
    ops::PackColumns({weight.row(first), count, weight.cols, weight.stride}, first, task->panels);
  });
}

}  // namespace attnmap::encoder
