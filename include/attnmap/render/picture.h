#ifndef ATTNMAP_RENDER_PICTURE_H_
#define ATTNMAP_RENDER_PICTURE_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnmap/core/image.h"
#include "attnmap/core/image_geometry.h"
#include "attnmap/core/patch_map.h"

namespace attnmap {

enum class Layout { kOverlay, kHeatmap, kSideBySide, kSheet };
enum class Interpolation { kNearest, kLinear, kCubic };

// How values become colours.
struct Normalize {
  enum class Kind { kMinMax, kMax, kPercentile, kRange };
  Kind kind = Kind::kMinMax;
  double low = 0;  // percentile or value
  double high = 0;
};

struct ValueRange {
  double low = 0;
  double high = 0;
};

struct PictureOptions {
  Layout layout = Layout::kOverlay;
  std::string colormap = "inferno";
  double alpha = 0.6;  // (1 - alpha) photo + alpha colour
  Interpolation interpolation = Interpolation::kCubic;
  Normalize normalize;
  bool shared_scale = false;        // one range for all maps of a sheet
  std::optional<ValueRange> range;  // given from outside (a batch's shared scale)
  std::optional<double> mass;       // keep the smallest set of patches with that share
  bool colorbar = false;
  std::string font;  // path of the font that ships with the program
  std::optional<RowsCols> output_size;
};

// One map and the picture it belongs to.
struct Panel {
  PatchMap map;
  std::string label;  // "layer 3 head 2"; may be empty
};

struct RenderedPicture {
  Image image;
  ValueRange range;       // of values, bottom and top colour (of the first panel where not shared)
  bool constant = false;  // the map has one value only
};

// The range a normalisation gives over the shown patches of some maps.
ValueRange ComputeRange(std::span<const PatchMap> maps, const Normalize& normalize);

// Draws maps over (or beside) the upright source. The overlay has the source's
// size, no border; patches the model did not see are the photo, dimmed.
RenderedPicture RenderPicture(const Image& source, const ImageGeometry& geometry,
                              std::span<const Panel> panels, const PictureOptions& options);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_PICTURE_H_
