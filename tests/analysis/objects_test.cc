#include "attnmap/analysis/objects.h"

#include <cmath>

#include "attnmap/analysis/maps.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using Catch::Matchers::Contains;
using Kind = ResolvedQuery::Kind;

TEST_CASE("objects: parts that share an edge, boxes in pixels of the source") {
  PatchMap map;
  map.grid = {3, 4, 8};
  // Two parts: an L at the left, a single patch that touches it by a corner.
  map.values = {4, 0, 0, 0,  //
                4, 2, 0, 0,  //
                0, 0, 6, 0};
  map.layer = 5;
  map.head = "mean";
  // The source is twice as wide as what the model saw, and three times as high.
  const ImageGeometry geometry{{72, 64}, {24, 32}, {24, 32}, 0, 0};
  const auto objects = FindObjects(map, 1.0, geometry);
  REQUIRE(objects.size() == 2);
  CHECK(objects[0].patches == 3);
  CHECK(objects[0].layer == 5);
  CHECK(objects[0].head == "mean");
  CHECK(objects[0].mass == Approx(10.0 / 16));
  CHECK(objects[0].area == Approx(3 * 24 * 16));
  CHECK(objects[0].box.top == Approx(0).margin(1e-9));
  CHECK(objects[0].box.left == Approx(0).margin(1e-9));
  CHECK(objects[0].box.bottom == Approx(48));
  CHECK(objects[0].box.right == Approx(32));
  CHECK(objects[1].patches == 1);
  CHECK(objects[1].box.top == Approx(48));
  CHECK(objects[1].box.left == Approx(32));
  // 10 of 16 are the 6 and a 4 of the two: of equal patches the later is kept first.
  CHECK(FindObjects(map, 0.6, geometry).size() == 2);
  CHECK(FindObjects(map, 0.3, geometry).size() == 1);
}

TEST_CASE("objects: boxes end where the picture ends, patches not shown do not count") {
  PatchMap map;
  map.grid = {1, 3, 8};
  map.values = {1, 1, 7};
  map.shown = {1, 1, 0};
  // Padding of 4 pixels at the left and 12 at the right of 8 x 8.
  const ImageGeometry geometry{{8, 8}, {8, 8}, {8, 24}, 0, -4};
  const auto objects = FindObjects(map, 1.0, geometry);
  REQUIRE(objects.size() == 1);
  CHECK(objects[0].box.left == 0);
  CHECK(objects[0].box.right == 8);
  CHECK(objects[0].area == Approx(64));
  CHECK(objects[0].mass == Approx(1));
}

// Attention of one head and row, a hidden state in which one patch is an outlier.
std::unique_ptr<MapSink> Filled(OutlierRule rule, bool outlier) {
  MapRequest request;
  request.layers = {0};
  request.query = {Kind::kToken, 0, "class"};
  request.tokens.has_class_token = true;
  request.grid = {1, 4, 8};
  request.num_heads = 1;
  request.options.outliers = rule;
  auto sink = MakeMapSink(request);
  CHECK(sink->Wants(0).hidden == (rule != OutlierRule::kKeep));
  CHECK_FALSE(sink->Wants(1).any());
  sink->Begin(1, 5);
  static const float row[] = {0.1F, 0.1F, 0.5F, 0.1F, 0.2F};
  const std::vector<int> queries{0};
  sink->OnFused({0, -1, queries, {row, 1, 5, 5}});
  if (rule != OutlierRule::kKeep) {
    sink->OnMatrix(0, LayerMatrix::kHidden,
                   Tensor({5, 1}, {99, 1, outlier ? 50.0F : 1.2F, 1.1F, -1}));
  }
  return sink;
}

TEST_CASE("outliers kept, clipped to the largest of the others, or excluded") {
  const auto kept = Filled(OutlierRule::kKeep, true)->Maps().at(0);
  CHECK(kept.values == std::vector<float>{0.1F, 0.5F, 0.1F, 0.2F});

  const auto clipping = Filled(OutlierRule::kClip, true);
  const auto clipped = clipping->Maps().at(0);
  const double back = 0.9 / 0.6;  // the old sum over the new
  const double expected[] = {0.1 * back, 0.2 * back, 0.1 * back, 0.2 * back};
  for (size_t j = 0; j < 4; ++j) CHECK(clipped.values[j] == Approx(expected[j]));
  CHECK(clipping->Outliers()->tokens == 1);
  CHECK(clipping->Outliers()->patches == 4);

  const auto excluding = Filled(OutlierRule::kExclude, true);
  const auto excluded = excluding->Maps().at(0);
  CHECK(excluded.shown == std::vector<uint8_t>{1, 0, 1, 1});
  CHECK(std::isnan(excluded.values[1]));
  CHECK(excluded.values[3] == 0.2F);
  CHECK(excluding->Outliers()->tokens == 1);
}

TEST_CASE("where there is no outlier nothing is changed, and that is said") {
  for (const OutlierRule rule : {OutlierRule::kClip, OutlierRule::kExclude}) {
    const auto sink = Filled(rule, false);
    const auto map = sink->Maps().at(0);
    CHECK(map.values == std::vector<float>{0.1F, 0.5F, 0.1F, 0.2F});
    CHECK(map.shown.empty());
    CHECK(sink->Outliers()->tokens == 0);
    CHECK(sink->Outliers()->patches == 4);
  }
}

}  // namespace
}  // namespace attnmap
