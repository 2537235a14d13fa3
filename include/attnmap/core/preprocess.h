#ifndef ATTNMAP_CORE_PREPROCESS_H_
#define ATTNMAP_CORE_PREPROCESS_H_

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "attnmap/core/patch_grid.h"

namespace attnmap {

// Resampling filters, as Pillow defines them.
enum class Filter { kNearest, kBox, kBilinear, kHamming, kBicubic, kLanczos };

std::string_view FilterName(Filter filter);
// Nothing for an unknown name.
std::optional<Filter> FilterFromName(std::string_view name);

// What a model's own resize aims at.
struct ResizeTarget {
  enum class Kind {
    kShortSide,  // size.rows is the short side, the aspect kept
    kLongSide,   // size.rows is the long side, the aspect kept (timm's "border"), rounded
    kExact,      // size as it stands, the aspect not kept
  };
  Kind kind = Kind::kShortSide;
  RowsCols size;
};

// How a model wants its pixels: resize, centre crop, v * rescale, (x - mean) / std.
struct Preprocess {
  std::optional<ResizeTarget> resize;
  std::optional<RowsCols> crop;
  Filter filter = Filter::kBicubic;
  std::array<double, 3> mean = {0, 0, 0};
  std::array<double, 3> std = {1, 1, 1};
  double rescale = 1.0 / 255;

  // Long side of an aspect-keeping resize: truncated (torchvision), else rounded (timm).
  bool truncate_long_side = true;
  // Offset of a centre crop: half to even (torchvision), else floor (transformers).
  enum class CropRounding { kHalfEven, kFloor };
  CropRounding crop_rounding = CropRounding::kHalfEven;
  // kLongSide: what the crop adds around the picture is black (open_clip), else
  // the mean colour in 8 bits (timm). A crop after any other resize adds black.
  bool black_border = false;
  // Resample in float after rescaling, antialiased as torch does (DINOv3 in
  // transformers), instead of in 8 bits as Pillow does.
  bool resize_in_float = false;
};

// The user's choice of how a picture meets the model.
enum class Fit { kWhole, kCrop, kStretch, kPad };

struct FitOptions {
  Fit fit = Fit::kWhole;
  std::optional<int> side;        // --size N
  std::optional<RowsCols> exact;  // --size ROWSxCOLS, kStretch alone
};

}  // namespace attnmap

#endif  // ATTNMAP_CORE_PREPROCESS_H_
