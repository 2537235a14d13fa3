#ifndef ATTNMAP_RENDER_PAINT_HEADS_H_
#define ATTNMAP_RENDER_PAINT_HEADS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "attnmap/core/image.h"
#include "attnmap/core/image_geometry.h"
#include "attnmap/core/patch_map.h"
#include "render/canvas.h"

namespace attnmap {

// Which head has a patch, and how strongly.
struct HeadOwner {
  int head = -1;       // index into the maps; -1: none
  float strength = 0;  // (0, 1]: the weight over that head's largest
};

// After DINO's figure of heads in colours (Caron et al. 2021, fig. 3): each
// head keeps the patches that hold `share` of its mass; a patch that several
// keep goes to the head it matters most to, that is where its weight is
// largest against the largest weight of that head. Of equals the first.
// maps: one a head, one grid. Returns (num_patches).
std::vector<HeadOwner> OwnersOf(std::span<const PatchMap> maps, double share);

// Opacity of a head's colour: weak patches remain readable.
double HeadOpacity(float strength, double alpha);

// Draws owned patches in their head's colour over the photo in grey, others as
// the photo in grey, dimmed; patches are drawn as they are, without
// interpolation, since there is no colour between two heads.
// REQUIRES: geometry.source and the region have the photo's size.
void PaintHeads(const Image& photo, const ImageGeometry& geometry, const PatchGrid& grid,
                std::span<const HeadOwner> owners, double alpha, const Region& region);

// What a grey photo makes of a pixel (Rec. 601 luma).
uint8_t Grey(const uint8_t* rgb);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_PAINT_HEADS_H_
