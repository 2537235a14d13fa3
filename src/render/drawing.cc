#include "render/drawing.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "attnmap/image/encode.h"
#include "attnmap/image/resample.h"
#include "attnmap/render/head_palette.h"
#include "render/contour.h"
#include "render/paint_heads.h"
#include "render/paint_map.h"

namespace attnmap {
namespace {

constexpr Colour kBlack = {0, 0, 0};
constexpr double kDimming = 0.5;  // what Dimmed() does to a pixel

// One photo of a page, no larger than twice what it is shown at.
Drawing::Photo PhotoOf(const Image& picture, RowsCols shown, bool grey) {
  Image photo = picture;
  if (picture.rows > 2 * shown.rows) {
    photo = Resize(picture, {2 * shown.rows, 2 * shown.cols}, Filter::kBicubic);
  }
  for (size_t i = 0; grey && i < photo.rgb.size(); i += 3) {
    std::fill_n(&photo.rgb[i], 3, Grey(&photo.rgb[i]));
  }
  return {EncodeImage(photo, PictureFormat::kJpeg), photo.size()};
}

class ShapeMaker {
 public:
  ShapeMaker(const Composition& composition, const PictureOptions& options, Drawing& drawing)
      : composition_(composition), options_(options), drawing_(drawing) {}

  void Add(const Tile& tile, const Box& box) {
    AddPhoto(tile, box);
    if (tile.kind == Tile::Kind::kMap) AddMap(tile, box);
    if (tile.kind == Tile::Kind::kHeads) AddHeads(tile, box);
  }

 private:
  void AddPhoto(const Tile& tile, const Box& box) {
    const auto [entry, is_new] = photos_.try_emplace(tile.source, drawing_.photos.size());
    if (is_new) {
      drawing_.photos.push_back(PhotoOf(*composition_.SourceOf(tile).picture, box.size(),
                                        tile.kind == Tile::Kind::kHeads));
    }
    drawing_.placed.push_back({entry->second, box});
  }

  void AddRect(const Rect& rect, const Colour& colour, double opacity) {
    if (rect.rows() > 0 && rect.cols() > 0) drawing_.shapes.push_back({rect, colour, opacity});
  }

  // What the model did not see, dimmed: above, below, left and right of it.
  void DimUnseen(const ImageGeometry& geometry, const Box& box) {
    const Rect seen = geometry.SeenRect();
    const double top = box.top, left = box.left, bottom = box.bottom(), right = box.right();
    AddRect({top, left, top + seen.top, right}, kBlack, kDimming);
    AddRect({top + seen.bottom, left, bottom, right}, kBlack, kDimming);
    AddRect({top + seen.top, left, top + seen.bottom, left + seen.left}, kBlack, kDimming);
    AddRect({top + seen.top, left + seen.right, top + seen.bottom, right}, kBlack, kDimming);
  }

  // fill(patch) gives its colour and opacity.
  template <typename Fill>
  void AddPatches(const ImageGeometry& geometry, const PatchGrid& grid, const Box& box, Fill fill) {
    const PatchSpans spans = EdgesOfPatches(geometry, grid);
    for (int i = 0; i < grid.num_patches(); ++i) {
      const RowsCols at = grid.PatchAt(i);
      const auto rows = spans.rows[static_cast<size_t>(at.rows)];
      const auto cols = spans.cols[static_cast<size_t>(at.cols)];
      const auto [colour, opacity] = fill(static_cast<size_t>(i));
      AddRect(
          {box.top + rows.begin, box.left + cols.begin, box.top + rows.end, box.left + cols.end},
          colour, opacity);
    }
  }

  void AddMap(const Tile& tile, const Box& box) {
    const ImageGeometry geometry = composition_.GeometryOf(tile, box.size());
    const PatchMap& map = composition_.maps[tile.maps.front()];
    const ValueRange& range = composition_.scales.ranges[tile.maps.front()];
    const std::vector<uint8_t> kept = MassMask(map, composition_.mass);
    DimUnseen(geometry, box);
    AddPatches(geometry, map.grid, box, [&](size_t i) -> std::pair<Colour, double> {
      const bool coloured = map.IsShown(static_cast<int>(i)) && (!options_.mass || kept[i] != 0);
      if (!coloured) return {kBlack, kDimming};
      const double position = std::clamp(ColourPosition(map.values[i], range), 0.0, 255.0);
      return {composition_.colours[static_cast<size_t>(position + 0.5)], composition_.alpha};
    });
    if (options_.contour) AddContour(geometry, map.grid, kept, box);
  }

  void AddHeads(const Tile& tile, const Box& box) {
    const ImageGeometry geometry = composition_.GeometryOf(tile, box.size());
    std::vector<PatchMap> maps;
    for (size_t i : tile.maps) maps.push_back(composition_.maps[i]);
    const PatchGrid& grid = maps.front().grid;
    const std::vector<HeadOwner> owners = OwnersOf(maps, composition_.mass);
    std::vector<uint8_t> owned;
    owned.reserve(owners.size());
    for (const HeadOwner& owner : owners) owned.push_back(owner.head >= 0 ? 1 : 0);
    DimUnseen(geometry, box);
    AddPatches(geometry, grid, box, [&](size_t i) -> std::pair<Colour, double> {
      if (owned[i] == 0) return {kBlack, kDimming};
      return {ColourOfHead(owners[i].head), HeadOpacity(owners[i].strength, composition_.alpha)};
    });
    if (options_.contour) AddContour(geometry, grid, owned, box);
  }

  void AddContour(const ImageGeometry& geometry, const PatchGrid& grid,
                  std::span<const uint8_t> kept, const Box& box) {
    const auto edges = MaskEdge(EdgesOfPatches(geometry, grid), grid, kept);
    const ContourWidth width = ContourWidthFor(box.size());
    const auto add = [&](double thick, const Colour& colour) {
      const double half = thick / 2, inset = width.all() / 2.0;
      const auto inside = [&](double at, double size) {
        return std::clamp(at, std::min(inset, size / 2), std::max(size - inset, size / 2));
      };
      for (const EdgeSegment& edge : edges) {
        const double rows = box.rows, cols = box.cols;
        const double at = inside(edge.at, edge.horizontal ? rows : cols);
        const double begin = inside(edge.begin, edge.horizontal ? cols : rows) - half;
        const double end = inside(edge.end, edge.horizontal ? cols : rows) + half;
        const Rect rect = edge.horizontal ? Rect{at - half, begin, at + half, end}
                                          : Rect{begin, at - half, end, at + half};
        AddRect({box.top + rect.top, box.left + rect.left, box.top + rect.bottom,
                 box.left + rect.right},
                colour, 1);
      }
    };
    add(width.all(), kContourDark);
    add(width.light, kContourLight);
  }

  const Composition& composition_;
  const PictureOptions& options_;
  Drawing& drawing_;
  std::map<size_t, size_t> photos_;  // by source
};

}  // namespace

std::string ShortNumber(double value) {
  char buffer[64];
  const auto [end, code] =
      std::to_chars(buffer, buffer + sizeof(buffer), std::round(value * 1000) / 1000);
  return code == std::errc() ? std::string(buffer, end) : std::string("0");
}

Drawing DrawShapes(Composition& composition, const PictureOptions& options) {
  Drawing drawing;
  drawing.canvas = composition.page.canvas;
  ShapeMaker maker(composition, options, drawing);
  for (size_t i = 0; i < composition.tiles.size(); ++i) {
    maker.Add(composition.tiles[i], composition.page.pictures[i]);
  }
  if (!composition.font) return drawing;
  for (const FilledBox& filled :
       BoxesOf(composition.page, composition.content, composition.colours)) {
    const Box& box = filled.box;
    drawing.shapes.push_back({{static_cast<double>(box.top), static_cast<double>(box.left),
                               static_cast<double>(box.bottom()), static_cast<double>(box.right())},
                              filled.colour,
                              1});
  }
  drawing.texts = TextsOf(composition.page, composition.content, *composition.font);
  return drawing;
}

VectorPicture RenderVector(const PictureRequest& request, const PictureOptions& options,
                           VectorFormat format) {
  CheckVectorFormat(format, options);
  Composition composition = Compose(request, options);
  const Drawing drawing = DrawShapes(composition, options);
  Font* font = composition.font ? &*composition.font : nullptr;
  return {
      format == VectorFormat::kPdf ? PdfBytes(drawing, font, options.pdf_module) : SvgText(drawing),
      composition.scales.ranges.front(), composition.scales.constant, composition.notes};
}

}  // namespace attnmap
