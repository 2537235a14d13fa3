#ifndef ATTNMAP_RENDER_COLORMAP_H_
#define ATTNMAP_RENDER_COLORMAP_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnmap {

// 256 colours, R G B, from low to high.
using Colormap = std::array<std::array<uint8_t, 3>, 256>;

// OpenCV's names, lower case. Throws UsageError listing them.
Colormap GetColormap(std::string_view name);
std::vector<std::string> ColormapNames();

}  // namespace attnmap

#endif  // ATTNMAP_RENDER_COLORMAP_H_
