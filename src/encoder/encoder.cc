#include "attnmap/encoder/encoder.h"

#include <cmath>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/ops/aligned_buffer.h"
#include "attnmap/ops/bfloat16.h"
#include "encoder/check_model.h"
#include "encoder/grid_tables.h"
#include "encoder/run.h"
#include "encoder/workspace.h"

namespace attnmap {
namespace {

using encoder::GridTableCache;
using encoder::ModelPanels;
using encoder::WorkspacePool;

void CheckInput(const VitConfig& config, const ModelInput& input) {
  const PatchGrid& grid = input.grid;
  if (grid.patch_size != config.patch_size || grid.rows < 1 || grid.cols < 1) {
    throw Error("model input: expected patches of " + std::to_string(config.patch_size) +
                " pixels, found a grid of " + std::to_string(grid.rows) + " x " +
                std::to_string(grid.cols) + " patches of " + std::to_string(grid.patch_size));
  }
  const Shape expected = {3, grid.pixels().rows, grid.pixels().cols};
  if (input.pixels.shape != expected) {
    throw Error("model input: expected pixels " + ToString(expected) + ", found " +
                ToString(input.pixels.shape));
  }
}

}  // namespace

float ScoreScale(const VitConfig& config, const EncodeSettings& settings) {
  return settings.score_scale.value_or(1.0F /
                                       std::sqrt(static_cast<float>(std::max(config.head_dim, 1))));
}

struct PreparedModel::Impl {
  explicit Impl(VitModel m) : model(std::move(m)) {}

  VitModel model;
  ops::AlignedBuffer packed;
  ModelPanels panels;
  GridTableCache tables;
  WorkspacePool workspaces;

  // Packs the patch embedding, and the layers too where `layers`.
  void PackWeights(bool layers);
  void LayOut(bool layers, encoder::PanelLayout& layout);
};

void PreparedModel::Impl::LayOut(bool layers, encoder::PanelLayout& layout) {
  layout.AddFloat32(LinearWeights{model.patch_weight, model.patch_bias}, panels.patch);
  if (!layers) return;
  panels.projections.resize(model.layers.size());
  panels.rests.resize(model.layers.size());
  for (size_t i = 0; i < model.layers.size(); ++i) {
    layout.Add(model.layers[i], panels.projections[i]);
    layout.Add(model.layers[i], panels.rests[i]);
  }
}

void PreparedModel::Impl::PackWeights(bool layers) {
  encoder::PanelLayout size(nullptr, panels.pairs);
  LayOut(layers, size);
  encoder::PanelLayout layout(packed.Reserve(size.size()), panels.pairs);
  LayOut(layers, layout);
  ThreadPool alone(1);
  encoder::Pack(layout.tasks(), alone);
}

PreparedModel::PreparedModel(VitModel model, bool reuse, Precision precision)
    : impl_(std::make_unique<Impl>(std::move(model))) {
  encoder::CheckModel(impl_->model);
  impl_->panels.pairs = precision == Precision::kBfloat16;
  impl_->PackWeights(reuse);
}

PreparedModel::~PreparedModel() = default;
PreparedModel::PreparedModel(PreparedModel&&) noexcept = default;
PreparedModel& PreparedModel::operator=(PreparedModel&&) noexcept = default;

bool RunsWell(Precision precision) {
  return precision == Precision::kFloat32 || ops::MultipliesBfloat16();
}

const VitModel& PreparedModel::model() const { return impl_->model; }

void PreparedModel::Encode(const ModelInput& input, AttentionSink& sink, ThreadPool& pool,
                           const EncodeSettings& settings) const {
  const VitConfig& config = impl_->model.config;
  CheckInput(config, input);
  const auto tables = impl_->tables.Get(impl_->model, {input.grid.rows, input.grid.cols});
  WorkspacePool::Lease workspace = impl_->workspaces.Take();
  encoder::Run(impl_->model, impl_->panels, *tables, input, sink, pool, *workspace, settings)
      .Execute();
}

}  // namespace attnmap
