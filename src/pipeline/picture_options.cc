#include "pipeline/picture_options.h"

#include <algorithm>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

constexpr unsigned Bit(Layout layout) { return 1U << static_cast<unsigned>(layout); }
constexpr unsigned kAll = ~0U;
constexpr unsigned kOneScale = kAll & ~Bit(Layout::kHeads);  // colours that stand for values
constexpr unsigned kOnFile = kAll & ~Bit(Layout::kTerminal);

// Which layouts an option says something to, and which outputs beside pixels.
struct LayoutBound {
  std::string_view option;
  unsigned layouts;
  bool vector = true;
};

constexpr LayoutBound kLayoutBounds[] = {{"--layout", kAll},
                                         {"--colormap", kOneScale},
                                         {"--alpha", kAll & ~Bit(Layout::kHeatmap)},
                                         {"--interpolation", kOneScale, false},
                                         {"--normalize", kOneScale},
                                         {"--shared-scale", kOneScale},
                                         {"--mass", kAll},
                                         {"--contour", kAll},
                                         {"--colorbar", kOneScale& kOnFile},
                                         {"--output-size", kOnFile}};

}  // namespace

std::vector<std::string> PictureOptionNames() {
  std::vector<std::string> names;
  for (const LayoutBound& bound : kLayoutBounds) names.emplace_back(bound.option);
  return names;
}

bool MapJob::Given(std::string_view option) const {
  return std::find(given.begin(), given.end(), option) != given.end();
}

void CheckPictureOptions(const MapJob& job) {
  if (!job.format.picture) return;
  for (const LayoutBound& bound : kLayoutBounds) {
    if (!job.Given(bound.option)) continue;
    // What says what holds anyway: --no-colorbar, and patches drawn one by one.
    if (bound.option == "--colorbar" && !job.picture.colorbar) continue;
    const bool one_by_one = job.picture.interpolation == Interpolation::kNearest;
    if (bound.option == "--interpolation" && job.format.vector && one_by_one) continue;
    const std::string does_nothing = std::string(bound.option) + " does nothing with ";
    if ((bound.layouts & Bit(job.picture.layout)) == 0) {
      throw UsageError(does_nothing + "--layout " + std::string(LayoutName(job.picture.layout)) +
                       ": leave it out");
    }
    if (job.format.vector && !bound.vector) {
      throw UsageError(does_nothing + "svg and pdf, where a patch is a rectangle: leave it out");
    }
  }
}

std::vector<std::string> OutputNotes(const MapJob& job) {
  if (job.format.picture) return {};
  std::string list;
  for (const std::string& option : job.given) {
    // Boxes of objects are those of the mask.
    if (option == "--mass" && job.objects) continue;
    list += (list.empty() ? "" : ", ") + option;
  }
  if (list.empty()) return {};
  return {"the numbers are the raw map, to which " + list + " do nothing"};
}

}  // namespace attnmap
