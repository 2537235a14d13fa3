#include "image/prepare_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

constexpr int64_t kMaxPixels = 178956970;  // of a prepared picture; as when decoding
constexpr int64_t kMaxSide = 1 << 30;      // of one that is only cut from

std::string WidthHeight(RowsCols size) {
  return std::to_string(size.cols) + " x " + std::to_string(size.rows);
}

// n / d to the nearest whole number, halves up. REQUIRES: n >= 0, d > 0.
int64_t DivideHalfUp(int64_t n, int64_t d) {
  const int64_t quotient = n / d;
  const int64_t rest = n % d;
  return rest >= d - rest ? quotient + 1 : quotient;
}

int CheckedSide(double side) {
  if (side > static_cast<double>(kMaxSide)) {
    throw Error("the picture is too long and thin to be resized as the model asks: " +
                std::to_string(static_cast<int64_t>(std::min(side, 9e18))) + " pixels on one side");
  }
  return std::max(1, static_cast<int>(side));
}

int CheckedSide(int64_t side) { return CheckedSide(static_cast<double>(side)); }

// Both sides times `side` / the model's short side, rounded down as models
// round the size they resize to (224 / 0.875 = 256, 384 / 0.875 = 438).
RowsCols Scaled(RowsCols size, const InputSpec& spec, const FitOptions& options) {
  if (!options.side) return size;
  const int64_t model = std::min(spec.model_size.rows, spec.model_size.cols);
  const auto scale = [&](int side) {
    return side == 0 ? 0 : CheckedSide(int64_t{side} * *options.side / model);
  };
  return {scale(size.rows), scale(size.cols)};
}

RowsCols WholeSize(RowsCols source, const InputSpec& spec, const FitOptions& options) {
  const int64_t p = spec.patch_size;
  const int64_t side = options.side.value_or(std::min(spec.model_size.rows, spec.model_size.cols));
  const int64_t short_side = std::min(source.rows, source.cols);
  const int64_t long_side = std::max(source.rows, source.cols);
  const auto patches = [&](int64_t n, int64_t d) {
    return CheckedSide(p * std::max<int64_t>(1, DivideHalfUp(n, d)));
  };
  const int new_short = patches(side, p);
  const int new_long = patches(side * long_side, short_side * p);
  return source.rows <= source.cols ? RowsCols{new_short, new_long} : RowsCols{new_long, new_short};
}

// timm's ResizeKeepRatio: within the target (longest), or just covering it.
RowsCols KeepRatio(RowsCols source, RowsCols target, bool longest) {
  const double down = static_cast<double>(source.rows) / target.rows;
  const double across =
      static_cast<double>(source.cols) / (target.cols > 0 ? target.cols : target.rows);
  const double ratio = longest ? std::max(down, across) : std::min(down, across);
  return {CheckedSide(std::nearbyint(source.rows / ratio)),
          CheckedSide(std::nearbyint(source.cols / ratio))};
}

// torchvision's and transformers' rule: the long side is cut off, not rounded.
RowsCols ShortSide(RowsCols source, int side) {
  if (source.rows <= source.cols) {
    return {side, CheckedSide(int64_t{side} * source.cols / source.rows)};
  }
  return {CheckedSide(int64_t{side} * source.rows / source.cols), side};
}

RowsCols ResizedByModel(RowsCols source, const InputSpec& spec, const FitOptions& options) {
  const Preprocess& preprocess = spec.preprocess;
  if (!preprocess.resize) {
    // Nothing that --size could scale: the picture as it is, or the size itself.
    return options.side ? ShortSide(source, *options.side) : source;
  }
  const RowsCols target = Scaled(preprocess.resize->size, spec, options);
  switch (preprocess.resize->kind) {
    case ResizeTarget::Kind::kExact:
      return target;
    case ResizeTarget::Kind::kLongSide:
      return KeepRatio(source, target, true);
    case ResizeTarget::Kind::kShortSide:
      break;
  }
  return preprocess.truncate_long_side ? ShortSide(source, target.rows)
                                       : KeepRatio(source, target, false);
}

// Where a centre crop begins; negative where it is larger than the picture.
int CropOffset(int size, int crop, Preprocess::CropRounding rounding) {
  const int rest = size - crop;
  if (rounding == Preprocess::CropRounding::kFloor) {
    return rest >= 0 ? rest / 2 : -((-rest + 1) / 2);
  }
  // Python's round goes to even; padding puts the odd pixel below and right.
  return rest >= 0 ? static_cast<int>(std::nearbyint(rest / 2.0)) : -(-rest / 2);
}

FitPlan PlanCrop(RowsCols source, const InputSpec& spec, const FitOptions& options) {
  const Preprocess& preprocess = spec.preprocess;
  FitPlan plan;
  ImageGeometry& geometry = plan.geometry;
  geometry.source = source;
  geometry.resized = ResizedByModel(source, spec, options);
  geometry.model = preprocess.crop ? Scaled(*preprocess.crop, spec, options) : geometry.resized;
  geometry.top = CropOffset(geometry.resized.rows, geometry.model.rows, preprocess.crop_rounding);
  geometry.left = CropOffset(geometry.resized.cols, geometry.model.cols, preprocess.crop_rounding);
  const bool border = preprocess.resize &&
                      preprocess.resize->kind == ResizeTarget::Kind::kLongSide &&
                      !preprocess.black_border;
  plan.border = border ? Border::kMeanColour8 : Border::kBlack;
  return plan;
}

FitPlan PlanPad(RowsCols source, const InputSpec& spec, const FitOptions& options) {
  const RowsCols model = options.side ? RowsCols{*options.side, *options.side} : spec.model_size;
  // The side that fills its own: rows / model.rows >= cols / model.cols.
  const bool by_rows = int64_t{source.rows} * model.cols >= int64_t{source.cols} * model.rows;
  const auto other = [](int64_t n, int64_t d) {
    return static_cast<int>(std::max<int64_t>(1, DivideHalfUp(n, d)));
  };
  const RowsCols resized =
      by_rows ? RowsCols{model.rows, other(int64_t{model.rows} * source.cols, source.rows)}
              : RowsCols{other(int64_t{model.cols} * source.rows, source.cols), model.cols};
  FitPlan plan;
  plan.geometry = {source, resized, model, -((model.rows - resized.rows) / 2),
                   -((model.cols - resized.cols) / 2)};
  plan.border = Border::kMean;
  return plan;
}

FitPlan PlanStretch(RowsCols source, RowsCols model) {
  FitPlan plan;
  plan.geometry = {source, model, model, 0, 0};
  return plan;
}

RowsCols StretchSize(const InputSpec& spec, const FitOptions& options) {
  if (options.exact) return *options.exact;
  if (options.side) return {*options.side, *options.side};
  return spec.model_size;
}

void CheckRequest(RowsCols source, const InputSpec& spec, const FitOptions& options) {
  if (options.exact && options.fit != Fit::kStretch) {
    throw UsageError("--size ROWSxCOLS goes with --fit stretch alone; the others take one number");
  }
  const RowsCols exact = options.exact.value_or(RowsCols{1, 1});
  if (options.side.value_or(1) < 1 || exact.rows < 1 || exact.cols < 1) {
    throw UsageError("--size needs at least 1 pixel");
  }
  if (source.rows < 1 || source.cols < 1) throw Error("the picture has no pixels");
  if (spec.patch_size < 1 || spec.model_size.rows < 1 || spec.model_size.cols < 1) {
    throw Error("the model's patch size (" + std::to_string(spec.patch_size) +
                ") and image size (" + WidthHeight(spec.model_size) + ") must be positive");
  }
  const auto positive = [](RowsCols size) { return size.rows >= 1 && size.cols >= 0; };
  if ((spec.preprocess.resize && !positive(spec.preprocess.resize->size)) ||
      (spec.preprocess.crop &&
       (!positive(*spec.preprocess.crop) || spec.preprocess.crop->cols < 1))) {
    throw Error("the model's own resize and crop must be at least 1 pixel");
  }
}

std::string PatchMistake(int side, int patch_size, const char* what) {
  if (side % patch_size == 0) return "";
  const int below = side / patch_size * patch_size;
  const std::string above = std::to_string(int64_t{below} + patch_size);
  return std::to_string(side) + " " + what +
         (below > 0 ? " (nearest " + std::to_string(below) + " and " + above + ")"
                    : " (nearest " + above + ")");
}

void AddNotes(FitPlan& plan) {
  const ImageGeometry& g = plan.geometry;
  const bool square = g.source.rows == g.source.cols && g.resized.rows == g.resized.cols;
  if (g.resized != g.source) {
    plan.notes.push_back("resized " + WidthHeight(g.source) + " to " + WidthHeight(g.resized) +
                         (square ? "" : " (width x height)"));
  }
  const RowsCols seen = plan.Visible().size;
  if (seen != g.resized) plan.notes.push_back("cropped to the middle " + WidthHeight(seen));
  if (seen != g.model) {
    plan.notes.push_back("padded to " + WidthHeight(g.model) + " with " +
                         (plan.border == Border::kBlack ? "black" : "the mean colour"));
  }
}

}  // namespace

PixelWindow FitPlan::Visible() const {
  const int top = std::max(geometry.top, 0);
  const int left = std::max(geometry.left, 0);
  const int bottom = std::min(geometry.top + geometry.model.rows, geometry.resized.rows);
  const int right = std::min(geometry.left + geometry.model.cols, geometry.resized.cols);
  return {top, left, {bottom - top, right - left}};
}

PatchGrid GridOf(RowsCols size, int patch_size) {
  if (patch_size < 1) throw Error("the model's patch size is " + std::to_string(patch_size));
  const std::string rows = PatchMistake(size.rows, patch_size, "rows");
  const std::string cols = PatchMistake(size.cols, patch_size, "columns");
  if (!rows.empty() || !cols.empty()) {
    throw Error(rows + (rows.empty() || cols.empty() ? "" : " and ") + cols +
                " are not whole patches of " + std::to_string(patch_size) + " pixels");
  }
  return {size.rows / patch_size, size.cols / patch_size, patch_size};
}

FitPlan PlanFit(RowsCols source, const InputSpec& spec, const FitOptions& options) {
  CheckRequest(source, spec, options);
  FitPlan plan;
  switch (options.fit) {
    case Fit::kWhole:
      plan = PlanStretch(source, WholeSize(source, spec, options));
      break;
    case Fit::kCrop:
      plan = PlanCrop(source, spec, options);
      break;
    case Fit::kStretch:
      plan = PlanStretch(source, StretchSize(spec, options));
      break;
    case Fit::kPad:
      plan = PlanPad(source, spec, options);
      break;
  }
  const RowsCols model = plan.geometry.model;
  if (int64_t{model.rows} * model.cols > kMaxPixels) {
    throw Error("the model would get " + WidthHeight(model) +
                " pixels (width x height), more than the limit of " + std::to_string(kMaxPixels) +
                ": choose a smaller --size, or --fit crop");
  }
  GridOf(model, spec.patch_size);
  if (plan.Visible().size == model) plan.border = Border::kNone;
  AddNotes(plan);
  return plan;
}

}  // namespace attnmap
