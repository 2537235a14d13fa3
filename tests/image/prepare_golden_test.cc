// PrepareImage against what the reference libraries fed their models.

#include <cmath>
#include <filesystem>
#include <string>

#include "attnmap/image/decode.h"
#include "attnmap/image/prepare.h"
#include "image/reference_files.h"
#include "support/catch.h"
#include "support/shared.h"

namespace attnmap {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Fit FitFromName(const std::string& name) {
  if (name == "crop") return Fit::kCrop;
  if (name == "stretch") return Fit::kStretch;
  if (name == "pad") return Fit::kPad;
  REQUIRE(name == "whole");
  return Fit::kWhole;
}

void ReadColours(const json& config, const char* mean, const char* std, Preprocess& preprocess) {
  for (size_t c = 0; c < 3; ++c) {
    preprocess.mean[c] = config.at(mean).at(c).get<double>();
    preprocess.std[c] = config.at(std).at(c).get<double>();
  }
}

// timm's evaluation transform.
InputSpec FromTimm(const json& config, int patch_size) {
  InputSpec spec;
  const int side = config.at("input_size").at(1).get<int>();
  const int scale = static_cast<int>(std::floor(side / config.at("crop_pct").get<double>()));
  const std::string mode = config.at("crop_mode").get<std::string>();
  const auto kind = mode == "border"   ? ResizeTarget::Kind::kLongSide
                    : mode == "squash" ? ResizeTarget::Kind::kExact
                                       : ResizeTarget::Kind::kShortSide;
  spec.patch_size = patch_size;
  spec.model_size = {side, side};
  spec.preprocess.resize = ResizeTarget{kind, {scale, scale}};
  spec.preprocess.crop = spec.model_size;
  spec.preprocess.filter = FilterFromName(config.at("interpolation").get<std::string>()).value();
  ReadColours(config, "mean", "std", spec.preprocess);
  return spec;
}

// transformers' preprocessor_config.json.
InputSpec FromTransformers(const json& config, int patch_size) {
  constexpr Filter kByNumber[] = {Filter::kNearest, Filter::kLanczos, Filter::kBilinear,
                                  Filter::kBicubic, Filter::kBox,     Filter::kHamming};
  const auto square = [](const json& size) {
    return RowsCols{size.at("height").get<int>(), size.at("width").get<int>()};
  };
  InputSpec spec;
  spec.patch_size = patch_size;
  Preprocess& preprocess = spec.preprocess;
  const json& size = config.at("size");
  if (size.contains("shortest_edge")) {
    const int side = size.at("shortest_edge").get<int>();
    preprocess.resize = ResizeTarget{ResizeTarget::Kind::kShortSide, {side, side}};
  } else {
    preprocess.resize = ResizeTarget{ResizeTarget::Kind::kExact, square(size)};
  }
  spec.model_size = preprocess.resize->size;
  if (config.value("do_center_crop", false)) {
    spec.model_size = square(config.at("crop_size"));
    preprocess.crop = spec.model_size;
  }
  preprocess.filter = kByNumber[config.at("resample").get<size_t>()];
  preprocess.rescale = config.at("rescale_factor").get<double>();
  preprocess.crop_rounding = Preprocess::CropRounding::kFloor;
  ReadColours(config, "image_mean", "image_std", preprocess);
  return spec;
}

void CheckPixels(const fs::path& folder, const InputSpec& spec, const json& about) {
  FitOptions options;
  options.fit = FitFromName(about.at("fit").get<std::string>());
  if (about.contains("short_side")) options.side = about.at("short_side").get<int>();
  const Image image = test::ReadRgbPng(folder / "image.png");
  const ModelInput input = PrepareImage(image, spec, options);
  const Tensor expected = test::ReadSafetensor(folder / "expected.safetensors", "pixel_values");
  INFO(folder.string());
  REQUIRE(input.pixels.shape == expected.shape);
  double largest = 0;
  for (size_t i = 0; i < expected.values.size(); ++i) {
    largest = std::max<double>(largest, std::abs(input.pixels.values[i] - expected.values[i]));
  }
  CHECK(largest <= 1e-6);
  CHECK(input.geometry.source == image.size());
  CHECK(input.grid.pixels() == input.geometry.model);
}

fs::path ModelFolder(const fs::path& folder, const json& about) {
  return folder / about.value("model", "model");
}

Image ReadPhoto(const fs::path& path) {
  const std::string bytes = test::ReadText(path);
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  return DecodeImage({data, bytes.size()}).image;
}

InputSpec SpecOf(int resize, int patch_size, Preprocess::CropRounding rounding) {
  InputSpec spec;
  spec.patch_size = patch_size;
  spec.preprocess.resize = ResizeTarget{ResizeTarget::Kind::kShortSide, {resize, resize}};
  spec.preprocess.crop = RowsCols{224, 224};
  spec.preprocess.crop_rounding = rounding;
  return spec;
}

// Each golden case of a photo whose name begins with `prefix`.
int CheckPhotos(const fs::path& golden, const std::string& prefix, InputSpec spec) {
  int checked = 0;
  for (const auto& entry : fs::directory_iterator(golden)) {
    if (entry.path().filename().string().rfind(prefix, 0) != 0) continue;
    const json about = test::ReadJson(entry.path() / "case.json");
    FitOptions options;
    options.fit = FitFromName(about.at("fit").get<std::string>());
    if (about.contains("size")) {
      options.exact = RowsCols{about.at("size").at(0), about.at("size").at(1)};
    }
    const Image photo = ReadPhoto(entry.path() / about.at("image").get<std::string>());
    const Image expected = test::ReadRgbPng(entry.path() / "prepared.png");
    INFO(entry.path().string());
    CHECK(test::Difference(PreparedPicture(photo, spec, options), expected) == "");
    ++checked;
  }
  return checked;
}

}  // namespace

TEST_CASE("Prepared pixels are timm's and those of whole and pad, on the stored pictures") {
  int checked = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(ATTNMAP_TEST_DATA) / "fit")) {
    if (!entry.is_directory()) continue;
    const json about = test::ReadJson(entry.path() / "case.json");
    CheckPixels(entry.path(), FromTimm(about.at("pretrained_cfg"), about.at("patch_size")), about);
    ++checked;
  }
  CHECK(checked == 13);
}

TEST_CASE("Prepared pixels are those of every golden fit case") {
  const auto golden = test::SharedFolder("golden");
  if (!golden) return;
  int checked = 0;
  for (const auto& entry : fs::directory_iterator(*golden)) {
    if (entry.path().filename().string().rfind("fit-", 0) != 0) continue;
    const json about = test::ReadJson(entry.path() / "case.json");
    const json config = test::ReadJson(ModelFolder(entry.path(), about) / "config.json");
    const int patch_size = config.at("model_args").at("patch_size").get<int>();
    CheckPixels(entry.path(), FromTimm(config.at("pretrained_cfg"), patch_size), about);
    ++checked;
  }
  CHECK(checked > 0);
}

TEST_CASE("Prepared pixels are those of transformers' processors on the golden cases") {
  const auto golden = test::SharedFolder("golden");
  if (!golden) return;
  int checked = 0;
  for (const auto& entry : fs::directory_iterator(*golden)) {
    if (!fs::exists(entry.path() / "image.png")) continue;
    const json about = test::ReadJson(entry.path() / "case.json");
    const fs::path model = ModelFolder(entry.path(), about);
    if (!fs::exists(model / "preprocessor_config.json")) continue;
    const json config = test::ReadJson(model / "config.json");
    const int patch_size = config.at("patch_size").get<int>();
    CheckPixels(entry.path(),
                FromTransformers(test::ReadJson(model / "preprocessor_config.json"), patch_size),
                about);
    ++checked;
  }
  CHECK(checked > 0);
}

TEST_CASE("The prepared picture of a photo is the reference's to the last bit") {
  const auto golden = test::SharedFolder("golden");
  if (!golden) return;
  using Rounding = Preprocess::CropRounding;
  CHECK(CheckPhotos(*golden, "own-", SpecOf(224, 16, Rounding::kHalfEven)) > 0);
  CHECK(CheckPhotos(*golden, "deit_tiny-", SpecOf(256, 16, Rounding::kHalfEven)) > 0);
  CHECK(CheckPhotos(*golden, "dinov2_focus-", SpecOf(256, 14, Rounding::kFloor)) > 0);
}

}  // namespace attnmap
