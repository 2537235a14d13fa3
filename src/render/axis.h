#ifndef ATTNMAP_RENDER_AXIS_H_
#define ATTNMAP_RENDER_AXIS_H_

#include <string>
#include <vector>

namespace attnmap {

// An axis from zero to a round number, its ticks 1, 2 or 5 times a power of
// ten apart.
struct Axis {
  double end = 1;
  std::vector<double> ticks;        // ascending, from 0 to end
  std::vector<std::string> labels;  // one a tick, all with as many decimals
};

// The shortest such axis that holds `largest`, with at most `most_steps` ticks
// above zero. REQUIRES: largest >= 0 and finite, most_steps >= 2.
Axis MakeAxis(double largest, int most_steps);

// How many columns apart numbers may stand: 1, 2, 5, 10, 20, ..., the least
// that is at least `columns`.
int RoundStep(double columns);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_AXIS_H_
