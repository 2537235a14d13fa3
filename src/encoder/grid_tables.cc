#include "encoder/grid_tables.h"

#include <algorithm>
#include <string>

#include "attnmap/core/error.h"
#include "attnmap/ops/grid_resize.h"

namespace attnmap::encoder {
namespace {

ops::GridFilter FilterOf(PositionResize resize) {
  switch (resize) {
    case PositionResize::kBicubicAntialias:
      return ops::GridFilter::kBicubicAntialias;
    case PositionResize::kBicubic:
      return ops::GridFilter::kBicubic;
    case PositionResize::kBicubicOffset:
      return ops::GridFilter::kBicubicOffset;
    case PositionResize::kBicubicCorners:
      return ops::GridFilter::kBicubicCorners;
    case PositionResize::kBilinear:
      return ops::GridFilter::kBilinear;
    case PositionResize::kBilinearAntialias:
      return ops::GridFilter::kBilinearAntialias;
  }
  throw Error("unknown way to resize positions");
}

int CoveredPrefix(PositionCover cover, const TokenLayout& tokens) {
  if (cover == PositionCover::kAll) return tokens.num_prefix_tokens();
  if (cover == PositionCover::kPrefixNoRegisters) return tokens.first_register_token();
  return 0;
}

std::string ToString(RowsCols grid) {
  return std::to_string(grid.rows) + " x " + std::to_string(grid.cols);
}

void SetPositions(const VitModel& model, RowsCols grid, GridTables& tables) {
  const VitConfig& config = model.config;
  if (config.position_cover == PositionCover::kNone || !model.position.present()) return;
  const MatrixView table = model.position.matrix();
  const int64_t prefix = CoveredPrefix(config.position_cover, config.tokens);
  const int64_t patches = table.rows - prefix;
  const int64_t wanted = static_cast<int64_t>(grid.rows) * grid.cols;
  tables.prefix_position = {table.data, prefix, table.cols, table.stride};
  tables.patch_position = {table.row(prefix), patches, table.cols, table.stride};
  const RowsCols from = config.position_grid;
  const bool known = static_cast<int64_t>(from.rows) * from.cols == patches && patches > 0;
  const bool fits = known ? from == grid : patches == wanted;
  if (fits || (config.position_by_count && patches == wanted)) return;
  if (!known) {
    throw Error((model.source_path.empty() ? "" : model.source_path + ": ") +
                std::string("positions: expected ") + std::to_string(wanted + prefix) +
                " rows for a grid of " + ToString(grid) + " patches, found " +
                std::to_string(table.rows) + ", which cannot be resized because their grid is " +
                "not known");
  }
  tables.resized =
      ops::ResizeGrid(tables.patch_position, from, grid, FilterOf(config.position_resize));
  tables.patch_position = tables.resized.view();
}

void SetRotary(const VitModel& model, RowsCols grid, GridTables& tables) {
  const VitConfig& config = model.config;
  if (config.rope == RopeKind::kInterleaved) {
    tables.rotary = ops::ReferenceRotary(grid, config.rope_theta, config.head_dim);
  } else if (config.rope == RopeKind::kHalf && model.rope_periods.present()) {
    tables.rotary = ops::CenteredRotary(grid, model.rope_periods.values());
  } else if (config.rope == RopeKind::kHalf) {
    tables.rotary =
        ops::CenteredRotary(grid, ops::RotaryPeriods(config.rope_theta, config.head_dim));
  }
}

}  // namespace

GridTables MakeGridTables(const VitModel& model, RowsCols grid) {
  GridTables tables;
  SetPositions(model, grid, tables);
  SetRotary(model, grid, tables);
  if (model.config.relative_position) {
    for (const LayerWeights& layer : model.layers) {
      tables.relative.emplace_back(layer.relative_position.matrix(), grid,
                                   model.config.tokens.num_prefix_tokens());
    }
  }
  return tables;
}

std::shared_ptr<const GridTables> GridTableCache::Get(const VitModel& model, RowsCols grid) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const auto& entry) { return entry.first == grid; });
  if (found != kept_.end()) {
    std::rotate(found, found + 1, kept_.end());
  } else {
    if (kept_.size() == kKept) kept_.erase(kept_.begin());
    kept_.emplace_back(grid, std::make_shared<const GridTables>(MakeGridTables(model, grid)));
  }
  return kept_.back().second;
}

}  // namespace attnmap::encoder
