#include "render/contour.h"

#include <algorithm>
#include <cstring>

#include "render/upsample.h"

namespace attnmap {
namespace {

using Span = PatchSpans::Span;

std::vector<Span> SpansOf(const AxisTaps& taps, int num_patches) {
  std::vector<Span> spans(static_cast<size_t>(num_patches));
  for (int i = 0; i < taps.num_pixels(); ++i) {
    const int patch = taps.nearest[static_cast<size_t>(i)];
    if (patch < 0) continue;
    Span& span = spans[static_cast<size_t>(patch)];
    if (span.empty()) span.begin = i;
    span.end = i + 1;
  }
  return spans;
}

void Fill(const Region& region, int top, int bottom, int left, int right, const Colour& colour) {
  for (int y = std::max(top, 0); y < std::min(bottom, region.rows); ++y) {
    uint8_t* row = region.row(y);
    for (int x = std::max(left, 0); x < std::min(right, region.cols); ++x) {
      std::memcpy(row + static_cast<std::ptrdiff_t>(x) * 3, colour.data(), 3);
    }
  }
}

// `thick` pixels along the segment, and as far beyond its ends, so that
// corners are whole. `all`: the whole line, which has to lie in the picture.
void DrawSegment(const EdgeSegment& edge, int thick, int all, const Colour& colour,
                 const Region& region) {
  const auto inside = [&](double edge_at, int size) {
    const int at = static_cast<int>(edge_at);
    return std::clamp(at - all / 2, 0, std::max(size - all, 0)) + (all - thick) / 2;
  };
  const int across = inside(edge.at, edge.horizontal ? region.rows : region.cols);
  const int along = edge.horizontal ? region.cols : region.rows;
  const int begin = inside(edge.begin, along);
  const int end = inside(edge.end, along) + thick;
  if (edge.horizontal) {
    Fill(region, across, across + thick, begin, end, colour);
  } else {
    Fill(region, begin, end, across, across + thick, colour);
  }
}

}  // namespace

PatchSpans PixelsOfPatches(const ImageGeometry& geometry, const PatchGrid& grid) {
  const std::vector<float> none(static_cast<size_t>(grid.num_patches()));
  const Upsampler axes(geometry, grid, none, Interpolation::kNearest);
  return {SpansOf(axes.rows(), grid.rows), SpansOf(axes.cols(), grid.cols)};
}

PatchSpans EdgesOfPatches(const ImageGeometry& geometry, const PatchGrid& grid) {
  const auto clipped = [](double begin, double end, int size) {
    return Span{std::clamp<double>(begin, 0, size), std::clamp<double>(end, 0, size)};
  };
  PatchSpans spans;
  for (int row = 0; row < grid.rows; ++row) {
    const Rect rect = geometry.PatchRect(grid, row, 0);
    spans.rows.push_back(clipped(rect.top, rect.bottom, geometry.source.rows));
  }
  for (int col = 0; col < grid.cols; ++col) {
    const Rect rect = geometry.PatchRect(grid, 0, col);
    spans.cols.push_back(clipped(rect.left, rect.right, geometry.source.cols));
  }
  return spans;
}

std::vector<EdgeSegment> MaskEdge(const PatchSpans& spans, const PatchGrid& grid,
                                  std::span<const uint8_t> kept) {
  const auto is_kept = [&](int row, int col) {
    return row >= 0 && col >= 0 && row < grid.rows && col < grid.cols &&
           kept[static_cast<size_t>(grid.PatchIndex(row, col))] != 0;
  };
  std::vector<EdgeSegment> edges;
  for (int i = 0; i < grid.num_patches(); ++i) {
    if (kept[static_cast<size_t>(i)] == 0) continue;
    const RowsCols at = grid.PatchAt(i);
    const Span rows = spans.rows[static_cast<size_t>(at.rows)];
    const Span cols = spans.cols[static_cast<size_t>(at.cols)];
    if (rows.empty() || cols.empty()) continue;
    if (!is_kept(at.rows - 1, at.cols)) edges.push_back({true, rows.begin, cols.begin, cols.end});
    if (!is_kept(at.rows + 1, at.cols)) edges.push_back({true, rows.end, cols.begin, cols.end});
    if (!is_kept(at.rows, at.cols - 1)) edges.push_back({false, cols.begin, rows.begin, rows.end});
    if (!is_kept(at.rows, at.cols + 1)) edges.push_back({false, cols.end, rows.begin, rows.end});
  }
  return edges;
}

ContourWidth ContourWidthFor(RowsCols picture) {
  constexpr int kPixelsPerWidth = 180;  // of the short side: two pixels in a photo of 300 x 450
  const int side = std::min(picture.rows, picture.cols);
  const int light = std::max(1, (side + kPixelsPerWidth / 2) / kPixelsPerWidth);
  return {light, std::max(1, light / 2)};
}

void DrawContour(const ImageGeometry& geometry, const PatchGrid& grid,
                 std::span<const uint8_t> kept, const Region& region) {
  const std::vector<EdgeSegment> edges = MaskEdge(PixelsOfPatches(geometry, grid), grid, kept);
  const ContourWidth width = ContourWidthFor(geometry.source);
  for (const EdgeSegment& edge : edges) {
    DrawSegment(edge, width.all(), width.all(), kContourDark, region);
  }
  for (const EdgeSegment& edge : edges) {
    DrawSegment(edge, width.light, width.all(), kContourLight, region);
  }
}

}  // namespace attnmap
