#ifndef ATTNMAP_ENCODER_GRID_TABLES_H_
#define ATTNMAP_ENCODER_GRID_TABLES_H_

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "attnmap/core/patch_grid.h"
#include "attnmap/core/tensor.h"
#include "attnmap/model/vit_model.h"
#include "attnmap/ops/relative_position.h"
#include "attnmap/ops/rotary.h"

namespace attnmap::encoder {

// What a model's positions come to on one grid.
struct GridTables {
  Matrix resized;             // owns patch_position where it had to be resized
  MatrixView patch_position;  // (patches, D); data null: none
  // (prefix tokens that have a position, D), in the order of the tokens.
  MatrixView prefix_position;
  ops::RotaryTable rotary;                          // half 0: none
  std::vector<ops::RelativePositionBias> relative;  // a layer each; empty: none
};

// Throws Error where the positions cannot be brought to the grid.
GridTables MakeGridTables(const VitModel& model, RowsCols grid);

// Keeps the tables of the grids used last; safe to use from several threads.
class GridTableCache {
 public:
  std::shared_ptr<const GridTables> Get(const VitModel& model, RowsCols grid);

 private:
  static constexpr size_t kKept = 4;
  std::mutex mutex_;
  std::vector<std::pair<RowsCols, std::shared_ptr<const GridTables>>> kept_;  // oldest first
};

}  // namespace attnmap::encoder

#endif  // ATTNMAP_ENCODER_GRID_TABLES_H_
