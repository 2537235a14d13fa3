#ifndef ATTNMAP_RENDER_PLOT_H_
#define ATTNMAP_RENDER_PLOT_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnmap/core/image.h"

namespace attnmap {

// Dots over numbered columns, with a bar at each column's mean: what the heads
// of each layer come to, as in Dosovitskiy et al. 2021, fig. 7 (right).
struct DotChart {
  std::string title;  // what is measured, and its unit
  std::string x_title;
  int first_column = 0;                   // the number under the first column
  std::vector<std::vector<double>> dots;  // by column; 0 or more, finite
  std::optional<double> reference;        // a dashed line at this height
};

struct PlotOptions {
  std::string font;                         // path of the font that ships with the program
  std::vector<std::string> fallback_fonts;  // asked in turn for letters it does not have
  std::string heading;                      // over all charts; shortened where it does not fit
  // The legend: what a dot, a bar and a dashed line is. All empty: none.
  std::string dots_are;
  std::string means_are;
  std::string references_are;
};

// The charts beside one another, each from zero up to a round number. The
// picture grows with the number of columns up to a bound. Throws Error where
// there is no chart, no column, or a chart's number is negative or not finite.
Image DrawDotCharts(std::span<const DotChart> charts, const PlotOptions& options);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_PLOT_H_
