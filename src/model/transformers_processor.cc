#include "model/transformers_processor.h"

#include <algorithm>
#include <array>
#include <string>

#include "model/limits.h"

namespace attnmap {
namespace {

using Kind = ResizeTarget::Kind;

// What the classes do where the file leaves something out.
struct ProcessorClass {
  std::string_view name;  // without ImageProcessor, FeatureExtractor, Fast
  Kind number_means;      // of a plain number as "size"
  bool center_crop;
};
constexpr ProcessorClass kClasses[] = {
    {"ViT", Kind::kExact, false},     {"DeiT", Kind::kExact, true},
    {"Beit", Kind::kExact, true},     {"BEiT", Kind::kExact, true},
    {"Siglip", Kind::kExact, false},  {"DINOv3ViT", Kind::kExact, false},
    {"CLIP", Kind::kShortSide, true}, {"Bit", Kind::kShortSide, true},
};

ProcessorClass ClassOf(const ConfigNode& node) {
  std::string name;
  for (const char* key : {"image_processor_type", "feature_extractor_type"}) {
    if (name.empty() && node.IsString(key)) name = *node.String(key);
  }
  for (const char* suffix : {"ImageProcessor", "FeatureExtractor"}) {
    name = name.substr(0, name.find(suffix));
  }
  for (const ProcessorClass& entry : kClasses) {
    if (entry.name == name) return entry;
  }
  // Unknown: with a crop beside it a number means the short side.
  return node.Has("crop_size") ? ProcessorClass{"", Kind::kShortSide, true}
                               : ProcessorClass{"", Kind::kExact, false};
}

// {"height": h, "width": w}.
std::optional<RowsCols> HeightWidth(const ConfigNode& node) {
  const auto rows = node.Int("height", 1, kMaxImageSide);
  const auto cols = node.Int("width", 1, kMaxImageSide);
  if (!rows || !cols) return std::nullopt;
  return RowsCols{*rows, *cols};
}

std::optional<ResizeTarget> ReadSize(const ConfigNode& node, Kind number_means) {
  if (!node.Has("size")) return std::nullopt;
  if (!node.IsObject("size")) {
    const int side = *node.Int("size", 1, kMaxImageSide);
    return ResizeTarget{number_means, {side, side}};
  }
  const ConfigNode size = node.Child("size");
  if (const auto exact = HeightWidth(size)) return ResizeTarget{Kind::kExact, *exact};
  if (const auto side = size.Int("shortest_edge", 1, kMaxImageSide)) {
    return ResizeTarget{Kind::kShortSide, {*side, *side}};
  }
  if (const auto side = size.Int("longest_edge", 1, kMaxImageSide)) {
    return ResizeTarget{Kind::kLongSide, {*side, *side}};
  }
  node.Fail("size", "expected height and width, shortest_edge or longest_edge");
}

std::optional<RowsCols> ReadCrop(const ConfigNode& node) {
  if (!node.Has("crop_size")) return std::nullopt;
  if (node.IsObject("crop_size")) return HeightWidth(node.Child("crop_size"));
  const int side = *node.Int("crop_size", 1, kMaxImageSide);
  return RowsCols{side, side};
}

// PIL's numbers.
void ReadResample(const ConfigNode& node, Preprocess& preprocess) {
  constexpr std::array kFilters = {Filter::kNearest, Filter::kLanczos, Filter::kBilinear,
                                   Filter::kBicubic, Filter::kBox,     Filter::kHamming};
  if (const auto number = node.Int("resample", 0, 5)) {
    preprocess.filter = kFilters[static_cast<size_t>(*number)];
  }
}

void ReadTriple(const ConfigNode& node, std::string_view key, std::array<double, 3>& into) {
  if (!node.Has(key)) return;
  if (!node.IsArray(key)) {  // one number for all channels
    into.fill(*node.Number(key, -1e6, 1e6));
    return;
  }
  const std::vector<double> values = *node.Numbers(key, 3);
  std::copy(values.begin(), values.end(), into.begin());
}

void ReadNumbers(const ConfigNode& node, Preprocess& preprocess) {
  if (node.Bool("do_rescale").value_or(true)) {
    preprocess.rescale = node.Number("rescale_factor", 1e-9, 1e9).value_or(1.0 / 255);
  } else {
    preprocess.rescale = 1;
  }
  if (!node.Bool("do_normalize").value_or(true)) {
    preprocess.mean = {0, 0, 0};
    preprocess.std = {1, 1, 1};
    return;
  }
  ReadTriple(node, "image_mean", preprocess.mean);
  ReadTriple(node, "image_std", preprocess.std);
  for (double value : preprocess.std) {
    if (!(value > 0)) node.Fail("image_std", "expected numbers above 0");
  }
}

}  // namespace

void ReadTransformersProcessor(const ConfigNode& node, Preprocess& preprocess) {
  const ProcessorClass kind = ClassOf(node);
  const std::optional<RowsCols> usual_crop = preprocess.crop;
  const auto size = ReadSize(node, kind.number_means);
  if (!node.Bool("do_resize").value_or(true)) {
    preprocess.resize.reset();
  } else if (size) {
    preprocess.resize = size;
  }
  preprocess.crop.reset();
  if (node.Bool("do_center_crop").value_or(kind.center_crop)) {
    preprocess.crop = ReadCrop(node).value_or(*usual_crop);
  }
  ReadResample(node, preprocess);
  ReadNumbers(node, preprocess);
  preprocess.truncate_long_side = true;
  preprocess.crop_rounding = Preprocess::CropRounding::kFloor;
  preprocess.resize_in_float = kind.name == "DINOv3ViT";
}

}  // namespace attnmap
