#ifndef ATTNMAP_RENDER_COMPOSE_H_
#define ATTNMAP_RENDER_COMPOSE_H_

#include <optional>
#include <span>
#include <vector>

#include "attnmap/render/picture.h"
#include "render/font.h"
#include "render/page.h"

namespace attnmap {

// One picture of a page: a photo as it is, a map on its photo, or the heads of
// one photo in colours.
struct Tile {
  enum class Kind { kPhoto, kMap, kHeads };
  Kind kind = Kind::kMap;
  size_t source = 0;
  std::vector<size_t> maps;  // of Composition::maps; none for a photo
};

// The values of the bottom and top colour, for each map.
struct Scales {
  std::vector<ValueRange> ranges;
  bool one = true;        // the same for all
  bool constant = false;  // every map has one value only
};

// All that is decided before anything is drawn, in pixels or as vectors.
struct Composition {
  std::vector<PanelSource> sources;
  std::vector<PatchMap> maps;  // those of the panels, as they can be drawn
  Scales scales;
  Colormap colours = {};
  double alpha = 1;
  double mass = kDefaultMass;  // of contours and heads
  std::vector<Tile> tiles;     // where page.pictures are
  PageContent content;
  Page page;
  std::optional<Font> font;  // where there is text
  std::vector<std::string> notes;

  const PanelSource& SourceOf(const Tile& tile) const { return sources[tile.source]; }
  // The geometry of a tile's map in a picture of this size.
  ImageGeometry GeometryOf(const Tile& tile, RowsCols picture) const;
};

// Throws Error where there is nothing to draw, or options do not fit it.
Composition Compose(const PictureRequest& request, const PictureOptions& options);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_COMPOSE_H_
