#include "attnmap/render/picture.h"

#include <algorithm>

#include "attnmap/image/resample.h"
#include "render/compose.h"
#include "render/contour.h"
#include "render/paint_colours.h"
#include "render/paint_heads.h"
#include "render/paint_map.h"

namespace attnmap {
namespace {

// Draws the tiles of a page, each photo resized once for a run of tiles on it.
class TilePainter {
 public:
  TilePainter(const Composition& composition, const PictureOptions& options)
      : composition_(composition), options_(options) {}

  void Paint(const Tile& tile, const Region& region) {
    const RowsCols size{region.rows, region.cols};
    const Image& photo = PhotoAt(*composition_.SourceOf(tile).picture, size);
    const ImageGeometry geometry = composition_.GeometryOf(tile, size);
    switch (tile.kind) {
      case Tile::Kind::kPhoto:
        return CopyInto(photo, region);
      case Tile::Kind::kMap:
        return PaintOne(photo, geometry, tile.maps.front(), region);
      case Tile::Kind::kHeads:
        return PaintAll(photo, geometry, tile, region);
    }
  }

 private:
  const Image& PhotoAt(const Image& photo, RowsCols size) {
    if (photo.size() == size) return photo;
    if (resized_from_ != &photo || resized_.size() != size) {
      resized_ = Resize(photo, size, Filter::kBicubic);
      resized_from_ = &photo;
    }
    return resized_;
  }

  void PaintOne(const Image& photo, const ImageGeometry& geometry, size_t index,
                const Region& region) const {
    const PatchMap& map = composition_.maps[index];
    const MapStyle style{composition_.colours, composition_.alpha, options_.interpolation,
                         composition_.scales.ranges[index]};
    if (!map.colours.empty()) return PaintColours(photo, geometry, map, style, region);
    std::vector<uint8_t> kept;
    if (options_.mass || options_.contour) kept = MassMask(map, composition_.mass);
    PaintMap(photo, geometry, map, options_.mass ? kept : std::vector<uint8_t>(), style, region);
    if (options_.contour) DrawContour(geometry, map.grid, kept, region);
  }

  void PaintAll(const Image& photo, const ImageGeometry& geometry, const Tile& tile,
                const Region& region) const {
    std::vector<PatchMap> maps;
    for (size_t i : tile.maps) maps.push_back(composition_.maps[i]);
    const std::vector<HeadOwner> owners = OwnersOf(maps, composition_.mass);
    PaintHeads(photo, geometry, maps.front().grid, owners, composition_.alpha, region);
    if (!options_.contour) return;
    std::vector<uint8_t> owned;
    owned.reserve(owners.size());
    for (const HeadOwner& owner : owners) owned.push_back(owner.head >= 0 ? 1 : 0);
    DrawContour(geometry, maps.front().grid, owned, region);
  }

  const Composition& composition_;
  const PictureOptions& options_;
  Image resized_;
  const Image* resized_from_ = nullptr;
};

}  // namespace

RenderedPicture RenderPicture(const PictureRequest& request, const PictureOptions& options) {
  Composition composition = Compose(request, options);
  const Page& page = composition.page;
  RenderedPicture result{Image(page.canvas.rows, page.canvas.cols),
                         composition.scales.ranges.front(), composition.scales.constant,
                         composition.notes};
  if (page.pictures.size() > 1 || page.pictures.front().size() != page.canvas) {
    std::fill(result.image.rgb.begin(), result.image.rgb.end(), kPaper[0]);
  }
  TilePainter painter(composition, options);
  for (size_t i = 0; i < composition.tiles.size(); ++i) {
    painter.Paint(composition.tiles[i], RegionOf(result.image, page.pictures[i]));
  }
  if (composition.font) {
    DrawPageText(result.image, page, composition.content, composition.colours, *composition.font);
  }
  return result;
}

RenderedPicture RenderPicture(const Image& source, const ImageGeometry& geometry,
                              std::span<const Panel> panels, const PictureOptions& options) {
  PictureRequest request;
  request.sources.push_back({&source, geometry});
  request.panels.assign(panels.begin(), panels.end());
  return RenderPicture(request, options);
}

}  // namespace attnmap
