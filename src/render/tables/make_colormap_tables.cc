// Writes OpenCV's colour maps as C++ while the project is built, so that the
// program needs no OpenCV to draw: make_colormap_tables OUTPUT.
#include <cstdio>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

namespace {

struct Entry {
  const char* name;
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

void Write(std::FILE* out, const Entry& entry) {
  cv::Mat levels(1, 256, CV_8UC1);
  for (int i = 0; i < 256; ++i) levels.at<uint8_t>(0, i) = static_cast<uint8_t>(i);
  cv::Mat colours;
  cv::applyColorMap(levels, colours, entry.id);
  std::fprintf(out, "{\"%s\", {{\n", entry.name);
  for (int i = 0; i < 256; ++i) {
    const auto bgr = colours.at<cv::Vec3b>(0, i);
    std::fprintf(out, "{%d, %d, %d},%s", bgr[2], bgr[1], bgr[0], i % 8 == 7 ? "\n" : " ");
  }
  std::fprintf(out, "}}},\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::FILE* out = argc == 2 ? std::fopen(argv[1], "w") : nullptr;
  if (out == nullptr) return 1;
  std::fprintf(out, "// Made by make_colormap_tables from OpenCV %s: name, 256 x R G B.\n",
               CV_VERSION);
  for (const Entry& entry : kColormaps) Write(out, entry);
  return std::fclose(out) == 0 ? 0 : 1;
}
