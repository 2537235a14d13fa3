#include "attnmap/core/image_geometry.h"

#include <limits>

#include "support/catch.h"

namespace attnmap {
namespace {

// 400 rows x 600 columns, made 200 x 300, of which the middle 160 x 160.
const ImageGeometry kCropped{{400, 600}, {200, 300}, {160, 160}, 20, 70};
// 100 x 50 made 64 x 32 in the middle of 64 x 64.
const ImageGeometry kPadded{{100, 50}, {64, 32}, {64, 64}, 0, -16};
const PatchGrid kTen{10, 10, 16};
const PatchGrid kEight{8, 8, 8};

void CheckRect(const Rect& rect, double top, double left, double bottom, double right) {
  CHECK(rect.top == Approx(top).margin(1e-12));
  CHECK(rect.left == Approx(left).margin(1e-12));
  CHECK(rect.bottom == Approx(bottom).margin(1e-12));
  CHECK(rect.right == Approx(right).margin(1e-12));
}

}  // namespace

TEST_CASE("The untouched picture's patches are its own pixels") {
  const ImageGeometry same = ImageGeometry::Identity({32, 48});
  const PatchGrid grid{2, 3, 16};
  CheckRect(same.PatchRect(grid, 1, 2), 16, 32, 32, 48);
  CHECK(same.PatchUnder(grid, 15, 16) == RowsCols{1, 0});
  CHECK(same.PatchUnder(grid, 16, 15) == RowsCols{0, 1});
  CheckRect(same.SeenRect(), 0, 0, 32, 48);
}

TEST_CASE("A crop's patches lie in the middle of the source, at its scale") {
  CheckRect(kCropped.PatchRect(kTen, 0, 0), 40, 140, 72, 172);
  CheckRect(kCropped.PatchRect(kTen, 9, 9), 328, 428, 360, 460);
  CheckRect(kCropped.SeenRect(), 40, 140, 360, 460);
  CHECK(kCropped.PatchUnder(kTen, 140, 40) == RowsCols{0, 0});
  CHECK(kCropped.PatchUnder(kTen, 139, 40) == std::nullopt);
  CHECK(kCropped.PatchUnder(kTen, 459, 359) == RowsCols{9, 9});
  CHECK(kCropped.PatchUnder(kTen, 460, 359) == std::nullopt);
  CHECK(kCropped.PatchUnder(kTen, 172, 71) == RowsCols{0, 1});
  CHECK(kCropped.SourceRow(0) == 40);
  CHECK(kCropped.ModelCol(140) == 0);
}

TEST_CASE("Padding is no part of the picture") {
  CheckRect(kPadded.PatchRect(kEight, 0, 0), 0, -25, 12.5, -12.5);
  CheckRect(kPadded.PatchRect(kEight, 7, 2), 87.5, 0, 100, 12.5);
  CheckRect(kPadded.SeenRect(), 0, 0, 100, 50);
  CHECK_FALSE(kPadded.PatchShowsPicture(kEight, 0, 1));
  CHECK(kPadded.PatchShowsPicture(kEight, 0, 2));
  CHECK(kPadded.PatchShowsPicture(kEight, 7, 5));
  CHECK_FALSE(kPadded.PatchShowsPicture(kEight, 7, 6));
  CHECK(kPadded.PatchUnder(kEight, 0, 0) == RowsCols{0, 2});
  CHECK(kPadded.PatchUnder(kEight, 49, 99) == RowsCols{7, 5});
}

TEST_CASE("A position within a pixel means that pixel") {
  const ImageGeometry same = ImageGeometry::Identity({16, 16});
  const PatchGrid grid{4, 4, 4};
  CHECK(same.PatchUnder(grid, 3.9, 0.9) == RowsCols{0, 0});
  CHECK(same.PatchUnder(grid, 15.99, 15.99) == RowsCols{3, 3});
  CHECK(same.PatchUnder(grid, 4, 3) == RowsCols{0, 1});
}

TEST_CASE("No patch lies under what is outside the picture") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (double bad : {-0.5, -1.0, 600.0, 1e300, kNan, kInfinite, -kInfinite}) {
    CHECK(kCropped.PatchUnder(kTen, bad, 200) == std::nullopt);
    CHECK(kCropped.PatchUnder(kTen, 300, bad) == std::nullopt);
  }
}

}  // namespace attnmap
