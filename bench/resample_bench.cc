// How fast pictures are resized, against OpenCV and, where python3 has it,
// Pillow, in the same run on one thread: milliseconds (the best of several
// turns) and the others' time divided by ours.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "attnmap/image/resample.h"

#if __has_include(<opencv2/imgproc.hpp>)
#include <opencv2/imgproc.hpp>
#define ATTNMAP_BENCH_OPENCV 1
#endif

namespace {

struct Case {
  int rows, cols, out_rows, out_cols;
  attnmap::Filter filter;
};

using attnmap::Filter;
constexpr Case kCases[] = {
    {400, 600, 224, 336, Filter::kBicubic},   {480, 640, 256, 341, Filter::kBicubic},
    {480, 640, 224, 224, Filter::kBilinear},  {3000, 4000, 224, 299, Filter::kBicubic},
    {4000, 3000, 299, 224, Filter::kBicubic}, {3000, 4000, 518, 690, Filter::kLanczos},
    {224, 224, 1024, 1024, Filter::kBicubic},
};

// The shortest of several turns that take a third of a second together.
template <typename Work>
double Milliseconds(Work work) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  double total = 0;
  for (int turn = 0; turn < 3 || total < 333; ++turn) {
    const auto start = Clock::now();
    work();
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    best = std::min(best, ms);
    total += ms;
  }
  return best;
}

attnmap::Image Noise(int rows, int cols) {
  attnmap::Image image(rows, cols);
  std::mt19937 random(1);
  for (uint8_t& value : image.rgb) value = static_cast<uint8_t>(random());
  return image;
}

std::vector<double> PillowMilliseconds() {
  std::string cases;
  for (const Case& c : kCases) {
    cases += "(" + std::to_string(c.rows) + "," + std::to_string(c.cols) + "," +
             std::to_string(c.out_rows) + "," + std::to_string(c.out_cols) + ",'" +
             std::string(attnmap::FilterName(c.filter)) + "'),";
  }
  const std::string script =
      "import os, time, PIL\n"
      "from PIL import Image\n"
      "print('Pillow', PIL.__version__)\n"
      "for rows, cols, out_rows, out_cols, name in [" +
      cases +
      "]:\n"
      "    image = Image.frombytes('RGB', (cols, rows), os.urandom(rows * cols * 3))\n"
      "    best, total, turn = 1e9, 0, 0\n"
      "    while turn < 3 or total < 0.333:\n"
      "        start = time.perf_counter()\n"
      "        image.resize((out_cols, out_rows), getattr(Image.Resampling, name.upper()))\n"
      "        spent = time.perf_counter() - start\n"
      "        best, total, turn = min(best, spent), total + spent, turn + 1\n"
      "    print(best * 1000)\n";
  std::vector<double> times;
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    FILE* pipe = popen((std::string(python) + " -c \"" + script + "\" 2>/dev/null").c_str(), "r");
    if (pipe == nullptr) continue;
    times.clear();
    std::array<char, 64> line;
    std::string version;
    while (std::fgets(line.data(), line.size(), pipe) != nullptr) {
      if (version.empty()) {
        version = line.data();
      } else {
        times.push_back(std::atof(line.data()));
      }
    }
    if (pclose(pipe) == 0 && times.size() == std::size(kCases)) {
      std::printf("%s", version.c_str());
      return times;
    }
  }
  return {};
}

// OpenCV's nearest: area when shrinking, cubic when enlarging. 0: it is not there.
double OpenCvMilliseconds([[maybe_unused]] const Case& c,
                          [[maybe_unused]] const attnmap::Image& image) {
#ifdef ATTNMAP_BENCH_OPENCV
  cv::setNumThreads(1);
  const cv::Mat in(c.rows, c.cols, CV_8UC3, const_cast<uint8_t*>(image.rgb.data()));
  const int method = c.out_rows < c.rows ? cv::INTER_AREA : cv::INTER_CUBIC;
  cv::Mat out;
  return Milliseconds([&] { cv::resize(in, out, {c.out_cols, c.out_rows}, 0, 0, method); });
#else
  return 0;
#endif
}

void PrintOther(const char* name, double theirs, double ours) {
  if (theirs > 0) std::printf("  %s %8.3f ms (%5.2f x)", name, theirs, theirs / ours);
}

void Run(const Case& c, double pillow) {
  const attnmap::Image image = Noise(c.rows, c.cols);
  const double ours = Milliseconds([&] {
    attnmap::Resize(image, {c.out_rows, c.out_cols}, c.filter);
  });
  std::printf("%4d x %4d to %4d x %4d %-8s %8.3f ms", c.rows, c.cols, c.out_rows, c.out_cols,
              std::string(attnmap::FilterName(c.filter)).c_str(), ours);
  PrintOther("Pillow", pillow, ours);
  PrintOther("OpenCV", OpenCvMilliseconds(c, image), ours);
  std::printf("\n");
}

}  // namespace

int main() {
  const std::vector<double> pillow = PillowMilliseconds();
  if (pillow.empty()) std::fprintf(stderr, "python3 has no Pillow: not compared with it\n");
  for (size_t i = 0; i < std::size(kCases); ++i) Run(kCases[i], pillow.empty() ? 0 : pillow[i]);
}
