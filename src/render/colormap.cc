#include "attnmap/render/colormap.h"

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

struct Entry {
  std::string_view name;
  Colormap colours;
};

constexpr Entry kColormaps[] = {
#include "render/colormap_tables.inc"  // OpenCV's, made by src/render/tables
};

}  // namespace

Colormap GetColormap(std::string_view name) {
  for (const Entry& entry : kColormaps) {
    if (entry.name == name) return entry.colours;
  }
  std::string names;
  for (const Entry& entry : kColormaps) {
    if (!names.empty()) names += ", ";
    names += entry.name;
  }
  throw UsageError("there is no colormap '" + std::string(name) + "': choose one of " + names);
}

std::vector<std::string> ColormapNames() {
  std::vector<std::string> names;
  for (const Entry& entry : kColormaps) names.emplace_back(entry.name);
  return names;
}

}  // namespace attnmap
