#include "model/preprocess_json.h"

#include "model/limits.h"

namespace attnmap {
namespace {

constexpr RowsCols kUsualSize = {224, 224};

ResizeTarget TargetFor(RowsCols size) {
  if (size.rows == size.cols) return {ResizeTarget::Kind::kShortSide, size};
  return {ResizeTarget::Kind::kExact, size};
}

// A number (a square) or [rows, cols]; nothing for false.
std::optional<RowsCols> NumberOrSize(const ConfigNode& node, std::string_view key) {
  if (node.IsFalse(key)) return std::nullopt;
  if (node.IsArray(key)) return node.Size(key, kMaxImageSide);
  const auto side = node.Int(key, 1, kMaxImageSide);
  if (!side) return std::nullopt;
  return RowsCols{*side, *side};
}

std::optional<ResizeTarget> ReadResize(const ConfigNode& node) {
  const auto size = NumberOrSize(node, "resize");
  const std::string side = node.String("resize_side").value_or("short");
  if (side != "short" && side != "long") node.Fail("resize_side", "expected short or long");
  if (!size) return std::nullopt;
  if (node.IsArray("resize")) return ResizeTarget{ResizeTarget::Kind::kExact, *size};
  return ResizeTarget{
      side == "long" ? ResizeTarget::Kind::kLongSide : ResizeTarget::Kind::kShortSide, *size};
}

// true for `second`, false for `first`.
bool Choice(const ConfigNode& node, std::string_view key, std::string_view first,
            std::string_view second) {
  const auto text = node.String(key);
  if (text && *text != first && *text != second) {
    node.Fail(key, "expected " + std::string(first) + " or " + std::string(second));
  }
  return text == second;
}

std::array<double, 3> ThreeNumbers(const ConfigNode& node, std::string_view key, double missing) {
  const auto numbers = node.Numbers(key, 3);
  if (!numbers) return {missing, missing, missing};
  return {(*numbers)[0], (*numbers)[1], (*numbers)[2]};
}

// Gives resize and crop, where they were left out, the model's size.
void FillSizes(const ConfigNode& node, std::optional<RowsCols> model_size, Preprocess& preprocess) {
  if (!node.Has("resize")) {
    preprocess.resize = TargetFor(preprocess.crop.value_or(model_size.value_or(kUsualSize)));
  }
  if (!node.Has("crop") && preprocess.resize) {
    const bool exact = preprocess.resize->kind == ResizeTarget::Kind::kExact;
    const RowsCols resized = preprocess.resize->size;
    preprocess.crop = exact ? resized : model_size.value_or(resized);
  }
}

}  // namespace

void ResizeAndCropTo(RowsCols size, Preprocess& preprocess) {
  preprocess.resize = TargetFor(size);
  preprocess.crop = size;
}

Preprocess ReadPreprocess(const ConfigNode& node, std::optional<RowsCols> model_size) {
  Preprocess preprocess;
  preprocess.resize = ReadResize(node);
  preprocess.crop = NumberOrSize(node, "crop");
  const std::string filter = node.String("interpolation").value_or("bicubic");
  if (const auto known = FilterFromName(filter)) {
    preprocess.filter = *known;
  } else {
    node.Fail(
        "interpolation",
        "expected nearest, box, bilinear, hamming, bicubic or lanczos, found \"" + filter + "\"");
  }
  preprocess.mean = ThreeNumbers(node, "mean", 0);
  preprocess.std = ThreeNumbers(node, "std", 1);
  for (double value : preprocess.std) {
    if (!(value > 0)) node.Fail("std", "expected 3 numbers above 0");
  }
  preprocess.rescale = node.Number("rescale", 1e-9, 1e9).value_or(1.0 / 255);
  preprocess.truncate_long_side = !Choice(node, "long_side_rounding", "truncate", "round");
  preprocess.crop_rounding = Choice(node, "crop_rounding", "half-even", "floor")
                                 ? Preprocess::CropRounding::kFloor
                                 : Preprocess::CropRounding::kHalfEven;
  preprocess.resize_in_float = node.Bool("resize_in_float").value_or(false);
  preprocess.black_border = node.Bool("black_border").value_or(false);
  node.RejectUnread();
  FillSizes(node, model_size, preprocess);
  return preprocess;
}

}  // namespace attnmap
