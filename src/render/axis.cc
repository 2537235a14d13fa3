#include "render/axis.h"

#include <algorithm>
#include <cmath>

#include "attnmap/core/number_text.h"

namespace attnmap {
namespace {

constexpr double kSteps[] = {1, 2, 5};

}  // namespace

Axis MakeAxis(double largest, int most_steps) {
  if (!(largest > 0)) largest = 1;
  // Enough for a sum that should be a round number and is a rounding above it.
  const double wanted = largest * (1 - 1e-9);
  for (int power = static_cast<int>(std::floor(std::log10(wanted / most_steps)));; ++power) {
    for (double factor : kSteps) {
      // Divided, not multiplied, below one: 3 / 10 is rounded once.
      const double scale = std::pow(10.0, std::abs(power));
      const double steps = std::ceil(power < 0 ? wanted * scale / factor : wanted / scale / factor);
      if (steps > most_steps) continue;
      Axis axis;
      for (int i = 0; i <= static_cast<int>(steps); ++i) {
        const double value = power < 0 ? i * factor / scale : i * factor * scale;
        axis.ticks.push_back(value);
        axis.labels.push_back(Fixed(value, std::max(-power, 0)));
      }
      axis.end = axis.ticks.back();
      return axis;
    }
  }
}

int RoundStep(double columns) {
  for (int scale = 1;; scale *= 10) {
    for (double factor : kSteps) {
      const int step = static_cast<int>(factor) * scale;
      if (step >= columns) return step;
    }
  }
}

}  // namespace attnmap
