#include "attnmap/render/picture.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "attnmap/core/error.h"
#include "attnmap/image/resample.h"
#include "attnmap/render/colormap.h"
#include "render/map_values.h"
#include "render/number_text.h"
#include "render/page.h"
#include "render/paint_colours.h"
#include "render/paint_map.h"

namespace attnmap {
namespace {

constexpr Colour kPaper = {0xFF, 0xFF, 0xFF};

void Check(const Image& source, std::span<const Panel> panels, const PictureOptions& options) {
  if (source.rows < 1 || source.cols < 1) throw Error("there is no picture to draw a map on");
  if (panels.empty()) throw Error("there is no map to draw");
  if (panels.size() > 1 && options.layout != Layout::kSheet) {
    throw Error("this layout shows one map, " + std::to_string(panels.size()) +
                " were chosen: use --layout sheet");
  }
  if (!(options.alpha >= 0 && options.alpha <= 1)) throw Error("alpha lies between 0 and 1");
  const auto& size = options.output_size;
  if (size && (size->rows < 1 || size->cols < 1)) throw Error("the output size must be positive");
}

// The values of the bottom and top colour, for each map.
struct Scales {
  std::vector<ValueRange> ranges;
  bool one = true;        // the same for all
  bool constant = false;  // every map has one value only
};

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

// Layers down and heads across where the maps are just that, else by count.
RowsCols ShapeOf(std::span<const Panel> panels, RowsCols picture,
                 const std::optional<RowsCols>& output) {
  constexpr double kLandscape = 1.6;
  std::set<int> layers;
  std::set<std::string> heads;
  for (const Panel& panel : panels) {
    layers.insert(panel.map.layer);
    heads.insert(panel.map.head);
  }
  if (layers.size() > 1 && heads.size() > 1 && layers.size() * heads.size() == panels.size()) {
    return {static_cast<int>(layers.size()), static_cast<int>(heads.size())};
  }
  const double wish = output ? static_cast<double>(output->cols) / output->rows : kLandscape;
  return SheetShape(static_cast<int>(panels.size()), picture, wish);
}

PageContent ContentOf(std::span<const Panel> panels, const Scales& scales, RowsCols source,
                      const PictureOptions& options) {
  PageContent content;
  content.colorbar = options.colorbar;
  const RangeText ends = TextOf(scales.ranges.front());
  content.bar_low = scales.one ? ends.low : "lowest";
  content.bar_high = scales.one ? ends.high : "highest";
  if (options.layout == Layout::kSideBySide) {
    content.cols = content.num_pictures = 2;
  } else if (options.layout == Layout::kSheet) {
    const RowsCols shape = ShapeOf(panels, source, options.output_size);
    content.rows = shape.rows;
    content.cols = shape.cols;
    content.num_pictures = static_cast<int>(panels.size());
    content.framed = true;
    const bool labelled = std::any_of(panels.begin(), panels.end(),
                                      [](const Panel& panel) { return !panel.label.empty(); });
    for (size_t i = 0; i < panels.size(); ++i) {
      if (labelled) content.labels.push_back(panels[i].label);
      if (scales.one) continue;
      const RangeText text = TextOf(scales.ranges[i]);
      content.notes.push_back(text.low == text.high ? text.low : text.low + " – " + text.high);
    }
  }
  return content;
}

Page PageOf(const PageContent& content, RowsCols source, const PictureOptions& options,
            Font* font) {
  if (!options.output_size) {
    const RowsCols shape{content.rows, content.cols};
    return LayOutPage(content, content.framed ? SheetPictureSize(shape, source) : source, font);
  }
  const bool bare = content.num_pictures == 1 && !content.framed && !content.colorbar;
  if (bare) return LayOutPage(content, *options.output_size, font);  // exactly, as asked for
  return FitPage(content, source, *options.output_size, font);
}

// Draws the maps (and for side by side, the photo first) where the page has them.
void PaintPictures(Image& image, const Page& page, const Image& photo, ImageGeometry geometry,
                   std::span<const PatchMap> maps, const Scales& scales,
                   const PictureOptions& options, const Colormap& colours) {
  geometry.source = photo.size();
  size_t next = 0;
  if (options.layout == Layout::kSideBySide) {
    CopyInto(photo, RegionOf(image, page.pictures[next++]));
  }
  MapStyle style{
      colours, options.layout == Layout::kHeatmap ? 1 : options.alpha, options.interpolation, {}};
  for (size_t i = 0; i < maps.size(); ++i) {
    style.range = scales.ranges[i];
    std::vector<uint8_t> kept;
    if (options.mass) kept = MassMask(maps[i], *options.mass);
    const Region region = RegionOf(image, page.pictures[next++]);
    if (maps[i].colours.empty()) {
      PaintMap(photo, geometry, maps[i], kept, style, region);
    } else {
      PaintColours(photo, geometry, maps[i], style, region);
    }
  }
}

}  // namespace

RenderedPicture RenderPicture(const Image& source, const ImageGeometry& geometry,
                              std::span<const Panel> panels, const PictureOptions& options) {
  Check(source, panels, options);
  std::vector<PatchMap> maps;
  for (const Panel& panel : panels) maps.push_back(Drawable(panel.map, geometry));
  const Scales scales = MakeScales(maps, options);
  const Colormap colours = GetColormap(options.colormap);
  const PageContent content = ContentOf(panels, scales, source.size(), options);
  std::optional<Font> font;
  if (content.has_text()) font.emplace(options.font, 12);
  const Page page = PageOf(content, source.size(), options, font ? &*font : nullptr);

  RenderedPicture result{Image(page.canvas.rows, page.canvas.cols), scales.ranges.front(),
                         scales.constant};
  const RowsCols picture = page.pictures.front().size();
  if (page.pictures.size() > 1 || picture != page.canvas) {
    std::fill(result.image.rgb.begin(), result.image.rgb.end(), kPaper[0]);
  }
  Image resized;
  if (picture != source.size()) resized = Resize(source, picture, Filter::kBicubic);
  PaintPictures(result.image, page, picture == source.size() ? source : resized, geometry, maps,
                scales, options, colours);
  if (font) DrawPageText(result.image, page, content, colours, *font);
  return result;
}

}  // namespace attnmap
