#include "render/dots.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attnmap {

void FillDisc(Image& image, const Point& centre, double radius, const Colour& colour,
              double opacity) {
  const int top = std::max(0, static_cast<int>(std::floor(centre.y - radius - 1)));
  const int bottom = std::min(image.rows, static_cast<int>(std::ceil(centre.y + radius + 1)));
  const int left = std::max(0, static_cast<int>(std::floor(centre.x - radius - 1)));
  const int right = std::min(image.cols, static_cast<int>(std::ceil(centre.x + radius + 1)));
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      // Over the width of a pixel the edge fades out.
      const double inside = radius + 0.5 - std::hypot(x + 0.5 - centre.x, y + 0.5 - centre.y);
      const double cover = opacity * std::clamp(inside, 0.0, 1.0);
      BlendPixel(image.row(y) + static_cast<size_t>(x) * 3, colour,
                 static_cast<unsigned>(std::lround(255 * cover)));
    }
  }
}

std::vector<double> SpreadDots(std::span<const double> heights, double radius, double most) {
  constexpr double kGap = 1.9;  // radii between centres: neighbours just touch
  std::vector<size_t> order(heights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return heights[a] < heights[b]; });
  std::vector<double> aside(heights.size(), 0);
  // Dots that touch make a group, which stands in the middle: group [begin, n) of order.
  size_t begin = 0;
  double balance = 0;  // of the group: the side that is lighter takes the next dot
  const auto centre = [&](size_t end) {
    double low = 0, high = 0;
    for (size_t m = begin; m < end; ++m) {
      low = std::min(low, aside[order[m]]);
      high = std::max(high, aside[order[m]]);
    }
    for (size_t m = begin; m < end; ++m) aside[order[m]] -= (low + high) / 2;
    begin = end;
    balance = 0;
  };
  for (size_t n = 0; n < order.size(); ++n) {
    if (n > 0 && heights[order[n]] - heights[order[n - 1]] >= kGap * radius) centre(n);
    const auto is_free = [&](double x) {
      for (size_t m = n; m-- > 0;) {
        const double down = heights[order[n]] - heights[order[m]];
        if (down >= kGap * radius) return true;
        if (std::hypot(x - aside[order[m]], down) < kGap * radius) return false;
      }
      return true;
    };
    const double step = radius / 2;
    for (double x = 0; x <= most; x += step) {
      const double lighter = balance > 0 ? -x : x;
      if (!is_free(lighter) && !is_free(-lighter)) continue;
      aside[order[n]] = is_free(lighter) ? lighter : -lighter;
      break;
    }
    balance += aside[order[n]];
  }
  centre(order.size());
  return aside;
}

}  // namespace attnmap
