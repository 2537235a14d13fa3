#ifndef ATTNMAP_RENDER_DOTS_H_
#define ATTNMAP_RENDER_DOTS_H_

#include <span>
#include <vector>

#include "render/canvas.h"

namespace attnmap {

// A point of the picture, in pixels; pixel (y, x) covers [x, x + 1).
struct Point {
  double x = 0;
  double y = 0;
};

// A disc blended over what is there, antialiased; what falls outside is left out.
void FillDisc(Image& image, const Point& centre, double radius, const Colour& colour,
              double opacity);

// How far each of a column's dots moves aside so that dots of nearly the same
// height stand beside one another: at most `most` pixels, nothing where even
// that is no room. heights: in pixels, in any order.
std::vector<double> SpreadDots(std::span<const double> heights, double radius, double most);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_DOTS_H_
