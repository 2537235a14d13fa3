#ifndef ATTNMAP_IMAGE_PREPARE_PLAN_H_
#define ATTNMAP_IMAGE_PREPARE_PLAN_H_

#include <string>
#include <vector>

#include "attnmap/core/image_geometry.h"
#include "attnmap/image/prepare.h"
#include "attnmap/image/resample.h"

namespace attnmap {

// What surrounds the picture where it does not fill the model's image.
enum class Border {
  kNone,
  kBlack,        // 0 before normalisation
  kMeanColour8,  // the mean colour rounded to 8 bits
  kMean,         // the mean colour itself: zero after normalisation
};

// Everything about preparing a picture that its size alone decides.
struct FitPlan {
  ImageGeometry geometry;
  Border border = Border::kNone;
  std::vector<std::string> notes;

  // The part of the resized picture that the model gets.
  PixelWindow Visible() const;
};

// Errors as PrepareImage.
FitPlan PlanFit(RowsCols source, const InputSpec& spec, const FitOptions& options);

// Throws Error where a side is not a whole number of patches.
PatchGrid GridOf(RowsCols size, int patch_size);

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_PREPARE_PLAN_H_
