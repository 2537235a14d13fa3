#ifndef ATTNMAP_RENDER_HEAD_PALETTE_H_
#define ATTNMAP_RENDER_HEAD_PALETTE_H_

#include <array>
#include <cstdint>

namespace attnmap {

// The colours of heads, R G B. The first eight are those of Okabe & Ito 2008
// ("Color universal design"), white for their black, which a dimmed photo
// would swallow; the next eight were chosen to lie far from these and from
// greys. Neighbours differ by 38 or more and any two by 15 or more in CIELAB,
// for normal sight and as protan, deutan and tritan eyes see them (simulated
// as in Machado et al. 2009).
inline constexpr int kNumHeadColours = 16;
using HeadColour = std::array<uint8_t, 3>;

// Beyond the sixteenth head the colours come again.
HeadColour ColourOfHead(int index);

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_HEAD_PALETTE_H_
