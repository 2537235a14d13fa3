#include "render/paint_heads.h"

#include "attnmap/core/error.h"
#include "attnmap/render/head_palette.h"
#include "attnmap/render/picture.h"
#include "render/paint_map.h"
#include "render/render_support.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using test::At;
using test::Filled;
using test::MapOf;
using test::Rgb;

const PatchGrid kGrid{1, 4, 30};

TEST_CASE("U-25 a patch goes to the head it matters most to, within that head's mass") {
  // Worked by hand. Head 0 sums to 10: 60 % are 4 + 3, patches 0 and 1. Head 1
  // sums to 100: 60 % are 50 + 30, patches 1 and 2. Patch 1 is 3/4 of head 0's
  // largest and 30/50 of head 1's.
  const std::vector<PatchMap> maps = {MapOf(kGrid, {4, 3, 2, 1}), MapOf(kGrid, {10, 30, 50, 10})};
  const std::vector<HeadOwner> owners = OwnersOf(maps, 0.6);
  CHECK(owners[0].head == 0);
  CHECK(owners[0].strength == 1);
  CHECK(owners[1].head == 0);
  CHECK(owners[1].strength == Approx(0.75));
  CHECK(owners[2].head == 1);
  CHECK(owners[2].strength == 1);
  CHECK(owners[3].head == -1);
  // Of equals the first head, and a head without mass has nothing.
  const std::vector<PatchMap> equal = {MapOf(kGrid, {0, 0, 0, 0}), MapOf(kGrid, {1, 0, 0, 0}),
                                       MapOf(kGrid, {1, 0, 0, 0})};
  CHECK(OwnersOf(equal, 0.6)[0].head == 1);
  CHECK(OwnersOf(equal, 0.6)[1].head == -1);
}

TEST_CASE("U-25 heads are drawn in their colours over the photo in grey, with a legend") {
  const Rgb photo = {200, 100, 50};
  const uint8_t grey = 124;  // 0.299 * 200 + 0.587 * 100 + 0.114 * 50 = 124.2
  const std::vector<Panel> panels = {{MapOf(kGrid, {4, 3, 2, 1}), "layer 0 head 2", 0, {}},
                                     {MapOf(kGrid, {10, 30, 50, 10}), "layer 0 head 5", 0, {}}};
  PictureOptions options;
  options.layout = Layout::kHeads;
  options.font = test::kFont;
  const Image image =
      RenderPicture(Filled({30, 120}, photo), ImageGeometry::Identity({30, 120}), panels, options)
          .image;
  REQUIRE(image.cols > 150);
  const auto expect = [&](int x, int head, float strength) {
    const double opacity = HeadOpacity(strength, options.alpha);
    for (size_t c = 0; c < 3; ++c) {
      const double value = (1 - opacity) * grey + opacity * ColourOfHead(head)[c];
      CHECK(At(image, image.rows / 2, x)[c] == Approx(value).margin(0.6));
    }
  };
  expect(5, 0, 1);
  expect(35, 0, 0.75F);
  expect(65, 1, 1);
  CHECK(At(image, image.rows / 2, 115) == Rgb{62, 62, 62});
  CHECK(HeadOpacity(1, 0.6) > HeadOpacity(0.5F, 0.6));
  CHECK(HeadOpacity(1, 1) == 1);
  CHECK(HeadOpacity(1, 0) == 0);
  // Each colour is in the legend, outside the picture.
  int swatches[2] = {0, 0};
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 121; x < image.cols; ++x) {
      for (int head = 0; head < 2; ++head) swatches[head] += At(image, y, x) == ColourOfHead(head);
    }
  }
  CHECK(swatches[0] > 20);
  CHECK(swatches[1] == swatches[0]);
}

}  // namespace
}  // namespace attnmap
