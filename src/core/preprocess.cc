#include "attnmap/core/preprocess.h"

namespace attnmap {
namespace {

struct FilterEntry {
  Filter filter;
  std::string_view name;
};

constexpr FilterEntry kFilters[] = {
    {Filter::kNearest, "nearest"}, {Filter::kBox, "box"},         {Filter::kBilinear, "bilinear"},
    {Filter::kHamming, "hamming"}, {Filter::kBicubic, "bicubic"}, {Filter::kLanczos, "lanczos"},
};

}  // namespace

std::string_view FilterName(Filter filter) {
  for (const FilterEntry& entry : kFilters) {
    if (entry.filter == filter) return entry.name;
  }
  return "unknown";
}

std::optional<Filter> FilterFromName(std::string_view name) {
  for (const FilterEntry& entry : kFilters) {
    if (entry.name == name) return entry.filter;
  }
  return std::nullopt;
}

}  // namespace attnmap
