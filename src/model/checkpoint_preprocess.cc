#include "model/checkpoint_preprocess.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "model/form.h"
#include "model/limits.h"
#include "model/transformers_processor.h"

namespace attnmap {
namespace {

using Kind = ResizeTarget::Kind;
using Triple = std::array<double, 3>;

struct MeanStd {
  Triple mean;
  Triple std;
};

MeanStd Constants(PreprocessRecipe::Norm norm) {
  switch (norm) {
    case PreprocessRecipe::Norm::kImageNet:
      return {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}};
    case PreprocessRecipe::Norm::kHalf:
      return {{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};
    case PreprocessRecipe::Norm::kClip:
      return {{0.48145466, 0.4578275, 0.40821073}, {0.26862954, 0.26130258, 0.27577711}};
    case PreprocessRecipe::Norm::kNone:
      break;
  }
  return {{0, 0, 0}, {1, 1, 1}};
}

int Scaled(int side, double crop_pct) {
  return std::clamp(static_cast<int>(std::floor(side / crop_pct)), 1, kMaxImageSide);
}

RowsCols Scaled(RowsCols size, double crop_pct) {
  return {Scaled(size.rows, crop_pct), Scaled(size.cols, crop_pct)};
}

// What the recipe makes of a model of this size.
Preprocess FromRecipe(const PreprocessRecipe& recipe, RowsCols size) {
  const MeanStd constants = Constants(recipe.norm);
  const double crop_pct = size.rows >= recipe.whole_from ? 1.0 : recipe.crop_pct;
  Preprocess preprocess;
  const bool square = size.rows == size.cols;
  const bool short_side = recipe.geometry == PreprocessRecipe::Geometry::kShortSide && square;
  preprocess.resize = {short_side ? Kind::kShortSide : Kind::kExact, Scaled(size, crop_pct)};
  preprocess.crop = size;
  preprocess.filter = recipe.filter;
  preprocess.mean = constants.mean;
  preprocess.std = constants.std;
  preprocess.resize_in_float = recipe.resize_in_float;
  return preprocess;
}

void ReadMeanStd(const ConfigNode& node, Preprocess& preprocess) {
  for (const char* key : {"mean", "std"}) {
    if (!node.IsArray(key)) continue;
    const std::vector<double> values = *node.Numbers(key, 3);
    Triple& into = key[0] == 'm' ? preprocess.mean : preprocess.std;
    std::copy(values.begin(), values.end(), into.begin());
  }
  for (double value : preprocess.std) {
    if (!(value > 0)) node.Fail("std", "expected 3 numbers above 0");
  }
}

void ReadFilter(const ConfigNode& node, Preprocess& preprocess) {
  if (!node.IsString("interpolation")) return;
  const std::string name = *node.String("interpolation");
  if (name == "random") return;  // of training
  const auto filter = FilterFromName(name);
  if (!filter) node.Fail("interpolation", "unknown filter \"" + name + "\"");
  preprocess.filter = *filter;
}

void FromTimm(const ConfigNode& node, RowsCols size, FoundPreprocess& found) {
  Preprocess& preprocess = found.preprocess;
  const double crop_pct = node.Number("crop_pct", 0.01, 100).value_or(0.875);
  const std::string mode = node.String("crop_mode").value_or("center");
  const bool square = size.rows == size.cols;
  preprocess.crop = size;
  preprocess.resize = {Kind::kShortSide, Scaled(size, crop_pct)};
  if (mode == "border") {
    preprocess.resize->kind = Kind::kLongSide;
    preprocess.truncate_long_side = false;
  } else if (mode == "squash" || !square) {
    preprocess.resize->kind = Kind::kExact;
  }
  if (mode != "squash" && !square) {
    preprocess.resize->kind = Kind::kExact;
    found.note = "the model's input is not square: its own resize does not keep the aspect here";
  }
}

void FromOpenClip(const ConfigNode& node, RowsCols size, Preprocess& preprocess) {
  const std::string mode = node.String("resize_mode").value_or("shortest");
  preprocess.crop = size;
  preprocess.resize = {Kind::kShortSide, size};
  if (mode == "longest") {
    preprocess.resize->kind = Kind::kLongSide;
    preprocess.truncate_long_side = false;
    preprocess.black_border = true;
  } else if (mode == "squash" || size.rows != size.cols) {
    preprocess.resize->kind = Kind::kExact;
  }
}

}  // namespace

FoundPreprocess FindPreprocess(const CheckpointConfig& config, const PreprocessRecipe& recipe,
                               std::optional<RowsCols> size) {
  const RowsCols model_size = size.value_or(RowsCols{recipe.usual_side, recipe.usual_side});
  const RowsCols recipe_size = recipe.side > 0 ? RowsCols{recipe.side, recipe.side} : model_size;
  FoundPreprocess found;
  found.preprocess = FromRecipe(recipe, recipe_size);
  found.source = "assumed";
  const ConfigNode& node = config.preprocess;
  if (config.preprocessor.present()) {
    found.source = "preprocessor_config.json";
    ReadTransformersProcessor(config.preprocessor, found.preprocess);
  } else if (node.Has("crop_pct") || node.Has("mean") || node.Has("interpolation") ||
             node.Has("resize_mode")) {
    found.source = config.file;
    ReadMeanStd(node, found.preprocess);
    ReadFilter(node, found.preprocess);
    if (config.kind == CheckpointConfig::Kind::kOpenClip) {
      FromOpenClip(node, model_size, found.preprocess);
    } else {
      FromTimm(node, model_size, found);
    }
  }
  return found;
}

namespace {

std::string Numbers(const Triple& values) {
  std::string text;
  for (double value : values) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value);
    text += " " + std::string(digits, end.ptr);
  }
  return text;
}

std::string NormText(const Preprocess& preprocess) {
  using Norm = PreprocessRecipe::Norm;
  constexpr std::pair<Norm, const char*> kNames[] = {
      {Norm::kImageNet, "ImageNet"}, {Norm::kHalf, "0.5"}, {Norm::kClip, "CLIP"}};
  for (const auto& [norm, name] : kNames) {
    const MeanStd constants = Constants(norm);
    if (constants.mean == preprocess.mean && constants.std == preprocess.std) {
      return std::string(name) + " mean and std";
    }
  }
  return "mean" + Numbers(preprocess.mean) + ", std" + Numbers(preprocess.std);
}

}  // namespace

std::string PreprocessText(const Preprocess& preprocess) {
  std::string text = "no resize";
  if (preprocess.resize) {
    const RowsCols size = preprocess.resize->size;
    text = preprocess.resize->kind == Kind::kExact      ? "resize to " + SizeText(size)
           : preprocess.resize->kind == Kind::kLongSide ? "long side " + std::to_string(size.rows)
                                                        : "short side " + std::to_string(size.rows);
    text += " " + std::string(FilterName(preprocess.filter));
  }
  if (preprocess.crop) text += ", crop " + SizeText(*preprocess.crop);
  text += ", " + NormText(preprocess);
  return text;
}

}  // namespace attnmap
