#include "render/colour_vision.h"

#include "attnmap/render/colormap.h"
#include "attnmap/render/head_palette.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using test::Contrast;
using test::Distance;
using test::kSights;
using test::Lab;
using test::Sight;

// Lightness never falls, and sixteenths of the scale are even steps of it: none
// under half or over 1.6 times the mean.
bool IsEven(const Colormap& map, const Sight& sight) {
  constexpr double kRounding = 0.05;  // of colours to 8 bits
  std::vector<double> lightness;
  for (const auto& colour : map) lightness.push_back(Lab(colour, sight)[0]);
  for (size_t i = 1; i < lightness.size(); ++i) {
    if (lightness[i] < lightness[i - 1] - kRounding) return false;
  }
  const double mean = (lightness.back() - lightness.front()) / 16;
  for (size_t i = 17; i < lightness.size(); i += 16) {
    const double step = lightness[i] - lightness[i - 16];
    if (step < 0.5 * mean || step > 1.6 * mean) return false;
  }
  return true;
}

TEST_CASE("known colours have known CIELAB values") {
  const auto red = Lab({255, 0, 0}, kSights[0]);
  CHECK(red[0] == Approx(53.24).margin(0.05));
  CHECK(red[1] == Approx(80.09).margin(0.1));
  CHECK(red[2] == Approx(67.20).margin(0.1));
  CHECK(Lab({255, 255, 255}, kSights[0])[0] == Approx(100).margin(0.01));
  CHECK(Contrast({0, 0, 0}, {255, 255, 255}) == Approx(21).margin(0.01));
  // Greys stay what they are, whoever looks.
  for (const Sight& sight : kSights) {
    CHECK(Distance(Lab({128, 128, 128}, sight), Lab({128, 128, 128}, kSights[0])) < 0.5);
  }
}

TEST_CASE("the default colour map rises evenly in lightness, for all eyes") {
  for (const Sight& sight : kSights) {
    INFO(sight.name);
    CHECK(IsEven(GetColormap("inferno"), sight));
    CHECK(IsEven(GetColormap("viridis"), sight));
    CHECK_FALSE(IsEven(GetColormap("jet"), sight));  // the rule can tell
    const auto bottom = Lab(GetColormap("inferno")[0], sight);
    const auto top = Lab(GetColormap("inferno")[255], sight);
    CHECK(top[0] - bottom[0] > 90);
  }
}

TEST_CASE("U-25 heads have colours that differ for all eyes") {
  for (const Sight& sight : kSights) {
    for (int a = 0; a < kNumHeadColours; ++a) {
      for (int b = 0; b < a; ++b) {
        INFO(sight.name << ", heads " << b << " and " << a);
        const double apart = Distance(Lab(ColourOfHead(a), sight), Lab(ColourOfHead(b), sight));
        CHECK(apart > (a == b + 1 ? 38 : 15));
      }
    }
  }
  CHECK(ColourOfHead(kNumHeadColours) == ColourOfHead(0));
  CHECK(ColourOfHead(0) == HeadColour{0xE6, 0x9F, 0x00});  // Okabe & Ito's orange
}

}  // namespace
}  // namespace attnmap
