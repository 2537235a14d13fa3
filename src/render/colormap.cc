#include "attnmap/render/colormap.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

struct Entry {
  std::string_view name;
  int id;
};

constexpr Entry kColormaps[] = {
    {"autumn", cv::COLORMAP_AUTUMN},     {"bone", cv::COLORMAP_BONE},
    {"jet", cv::COLORMAP_JET},           {"winter", cv::COLORMAP_WINTER},
    {"rainbow", cv::COLORMAP_RAINBOW},   {"ocean", cv::COLORMAP_OCEAN},
    {"summer", cv::COLORMAP_SUMMER},     {"spring", cv::COLORMAP_SPRING},
    {"cool", cv::COLORMAP_COOL},         {"hsv", cv::COLORMAP_HSV},
    {"pink", cv::COLORMAP_PINK},         {"hot", cv::COLORMAP_HOT},
    {"parula", cv::COLORMAP_PARULA},     {"magma", cv::COLORMAP_MAGMA},
    {"inferno", cv::COLORMAP_INFERNO},   {"plasma", cv::COLORMAP_PLASMA},
    {"viridis", cv::COLORMAP_VIRIDIS},   {"cividis", cv::COLORMAP_CIVIDIS},
    {"twilight", cv::COLORMAP_TWILIGHT}, {"twilight_shifted", cv::COLORMAP_TWILIGHT_SHIFTED},
    {"turbo", cv::COLORMAP_TURBO},       {"deepgreen", cv::COLORMAP_DEEPGREEN},
};

}  // namespace

Colormap GetColormap(std::string_view name) {
  for (const Entry& entry : kColormaps) {
    if (entry.name != name) continue;
    cv::Mat levels(1, 256, CV_8UC1);
    for (int i = 0; i < 256; ++i) levels.at<uint8_t>(0, i) = static_cast<uint8_t>(i);
    cv::Mat colours;
    cv::applyColorMap(levels, colours, entry.id);
    Colormap map{};
    for (int i = 0; i < 256; ++i) {
      const auto bgr = colours.at<cv::Vec3b>(0, i);
      map[static_cast<size_t>(i)] = {bgr[2], bgr[1], bgr[0]};
    }
    return map;
  }
  std::string names;
  for (const Entry& entry : kColormaps) {
    if (!names.empty()) names += ", ";
    names += entry.name;
  }
  throw UsageError("there is no colormap '" + std::string(name) + "': choose one of " + names);
}

std::vector<std::string> ColormapNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kColormaps) names.emplace_back(entry.name);
  return names;
}

}  // namespace attnmap
