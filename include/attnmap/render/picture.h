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

enum class Layout {
  kOverlay,     // the map over its photo
  kHeatmap,     // colours alone
  kSideBySide,  // the photo, then the overlay
  kSheet,       // one panel for each map
  kHeads,       // one picture, a colour for each head
  kTerminal,    // an overlay in the letters of a terminal (render/terminal.h)
};
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
  bool contour = false;             // outline that set (kDefaultMass of it without `mass`)
  bool colorbar = false;
  std::string font;                         // path of the font that ships with the program
  std::vector<std::string> fallback_fonts;  // asked in turn for letters it does not have
  std::string pdf_module;                   // path of the module that writes PDF (RenderVector)
  std::optional<RowsCols> output_size;
};

// DINO's share (Caron et al. 2021), where an outline or a colour per head is
// asked for without saying how much of the mass it holds.
inline constexpr double kDefaultMass = 0.6;

// A photo, and how one model saw it.
struct PanelSource {
  const Image* picture = nullptr;  // upright; outlives the call
  ImageGeometry geometry;
};

// One map and the picture it belongs to.
struct Panel {
  PatchMap map;
  std::string label;  // "layer 3 head 2"; may be empty
  size_t source = 0;  // whose photo it is drawn on
  RowsCols place;     // of a sheet with `shape`
};

// What is drawn. Without a shape, a sheet's panels follow one another and the
// sheet's shape follows from their number. Layout kHeads takes the panels of
// one source (of one place) as the heads of one picture.
struct PictureRequest {
  std::vector<PanelSource> sources;
  std::vector<Panel> panels;
  std::optional<RowsCols> shape;       // of a sheet: rows and columns of panels
  std::vector<std::string> row_heads;  // empty, or one a row of the shape
  std::vector<std::string> col_heads;  // empty, or one a column
};

struct RenderedPicture {
  Image image;
  ValueRange range;       // of values, bottom and top colour (of the first panel where not shared)
  bool constant = false;  // the maps have one value only
  std::vector<std::string> notes;  // what a reader should know of the drawing
};

// The range a normalisation gives over the shown patches of some maps.
ValueRange ComputeRange(std::span<const PatchMap> maps, const Normalize& normalize);

// Draws maps over (or beside) their upright photos. The overlay has the photo's
// size, no border; patches the model did not see are the photo, dimmed.
RenderedPicture RenderPicture(const PictureRequest& request, const PictureOptions& options);

// The same for one photo.
RenderedPicture RenderPicture(const Image& source, const ImageGeometry& geometry,
                              std::span<const Panel> panels, const PictureOptions& options);

// The same as vectors: the photo embedded as JPEG, each patch a rectangle of
// its own colour (as --interpolation nearest draws it), labels as text. Throws
// Error also where a PDF is asked for and its module is missing.
enum class VectorFormat { kSvg, kPdf };
struct VectorPicture {
  std::string bytes;
  ValueRange range;
  bool constant = false;
  std::vector<std::string> notes;
};
// Throws Error where the module that a format needs is not installed.
void CheckVectorFormat(VectorFormat format, const PictureOptions& options);
VectorPicture RenderVector(const PictureRequest& request, const PictureOptions& options,
                           VectorFormat format);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_PICTURE_H_
