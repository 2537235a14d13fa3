#include "model/checkpoint_positions.h"

#include <algorithm>
#include <vector>

#include "attnmap/core/error.h"
#include "model/form.h"
#include "model/limits.h"
#include "model/tower_reader.h"

namespace attnmap {
namespace {

int64_t Patches(RowsCols grid) { return int64_t{grid.rows} * grid.cols; }

// How many prefix tokens a table may have rows for, in the order they are tried.
std::vector<int> PossibleCover(const TokenLayout& tokens) {
  const int class_token = tokens.has_class_token ? 1 : 0;
  const int named = class_token + (tokens.has_distillation_token ? 1 : 0);
  std::vector<int> counts;
  for (int count : {0, class_token, named, tokens.num_prefix_tokens()}) {
    if (std::find(counts.begin(), counts.end(), count) == counts.end()) counts.push_back(count);
  }
  return counts;
}

void SetCover(const Checkpoint& c, int covered, VitConfig& config) {
  const TokenLayout& tokens = config.tokens;
  const int named = tokens.num_prefix_tokens() - tokens.num_register_tokens;
  if (covered == 0) {
    config.position_cover = PositionCover::kPatches;
  } else if (covered == named) {
    config.position_cover = PositionCover::kPrefixNoRegisters;
  } else if (covered == tokens.num_prefix_tokens()) {
    config.position_cover = PositionCover::kAll;
  } else {
    c.reader.Fail(c.tower.layout->position,
                  "covers the class token but not the distillation token, which is not supported");
  }
}

int64_t TableRows(const Checkpoint& c) {
  const TensorInfo* info = c.reader.Info(c.tower.layout->position);
  if (info == nullptr) return -1;
  if (info->shape.size() < 2) {
    c.reader.Fail(c.tower.layout->position,
                  "should have 2 or 3 dimensions, found " + ToString(info->shape));
  }
  return info->shape[info->shape.size() - 2];
}

void FindTable(const Checkpoint& c, int64_t rows, VitConfig& config) {
  const std::vector<int> counts = PossibleCover(config.tokens);
  if (config.image_size) {
    const RowsCols grid = ImageGrid(config);
    for (int covered : counts) {
      if (rows - covered == Patches(grid)) {
        config.position_grid = grid;
        return SetCover(c, covered, config);
      }
    }
  }
  for (int covered : counts) {
    if (const int side = SquareSide(rows - covered)) {
      config.position_grid = {side, side};
      return SetCover(c, covered, config);
    }
  }
  // No square, and nothing says which grid: to be used as it is.
  SetCover(c, config.tokens.num_prefix_tokens() - config.tokens.num_register_tokens, config);
}

std::string RelativeName(const Checkpoint& c) {
  const Layout& layout = *c.tower.layout;
  std::string own = WithPrefix(BlockPrefix(c.tower.block, 0), layout.relative_position);
  if (c.Has(own)) return own;
  return c.Has(layout.shared_relative_position) ? std::string(layout.shared_relative_position) : "";
}

// (2 rows - 1)(2 cols - 1) + 3 entries.
int64_t Entries(RowsCols grid) { return int64_t{2 * grid.rows - 1} * (2 * grid.cols - 1) + 3; }

void FindRelative(const Checkpoint& c, VitConfig& config) {
  if (c.tower.layout->relative_position.empty()) return;
  const std::string name = RelativeName(c);
  if (name.empty()) return;
  const int64_t entries = c.reader.ShapeOf(name, 2)[0];
  RowsCols grid = config.position_grid;
  if (grid == RowsCols{} && config.image_size) grid = ImageGrid(config);
  if (grid.rows < 1 || grid.cols < 1 || Entries(grid) != entries) {
    const int side = SquareSide(entries - 3);
    if (side % 2 == 0) {
      throw Error(c.reader.path() + ": relative positions of " + std::to_string(entries) +
                  " entries belong to windowed attention (Swin), which is not supported");
    }
    if (config.position_cover != PositionCover::kNone) {
      c.reader.Fail(name, "has another grid than the position table");
    }
    grid = {(side + 1) / 2, (side + 1) / 2};
  }
  config.relative_position = true;
  config.position_grid = grid;
}

}  // namespace

std::string FindPositions(const Checkpoint& checkpoint, VitConfig& config) {
  config.image_size = checkpoint.config.image_size;
  const int64_t rows = TableRows(checkpoint);
  if (rows >= 0) FindTable(checkpoint, rows, config);
  FindRelative(checkpoint, config);
  const RowsCols grid = config.position_grid;
  if (grid == RowsCols{} || (config.image_size && ImageGrid(config) == grid)) {
    return config.image_size ? checkpoint.config.file : "";
  }
  // Grids beyond kMaxImageSide are still fine as tables.
  if (Patches(grid) > int64_t{kMaxImageSide} * kMaxImageSide) return "";
  config.image_size = RowsCols{grid.rows * config.patch_size, grid.cols * config.patch_size};
  return "inferred";
}

}  // namespace attnmap
