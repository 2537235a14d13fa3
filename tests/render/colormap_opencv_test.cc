#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "attnmap/render/colormap.h"
#include "support/catch.h"

namespace attnmap {
namespace {

TEST_CASE("the tables made at build time are OpenCV's, every map and colour") {
  // Numbered here a second time: in OpenCV's own order of ColormapTypes.
  const char* const names[] = {"autumn", "bone",     "jet",     "winter",   "rainbow",
                               "ocean",  "summer",   "spring",  "cool",     "hsv",
                               "pink",   "hot",      "parula",  "magma",    "inferno",
                               "plasma", "viridis",  "cividis", "twilight", "twilight_shifted",
                               "turbo",  "deepgreen"};
  REQUIRE(std::size(names) == ColormapNames().size());
  cv::Mat levels(1, 256, CV_8UC1);
  for (int i = 0; i < 256; ++i) levels.at<uint8_t>(0, i) = static_cast<uint8_t>(i);
  for (size_t id = 0; id < std::size(names); ++id) {
    INFO(names[id]);
    cv::Mat bgr;
    cv::applyColorMap(levels, bgr, static_cast<int>(id));
    const Colormap map = GetColormap(names[id]);
    int different = 0;
    for (int i = 0; i < 256; ++i) {
      const auto expected = bgr.at<cv::Vec3b>(0, i);
      const auto& found = map[static_cast<size_t>(i)];
      different += expected[0] != found[2] || expected[1] != found[1] || expected[2] != found[0];
    }
    CHECK(different == 0);
  }
}

}  // namespace
}  // namespace attnmap
