#include "attnmap/image/prepare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "attnmap/core/error.h"
#include "image/prepare_plan.h"

namespace attnmap {
namespace {

constexpr size_t kChannels = 3;
constexpr double kPlainRescale = 1.0 / 255;

// The arithmetic from a value to what the model sees, in float32 as the
// references do it: v / 255, minus the mean, divided by the standard deviation.
class Normalizer {
 public:
  explicit Normalizer(const Preprocess& preprocess) : rescale_(preprocess.rescale) {
    for (size_t c = 0; c < kChannels; ++c) {
      mean_[c] = static_cast<float>(preprocess.mean[c]);
      std_[c] = static_cast<float>(preprocess.std[c]);
      if (!std::isfinite(mean_[c]) || !std::isfinite(std_[c]) || std_[c] == 0 ||
          !std::isfinite(rescale_)) {
        throw Error(
            "the model's mean, standard deviation and rescale factor must be finite, and the "
            "standard deviation not zero");
      }
    }
  }

  float Rescaled(int value) const {
    if (rescale_ == kPlainRescale) return static_cast<float>(value) / 255.0F;
    return static_cast<float>(value * rescale_);
  }
  float Normalized(float rescaled, size_t c) const { return (rescaled - mean_[c]) / std_[c]; }
  // Of each of the 256 values.
  std::array<float, 256> Table(size_t c) const {
    std::array<float, 256> table;
    for (int v = 0; v < 256; ++v) table[static_cast<size_t>(v)] = Normalized(Rescaled(v), c);
    return table;
  }

 private:
  double rescale_;
  std::array<float, kChannels> mean_;
  std::array<float, kChannels> std_;
};

uint8_t ToByte(double value) {
  return static_cast<uint8_t>(std::clamp(std::nearbyint(value), 0.0, 255.0));
}

// The 8-bit colour of the border. kMean has one too, to be shown, not fed.
std::array<uint8_t, kChannels> BorderColour(const Preprocess& preprocess, Border border) {
  std::array<uint8_t, kChannels> colour = {};
  if (border == Border::kNone || border == Border::kBlack) return colour;
  for (size_t c = 0; c < kChannels; ++c) {
    colour[c] =
        ToByte(preprocess.rescale == kPlainRescale ? 255 * preprocess.mean[c]
                                                   : preprocess.mean[c] / preprocess.rescale);
  }
  return colour;
}

// The normalised border, then the picture over it.
class Canvas {
 public:
  Canvas(const FitPlan& plan, const Preprocess& preprocess, const Normalizer& normalizer)
      : pixels_(
            {static_cast<int64_t>(kChannels), plan.geometry.model.rows, plan.geometry.model.cols}),
        cols_(static_cast<size_t>(plan.geometry.model.cols)),
        plane_(static_cast<size_t>(plan.geometry.model.rows) * cols_),
        first_(static_cast<size_t>(std::max(-plan.geometry.top, 0)) * cols_ +
               static_cast<size_t>(std::max(-plan.geometry.left, 0))) {
    if (plan.border == Border::kNone || plan.border == Border::kMean) return;
    const auto colour = BorderColour(preprocess, plan.border);
    for (size_t c = 0; c < kChannels; ++c) {
      std::fill_n(pixels_.values.data() + c * plane_, plane_,
                  normalizer.Normalized(normalizer.Rescaled(colour[c]), c));
    }
  }

  // Normalises and turns to CHW in one pass.
  void Draw(const Image& image, const Normalizer& normalizer) {
    const auto red = normalizer.Table(0);
    const auto green = normalizer.Table(1);
    const auto blue = normalizer.Table(2);
    for (int y = 0; y < image.rows; ++y) {
      const uint8_t* in = image.row(y);
      float* out = pixels_.values.data() + first_ + static_cast<size_t>(y) * cols_;
      for (int x = 0; x < image.cols; ++x, in += kChannels, ++out) {
        out[0] = red[in[0]];
        out[plane_] = green[in[1]];
        out[2 * plane_] = blue[in[2]];
      }
    }
  }

  // (3, rows, cols), rescaled already.
  void Draw(const Tensor& picture, const Normalizer& normalizer) {
    const auto rows = static_cast<size_t>(picture.shape[1]);
    const auto cols = static_cast<size_t>(picture.shape[2]);
    const float* in = picture.values.data();
    for (size_t c = 0; c < kChannels; ++c) {
      for (size_t y = 0; y < rows; ++y) {
        float* out = pixels_.values.data() + c * plane_ + first_ + y * cols_;
        for (size_t x = 0; x < cols; ++x) *out++ = normalizer.Normalized(*in++, c);
      }
    }
  }

  Tensor Take() { return std::move(pixels_); }

 private:
  Tensor pixels_;
  size_t cols_;
  size_t plane_;
  size_t first_;  // where the picture's first pixel goes
};

Image Quantized(const Tensor& picture, double rescale) {
  Image image(static_cast<int>(picture.shape[1]), static_cast<int>(picture.shape[2]));
  const size_t plane = image.rgb.size() / kChannels;
  for (size_t i = 0; i < plane; ++i) {
    for (size_t c = 0; c < kChannels; ++c) {
      image.rgb[i * kChannels + c] = ToByte(picture.values[c * plane + i] / rescale);
    }
  }
  return image;
}

Image EightBits(const Image& image, const FitPlan& plan, const Preprocess& preprocess) {
  return ResizeWindow(image, plan.geometry.resized, preprocess.filter, plan.Visible());
}

Tensor InFloat(const Image& image, const FitPlan& plan, const Preprocess& preprocess) {
  return ResizeFloatWindow(image, preprocess.rescale, plan.geometry.resized, preprocess.filter,
                           plan.Visible());
}

}  // namespace

ModelInput PrepareImage(const Image& image, const InputSpec& spec, const FitOptions& options) {
  FitPlan plan = PlanFit(image.size(), spec, options);
  const Normalizer normalizer(spec.preprocess);
  Canvas canvas(plan, spec.preprocess, normalizer);
  if (spec.preprocess.resize_in_float) {
    canvas.Draw(InFloat(image, plan, spec.preprocess), normalizer);
  } else {
    canvas.Draw(EightBits(image, plan, spec.preprocess), normalizer);
  }
  return {canvas.Take(), GridOf(plan.geometry.model, spec.patch_size), plan.geometry,
          std::move(plan.notes)};
}

Image PreparedPicture(const Image& image, const InputSpec& spec, const FitOptions& options) {
  const FitPlan plan = PlanFit(image.size(), spec, options);
  Image picture = spec.preprocess.resize_in_float
                      ? Quantized(InFloat(image, plan, spec.preprocess), spec.preprocess.rescale)
                      : EightBits(image, plan, spec.preprocess);
  if (plan.border == Border::kNone) return picture;
  const auto colour = BorderColour(spec.preprocess, plan.border);
  Image framed(plan.geometry.model.rows, plan.geometry.model.cols);
  for (size_t i = 0; i < framed.rgb.size(); ++i) framed.rgb[i] = colour[i % kChannels];
  const int top = std::max(-plan.geometry.top, 0);
  const int left = std::max(-plan.geometry.left, 0);
  for (int y = 0; y < picture.rows; ++y) {
    std::copy_n(picture.row(y), static_cast<size_t>(picture.cols) * kChannels,
                framed.row(top + y) + static_cast<size_t>(left) * kChannels);
  }
  return framed;
}

ModelInput PrepareTensor(Tensor pixels, int patch_size, RowsCols on) {
  Shape shape = pixels.shape;
  if (shape.size() == 4 && shape[0] == 1) shape.erase(shape.begin());
  const auto is_side = [](int64_t side) {
    return side > 0 && side <= std::numeric_limits<int>::max();
  };
  if (shape.size() != 3 || shape[0] != static_cast<int64_t>(kChannels) || !is_side(shape[1]) ||
      !is_side(shape[2])) {
    throw Error("prepared pixels must be 3 x rows x cols or 1 x 3 x rows x cols, found " +
                ToString(pixels.shape));
  }
  if (NumElements(shape) != static_cast<int64_t>(pixels.values.size())) {
    throw Error("prepared pixels of " + ToString(shape) + " need " +
                std::to_string(NumElements(shape)) + " numbers, found " +
                std::to_string(pixels.values.size()));
  }
  const RowsCols size{static_cast<int>(shape[1]), static_cast<int>(shape[2])};
  const PatchGrid grid = GridOf(size, patch_size);
  const auto bad = std::find_if(pixels.values.begin(), pixels.values.end(),
                                [](float value) { return !std::isfinite(value); });
  if (bad != pixels.values.end()) {
    throw Error("prepared pixels must be finite numbers; the one at position " +
                std::to_string(bad - pixels.values.begin()) + " is not");
  }
  pixels.shape = std::move(shape);
  const RowsCols source = on == RowsCols{} ? size : on;
  return {std::move(pixels), grid, {source, size, size, 0, 0}, {}};
}

}  // namespace attnmap
