#include "render/compose.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "attnmap/core/error.h"
#include "attnmap/render/colormap.h"
#include "attnmap/render/head_palette.h"
#include "render/map_values.h"
#include "render/number_text.h"

namespace attnmap {
namespace {

void Check(const PictureRequest& request, const PictureOptions& options) {
  for (const PanelSource& source : request.sources) {
    if (source.picture == nullptr || source.picture->rows < 1 || source.picture->cols < 1) {
      throw Error("there is no picture to draw a map on");
    }
  }
  if (request.panels.empty() || request.sources.empty()) throw Error("there is no map to draw");
  const bool one_map = options.layout != Layout::kSheet && options.layout != Layout::kHeads;
  if (request.panels.size() > 1 && one_map && !request.shape && request.sources.size() == 1) {
    throw Error("this layout shows one map, " + std::to_string(request.panels.size()) +
                " were chosen: use --layout sheet");
  }
  if (!(options.alpha >= 0 && options.alpha <= 1)) throw Error("alpha lies between 0 and 1");
  const auto& size = options.output_size;
  if (size && (size->rows < 1 || size->cols < 1)) throw Error("the output size must be positive");
}

// A scale that the maps themselves give; the empty one where they are constant.
ValueRange ScaleOf(std::span<const PatchMap> maps, const Normalize& normalize) {
  const ValueRange own = ComputeRange(maps, {});
  if (IsConstant(own)) return {own.high, own.high};
  return ComputeRange(maps, normalize);
}

Scales MakeScales(std::span<const PatchMap> maps, const PictureOptions& options) {
  Scales scales;
  scales.constant = std::all_of(maps.begin(), maps.end(),
                                [](const PatchMap& map) { return IsConstant(OwnRange(map)); });
  if (options.range) {
    scales.ranges.assign(maps.size(), *options.range);
  } else if (options.normalize.kind == Normalize::Kind::kRange) {
    scales.ranges.assign(maps.size(), {options.normalize.low, options.normalize.high});
  } else if (options.shared_scale || maps.size() == 1) {
    scales.ranges.assign(maps.size(), ScaleOf(maps, options.normalize));
  } else {
    scales.one = false;
    for (const PatchMap& map : maps) scales.ranges.push_back(ScaleOf({&map, 1}, options.normalize));
  }
  return scales;
}

// A sheet's pictures: which panels each is made of, where it stands, what it is called.
struct Cell {
  Tile tile;
  RowsCols place;
  std::string label;
};

std::vector<Cell> CellsOf(const PictureRequest& request, const PictureOptions& options) {
  std::vector<Cell> cells;
  const bool heads = options.layout == Layout::kHeads;
  for (size_t i = 0; i < request.panels.size(); ++i) {
    const Panel& panel = request.panels[i];
    if (heads && !cells.empty() && cells.back().tile.source == panel.source) {
      cells.back().tile.maps.push_back(i);
      continue;
    }
    const auto kind = heads ? Tile::Kind::kHeads : Tile::Kind::kMap;
    cells.push_back({{kind, panel.source, {i}}, panel.place, panel.label});
  }
  return cells;
}

// What the rows and columns of a sheet of one photo's maps are, if they are
// just all layers by all heads.
struct LayersByHeads {
  std::vector<std::string> layers;
  std::vector<std::string> heads;
};
std::optional<LayersByHeads> FindLayersByHeads(std::span<const Panel> panels) {
  std::set<int> layers;
  std::vector<std::string> heads;
  for (const Panel& panel : panels) {
    layers.insert(panel.map.layer);
    if (std::find(heads.begin(), heads.end(), panel.map.head) == heads.end()) {
      heads.push_back(panel.map.head);
    }
  }
  if (layers.size() < 2 || heads.size() < 2 || layers.size() * heads.size() != panels.size()) {
    return std::nullopt;
  }
  LayersByHeads found;
  for (int layer : layers) found.layers.push_back("layer " + std::to_string(layer));
  for (const std::string& head : heads) found.heads.push_back("head " + head);
  return found;
}

// Shape and heads of a sheet; panels of one photo may have heads instead of labels.
void ShapeSheet(const PictureRequest& request, const PictureOptions& options,
                std::vector<Cell>& cells, PageContent& content) {
  content.framed = true;
  content.row_heads = request.row_heads;
  content.col_heads = request.col_heads;
  if (request.shape) {
    content.rows = request.shape->rows;
    content.cols = request.shape->cols;
    for (const Cell& cell : cells) content.places.push_back(cell.place);
    return;
  }
  const auto grid = FindLayersByHeads(request.panels);
  const bool labelled =
      std::any_of(cells.begin(), cells.end(), [](const Cell& cell) { return !cell.label.empty(); });
  if (grid && labelled && options.layout == Layout::kSheet) {
    content.rows = static_cast<int>(grid->layers.size());
    content.cols = static_cast<int>(grid->heads.size());
    content.row_heads = grid->layers;
    content.col_heads = grid->heads;
    for (Cell& cell : cells) cell.label.clear();
    return;
  }
  constexpr double kLandscape = 1.6;
  const auto& output = options.output_size;
  const double wish = output ? static_cast<double>(output->cols) / output->rows : kLandscape;
  const RowsCols shape =
      SheetShape(static_cast<int>(cells.size()), request.sources.front().picture->size(), wish);
  content.rows = shape.rows;
  content.cols = shape.cols;
}

void DescribeScale(const Composition& composition, const PictureOptions& options,
                   PageContent& content) {
  const Scales& scales = composition.scales;
  content.colorbar = options.colorbar && options.layout != Layout::kHeads;
  const RangeText ends = TextOf(scales.ranges.front());
  content.bar_low = scales.one ? ends.low : "lowest";
  content.bar_high = scales.one ? ends.high : "highest";
  const bool own_colours = !composition.maps.front().colours.empty();  // that stand for no value
  if (scales.one || !content.framed || options.layout == Layout::kHeads || own_colours) return;
  for (const Tile& tile : composition.tiles) {
    if (tile.maps.empty()) {
      content.notes.emplace_back();
      continue;
    }
    const RangeText text = TextOf(scales.ranges[tile.maps.front()]);
    content.notes.push_back(text.low == text.high ? text.low : text.low + " – " + text.high);
  }
}

void DescribeHeads(const Composition& composition, const PictureRequest& request,
                   PageContent& content) {
  size_t most = 0;
  for (const Tile& tile : composition.tiles) {
    if (tile.maps.size() <= most) continue;
    most = tile.maps.size();
    content.legend.clear();
    for (size_t i = 0; i < tile.maps.size(); ++i) {
      content.legend.push_back(
          {ColourOfHead(static_cast<int>(i)), "head " + request.panels[tile.maps[i]].map.head});
    }
  }
}

// Pictures of one aspect need no list of aspects.
void ListAspects(const Composition& composition, PageContent& content) {
  std::vector<RowsCols> aspects;
  for (const Tile& tile : composition.tiles) {
    aspects.push_back(composition.SourceOf(tile).picture->size());
  }
  const bool same = std::all_of(aspects.begin(), aspects.end(),
                                [&](RowsCols size) { return size == aspects.front(); });
  if (!same) content.aspects = std::move(aspects);
}

// Each row begins with the photo its maps lie on.
void AddPhotos(std::vector<Cell>& cells, PageContent& content) {
  std::vector<Cell> with_photos;
  std::set<int> rows;
  for (Cell& cell : cells) {
    if (rows.insert(cell.place.rows).second) {
      with_photos.push_back(
          {{Tile::Kind::kPhoto, cell.tile.source, {}}, {cell.place.rows, 0}, std::string()});
    }
    ++cell.place.cols;
    with_photos.push_back(std::move(cell));
  }
  cells = std::move(with_photos);
  ++content.cols;
  content.places.clear();
  for (const Cell& cell : cells) content.places.push_back(cell.place);
  if (!content.col_heads.empty()) {
    content.col_heads.insert(content.col_heads.begin(), std::string());
  }
}

void Arrange(const PictureRequest& request, const PictureOptions& options, Composition& result) {
  PageContent& content = result.content;
  std::vector<Cell> cells = CellsOf(request, options);
  if (options.layout == Layout::kSheet || request.shape || cells.size() > 1) {
    ShapeSheet(request, options, cells, content);
  }
  if (options.layout == Layout::kSideBySide) {
    AddPhotos(cells, content);
  }
  for (const Cell& cell : cells) result.tiles.push_back(cell.tile);
  content.num_pictures = static_cast<int>(result.tiles.size());
  const bool labelled =
      std::any_of(cells.begin(), cells.end(), [](const Cell& cell) { return !cell.label.empty(); });
  if (content.framed && labelled) {
    for (const Cell& cell : cells) content.labels.push_back(cell.label);
  }
  ListAspects(result, content);
  DescribeScale(result, options, content);
  if (options.layout == Layout::kHeads) DescribeHeads(result, request, content);
}

void NoteMissingLetters(Composition& composition) {
  const PageContent& content = composition.content;
  for (const auto* texts : {&content.labels, &content.row_heads, &content.col_heads}) {
    for (const std::string& text : *texts) {
      std::string line = text;
      std::replace(line.begin(), line.end(), '\n', ' ');
      if (composition.font->Has(line)) continue;
      composition.notes.push_back(
          "no font here has all letters of '" + line +
          "': boxes stand for them (for Chinese, Japanese and Korean install fonts-noto-cjk)");
      return;
    }
  }
}

Page PageOf(const PageContent& content, RowsCols source, const PictureOptions& options,
            Font* font) {
  const RowsCols box = content.aspects.empty() ? source : RowsCols{1000, 1000};
  if (!options.output_size) {
    const RowsCols shape{content.rows, content.cols};
    return LayOutPage(content, content.framed ? SheetPictureSize(shape, box) : source, font);
  }
  const bool bare = content.num_pictures == 1 && !content.framed && !content.has_text();
  if (bare) return LayOutPage(content, *options.output_size, font);  // exactly, as asked for
  return FitPage(content, box, *options.output_size, font);
}

}  // namespace

ImageGeometry Composition::GeometryOf(const Tile& tile, RowsCols picture) const {
  ImageGeometry geometry = SourceOf(tile).geometry;
  geometry.source = picture;
  return geometry;
}

Composition Compose(const PictureRequest& request, const PictureOptions& options) {
  Check(request, options);
  Composition result;
  result.sources = request.sources;
  for (const Panel& panel : request.panels) {
    result.maps.push_back(Drawable(panel.map, request.sources.at(panel.source).geometry));
  }
  result.scales = MakeScales(result.maps, options);
  result.colours = GetColormap(options.colormap);
  result.alpha = options.layout == Layout::kHeatmap ? 1 : options.alpha;
  result.mass = options.mass.value_or(kDefaultMass);
  Arrange(request, options, result);
  if (result.content.has_text()) {
    result.font.emplace(options.font, 12, options.fallback_fonts);
    NoteMissingLetters(result);
  }
  const RowsCols first = request.sources.front().picture->size();
  result.page = PageOf(result.content, first, options, result.font ? &*result.font : nullptr);
  return result;
}

}  // namespace attnmap
