#include "attnmap/core/patch_grid.h"

#include "support/catch.h"

namespace attnmap {

TEST_CASE("U-01 patches are counted row by row, on a grid that is not square") {
  const PatchGrid grid{3, 5, 16};
  CHECK(grid.num_patches() == 15);
  CHECK(grid.pixels() == RowsCols{48, 80});
  CHECK(grid.PatchIndex(0, 4) == 4);
  CHECK(grid.PatchIndex(1, 0) == 5);
  CHECK(grid.PatchAt(14) == RowsCols{2, 4});
  for (int i = 0; i < grid.num_patches(); ++i) {
    const RowsCols at = grid.PatchAt(i);
    CHECK(grid.PatchIndex(at.rows, at.cols) == i);
  }
}

TEST_CASE("A layout with a class token has it first") {
  const TokenLayout layout{.has_class_token = true};
  CHECK(layout.num_prefix_tokens() == 1);
  CHECK(layout.class_token() == 0);
  CHECK(layout.distillation_token() == -1);
  CHECK(layout.first_patch_token() == 1);
  CHECK(layout.PatchToken(0) == 1);
  CHECK(layout.num_tokens({14, 14, 16}) == 197);
}

TEST_CASE("U-10 a layout without a class token begins with the patches") {
  const TokenLayout layout;
  CHECK(layout.num_prefix_tokens() == 0);
  CHECK(layout.class_token() == -1);
  CHECK(layout.PatchToken(3) == 3);
  CHECK(layout.num_tokens({2, 3, 8}) == 6);
}

TEST_CASE("U-09 the distillation token stands behind the class token") {
  const TokenLayout layout{.has_class_token = true, .has_distillation_token = true};
  CHECK(layout.distillation_token() == 1);
  CHECK(layout.first_patch_token() == 2);
  CHECK(layout.num_tokens({14, 14, 16}) == 198);
}

TEST_CASE("U-08 registers stand between the class token and the patches") {
  const TokenLayout layout{.has_class_token = true, .num_register_tokens = 4};
  CHECK(layout.first_register_token() == 1);
  CHECK(layout.first_patch_token() == 5);
  CHECK(layout.PatchToken(0) == 5);
  CHECK(layout.num_tokens({29, 29, 14}) == 846);
  const TokenLayout bare{.num_register_tokens = 4};
  CHECK(bare.first_register_token() == 0);
  CHECK(bare.first_patch_token() == 4);
}

}  // namespace attnmap
