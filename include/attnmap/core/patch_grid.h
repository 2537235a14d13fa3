#ifndef ATTNMAP_CORE_PATCH_GRID_H_
#define ATTNMAP_CORE_PATCH_GRID_H_

#include <cstdint>

namespace attnmap {

// A height and a width, rows first everywhere in this library.
struct RowsCols {
  int rows = 0;
  int cols = 0;
  bool operator==(const RowsCols&) const = default;
};

// How the prepared image is cut into patches, and the order of their tokens:
// row-major, left to right, top to bottom. The only place that knows either.
struct PatchGrid {
  int rows = 0;
  int cols = 0;
  int patch_size = 0;  // pixels a side

  int num_patches() const { return rows * cols; }
  int PatchIndex(int row, int col) const { return row * cols + col; }
  RowsCols PatchAt(int index) const { return {index / cols, index % cols}; }
  RowsCols pixels() const { return {rows * patch_size, cols * patch_size}; }
  bool operator==(const PatchGrid&) const = default;
};

// Which tokens stand before the patch tokens: class, distillation, registers,
// in that order. The only place that knows how many there are.
struct TokenLayout {
  bool has_class_token = false;
  bool has_distillation_token = false;
  int num_register_tokens = 0;

  int num_prefix_tokens() const {
    return (has_class_token ? 1 : 0) + (has_distillation_token ? 1 : 0) + num_register_tokens;
  }
  int class_token() const { return has_class_token ? 0 : -1; }  // -1: there is none
  int distillation_token() const { return has_distillation_token ? (has_class_token ? 1 : 0) : -1; }
  int first_register_token() const { return num_prefix_tokens() - num_register_tokens; }
  int first_patch_token() const { return num_prefix_tokens(); }
  int num_tokens(const PatchGrid& grid) const { return num_prefix_tokens() + grid.num_patches(); }
  int PatchToken(int patch_index) const { return num_prefix_tokens() + patch_index; }
  bool operator==(const TokenLayout&) const = default;
};

}  // namespace attnmap

#endif  // ATTNMAP_CORE_PATCH_GRID_H_
