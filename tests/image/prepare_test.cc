#include "attnmap/image/prepare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attnmap/core/error.h"
#include "image/prepare_plan.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using Kind = ResizeTarget::Kind;
using Notes = std::vector<std::string>;

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// A picture of (width, height), as the specification's tables give them.
RowsCols Wide(int width, int height) { return {height, width}; }

InputSpec Spec(Kind kind, int resize, int crop, int patch_size = 16) {
  InputSpec spec;
  spec.patch_size = patch_size;
  spec.model_size = {crop, crop};
  spec.preprocess.resize = ResizeTarget{kind, {resize, resize}};
  spec.preprocess.crop = spec.model_size;
  return spec;
}

FitOptions Options(Fit fit, std::optional<int> side = {}) {
  FitOptions options;
  options.fit = fit;
  options.side = side;
  return options;
}

ImageGeometry Plan(RowsCols source, const InputSpec& spec, const FitOptions& options) {
  return PlanFit(source, spec, options).geometry;
}

RowsCols Whole(RowsCols source, int side, int patch_size) {
  const InputSpec spec = Spec(Kind::kShortSide, 256, 224, patch_size);
  return Plan(source, spec, Options(Fit::kWhole, side)).model;
}

RowsCols ShortSide(RowsCols source, int side) {
  return Plan(source, Spec(Kind::kShortSide, side, 1, 1), Options(Fit::kCrop)).resized;
}

std::string Refusal(RowsCols source, const InputSpec& spec, const FitOptions& options) {
  try {
    PlanFit(source, spec, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Image Filled(int rows, int cols, uint8_t value) {
  Image image(rows, cols);
  std::fill(image.rgb.begin(), image.rgb.end(), value);
  return image;
}

}  // namespace

TEST_CASE("whole: the short side is rounded to whole patches, the long side follows the aspect") {
  CHECK(Whole(Wide(600, 400), 224, 16) == RowsCols{224, 336});
  CHECK(Whole(Wide(400, 600), 224, 16) == RowsCols{336, 224});
  CHECK(Whole(Wide(200, 61), 64, 8) == RowsCols{64, 208});
  CHECK(Whole(Wide(100, 300), 72, 8) == RowsCols{216, 72});
  CHECK(Whole(Wide(512, 512), 224, 14) == RowsCols{224, 224});
  CHECK(Whole(Wide(640, 480), 230, 16) == RowsCols{224, 304});  // 230 * 4/3 = 306.7, not 298.7
}

TEST_CASE("whole: halves are rounded up, exactly") {
  CHECK(Whole(Wide(100, 100), 24, 16) == RowsCols{32, 32});  // 1.5 patches
  CHECK(Whole(Wide(100, 100), 23, 16) == RowsCols{16, 16});
  CHECK(Whole(Wide(125, 100), 16, 8) == RowsCols{16, 24});    // 2.5 patches
  CHECK(Whole(Wide(1249, 1000), 16, 8) == RowsCols{16, 16});  // 2.498
}

TEST_CASE("whole: a side is one patch at least") {
  CHECK(Whole(Wide(5, 3), 1, 16) == RowsCols{16, 16});
  CHECK(Whole(Wide(1, 1), 224, 16) == RowsCols{224, 224});
  CHECK(Whole(Wide(100, 1), 16, 16) == RowsCols{16, 1600});
}

TEST_CASE("U-02 whole: sizes at which a float factor is off by one come out whole") {
  CHECK(Whole(Wide(976, 976), 976, 16) == RowsCols{976, 976});
  CHECK(Whole(Wide(546, 602), 546, 14) == RowsCols{602, 546});
  CHECK(Whole(Wide(602, 546), 518, 14) == RowsCols{518, 574});  // 571.1 is 40.8 patches
}

TEST_CASE("U-03 whole: the short side of a model that is not square is its short side") {
  InputSpec spec = Spec(Kind::kShortSide, 256, 224);
  spec.model_size = {256, 128};
  CHECK(Plan(Wide(400, 400), spec, Options(Fit::kWhole)).model == RowsCols{128, 128});
  CHECK(Plan(Wide(400, 400), spec, Options(Fit::kStretch)).model == RowsCols{256, 128});
  CHECK(Plan(Wide(400, 400), spec, Options(Fit::kPad)).resized == RowsCols{128, 128});
}

TEST_CASE("crop: the short side's resize truncates the long side") {
  CHECK(ShortSide(Wide(640, 480), 256) == Wide(341, 256));
  CHECK(ShortSide(Wide(500, 375), 256) == Wide(341, 256));
  CHECK(ShortSide(Wide(1024, 683), 248) == Wide(371, 248));
  CHECK(ShortSide(Wide(333, 500), 256) == Wide(256, 384));
  CHECK(ShortSide(Wide(4000, 3000), 518) == Wide(690, 518));
  CHECK(ShortSide(Wide(300, 201), 224) == Wide(334, 224));
}

TEST_CASE("crop: the aspect-keeping resize rounds where the model's library does") {
  InputSpec spec = Spec(Kind::kShortSide, 256, 224);
  spec.preprocess.truncate_long_side = false;
  CHECK(Plan(Wide(500, 375), spec, Options(Fit::kCrop)).resized == Wide(341, 256));
  CHECK(Plan(Wide(500, 374), spec, Options(Fit::kCrop)).resized == Wide(342, 256));  // 342.2
  CHECK(Plan(Wide(1023, 768), spec, Options(Fit::kCrop)).resized == Wide(341, 256));
  CHECK(Plan(Wide(641, 480), spec, Options(Fit::kCrop)).resized == Wide(342, 256));  // 341.9
  spec.preprocess.resize->size = {100, 50};  // just covers 100 rows x 50 columns
  CHECK(Plan(Wide(90, 90), spec, Options(Fit::kCrop)).resized == Wide(100, 100));
  CHECK(Plan(Wide(90, 360), spec, Options(Fit::kCrop)).resized == Wide(50, 200));
}

TEST_CASE("crop: the long side's resize rounds halves to even and keeps the rest inside") {
  const InputSpec spec = Spec(Kind::kLongSide, 67, 64, 8);
  CHECK(Plan(Wide(75, 131), spec, Options(Fit::kCrop)).resized == Wide(38, 67));
  CHECK(Plan(Wide(120, 90), spec, Options(Fit::kCrop)).resized == Wide(67, 50));  // 50.25
  CHECK(Plan(Wide(134, 1), spec, Options(Fit::kCrop)).resized == Wide(67, 1));    // 0.5
}

TEST_CASE("crop: the middle is torchvision's, halves to even") {
  const auto top = [](int rows, int crop) {
    InputSpec spec = Spec(Kind::kExact, rows, crop, 1);
    return Plan(Wide(9, 9), spec, Options(Fit::kCrop)).top;
  };
  CHECK(top(225, 224) == 0);   // 0.5
  CHECK(top(227, 224) == 2);   // 1.5
  CHECK(top(341, 224) == 58);  // 58.5
  CHECK(top(343, 224) == 60);  // 59.5
  CHECK(top(371, 224) == 74);  // 73.5
  CHECK(top(256, 224) == 16);
  CHECK(top(63, 64) == 0);  // the odd row of padding goes below
  CHECK(top(61, 64) == -1);
  CHECK(top(60, 64) == -2);
}

TEST_CASE("crop: the middle is transformers', rounded down, where the model comes from there") {
  const auto top = [](int rows, int crop) {
    InputSpec spec = Spec(Kind::kExact, rows, crop, 1);
    spec.preprocess.crop_rounding = Preprocess::CropRounding::kFloor;
    return Plan(Wide(9, 9), spec, Options(Fit::kCrop)).top;
  };
  CHECK(top(227, 224) == 1);
  CHECK(top(371, 224) == 73);
  CHECK(top(225, 224) == 0);
  CHECK(top(63, 64) == -1);  // the odd row of padding goes above
  CHECK(top(61, 64) == -2);
  CHECK(top(60, 64) == -2);
}

TEST_CASE("crop: a picture smaller than the crop is framed in black") {
  InputSpec spec = Spec(Kind::kExact, 4, 8, 4);
  spec.preprocess.mean = {0.5, 0.25, 0};
  spec.preprocess.std = {0.5, 0.5, 0.5};
  const Image image = Filled(4, 4, 255);
  const ModelInput input = PrepareImage(image, spec, Options(Fit::kCrop));
  CHECK(input.geometry.top == -2);
  const auto value = [&](size_t c, size_t y, size_t x) {
    return input.pixels.values[(c * 8 + y) * 8 + x];
  };
  CHECK(value(0, 0, 0) == -1.0F);
  CHECK(value(1, 1, 7) == -0.5F);
  CHECK(value(2, 7, 7) == 0.0F);
  CHECK(value(0, 2, 2) == 1.0F);
  CHECK(value(2, 5, 5) == 2.0F);
  CHECK(input.notes == Notes{"padded to 8 x 8 with black"});
  const Image picture = PreparedPicture(image, spec, Options(Fit::kCrop));
  CHECK(picture.row(1)[3 * 3] == 0);
  CHECK(picture.row(2)[3 * 2] == 255);
}

TEST_CASE("crop: timm's border has the mean colour in 8 bits, open_clip's is black") {
  InputSpec spec = Spec(Kind::kLongSide, 8, 8, 4);
  spec.preprocess.mean = {0.5, 0.25, 0};
  spec.preprocess.std = {0.5, 0.5, 0.5};
  const Image image = Filled(4, 8, 255);
  const ModelInput timm = PrepareImage(image, spec, Options(Fit::kCrop));
  CHECK(timm.pixels.values[0] == (128.0F / 255.0F - 0.5F) / 0.5F);  // 127.5 to even
  CHECK(timm.pixels.values[64] == (64.0F / 255.0F - 0.25F) / 0.5F);
  CHECK(timm.notes == Notes{"padded to 8 x 8 with the mean colour"});
  CHECK(PreparedPicture(image, spec, Options(Fit::kCrop)).rgb[0] == 128);
  spec.preprocess.black_border = true;
  const ModelInput open_clip = PrepareImage(image, spec, Options(Fit::kCrop));
  CHECK(open_clip.pixels.values[0] == -1.0F);
}

TEST_CASE("crop: --size scales the model's resize and crop alike, rounding down") {
  const InputSpec spec = Spec(Kind::kShortSide, 256, 224);
  const ImageGeometry geometry = Plan(Wide(640, 480), spec, Options(Fit::kCrop, 384));
  CHECK(geometry.resized == Wide(584, 438));  // 256 * 384 / 224 = 438.9, 438 * 4/3 = 584
  CHECK(geometry.model == RowsCols{384, 384});
  const InputSpec squash = Spec(Kind::kExact, 256, 224);
  CHECK(Plan(Wide(640, 480), squash, Options(Fit::kCrop, 448)).resized == RowsCols{512, 512});
  InputSpec bare;
  bare.preprocess.crop = RowsCols{224, 224};
  CHECK(Plan(Wide(640, 480), bare, Options(Fit::kCrop)).resized == Wide(640, 480));
  CHECK(Plan(Wide(640, 480), bare, Options(Fit::kCrop, 112)).resized == Wide(149, 112));
  CHECK(Plan(Wide(640, 480), bare, Options(Fit::kCrop, 112)).model == RowsCols{112, 112});
}

TEST_CASE("crop: without a crop the resize must give whole patches") {
  InputSpec spec = Spec(Kind::kShortSide, 224, 224);
  spec.preprocess.crop.reset();
  CHECK(Refusal(Wide(300, 201), spec, Options(Fit::kCrop)) ==
        "334 columns (nearest 320 and 336) are not whole patches of 16 pixels");
  CHECK(Plan(Wide(448, 224), spec, Options(Fit::kCrop)).model == RowsCols{224, 448});
}

TEST_CASE("stretch: the model's square, or exactly the size asked for") {
  const InputSpec spec = Spec(Kind::kShortSide, 256, 224);
  CHECK(Plan(Wide(640, 480), spec, Options(Fit::kStretch)).model == RowsCols{224, 224});
  CHECK(Plan(Wide(640, 480), spec, Options(Fit::kStretch, 96)).model == RowsCols{96, 96});
  FitOptions exact = Options(Fit::kStretch);
  exact.exact = RowsCols{96, 160};
  CHECK(Plan(Wide(640, 480), spec, exact).model == RowsCols{96, 160});
}

TEST_CASE("pad: the long side fills the model's size, the rest is centred") {
  const InputSpec spec = Spec(Kind::kShortSide, 71, 64, 8);
  const ImageGeometry tall = Plan(Wide(70, 130), spec, Options(Fit::kPad));
  CHECK(tall.resized == Wide(34, 64));  // 34.46
  CHECK(tall.left == -15);
  CHECK(tall.top == 0);
  const ImageGeometry wide = Plan(Wide(128, 33), spec, Options(Fit::kPad));
  CHECK(wide.resized == Wide(64, 17));  // 16.5, halves up
  CHECK(wide.top == -23);               // half of 47, rounded down
  CHECK(Plan(Wide(1000, 1), spec, Options(Fit::kPad)).resized == Wide(64, 1));
  CHECK(Plan(Wide(10, 10), spec, Options(Fit::kPad, 32)).model == RowsCols{32, 32});
}

TEST_CASE("pad: what is added is exactly zero after normalisation") {
  InputSpec spec = Spec(Kind::kShortSide, 8, 8, 4);
  spec.preprocess.mean = {0.485, 0.456, 0.406};
  spec.preprocess.std = {0.229, 0.224, 0.225};
  const Image image = Filled(4, 8, 255);
  const ModelInput input = PrepareImage(image, spec, Options(Fit::kPad));
  int zeros = 0;
  for (float value : input.pixels.values) zeros += value == 0.0F ? 1 : 0;
  CHECK(zeros == 3 * 4 * 8);
  CHECK(input.pixels.values[2 * 8] == (1.0F - 0.485F) / 0.229F);
  const Image picture = PreparedPicture(image, spec, Options(Fit::kPad));
  CHECK(std::vector<uint8_t>(picture.rgb.begin(), picture.rgb.begin() + 3) ==
        std::vector<uint8_t>{124, 116, 104});
}

TEST_CASE("U-04 sides that are not whole patches are refused with the nearest that are") {
  const InputSpec spec = Spec(Kind::kShortSide, 256, 224);
  const RowsCols source = Wide(640, 480);
  CHECK(Refusal(source, spec, Options(Fit::kStretch, 230)) ==
        "230 rows (nearest 224 and 240) and 230 columns (nearest 224 and 240) are not whole "
        "patches of 16 pixels");
  FitOptions exact = Options(Fit::kStretch);
  exact.exact = RowsCols{320, 321};
  CHECK(Refusal(source, spec, exact) ==
        "321 columns (nearest 320 and 336) are not whole patches of 16 pixels");
  exact.exact = RowsCols{7, 32};
  CHECK(Refusal(source, spec, exact) == "7 rows (nearest 16) are not whole patches of 16 pixels");
  CHECK(Has(Refusal(source, spec, Options(Fit::kPad, 100)), "nearest 96 and 112"));
  CHECK(Has(Refusal(source, spec, Options(Fit::kCrop, 100)), "nearest 96 and 112"));
  CHECK(Refusal(source, Spec(Kind::kShortSide, 256, 224, 14), Options(Fit::kStretch, 320)) ==
        "320 rows (nearest 308 and 322) and 320 columns (nearest 308 and 322) are not whole "
        "patches of 14 pixels");
}

TEST_CASE("U-04 notes say what was resized, cropped and padded") {
  const InputSpec spec = Spec(Kind::kShortSide, 256, 224);
  const auto notes = [&](RowsCols source, Fit fit) {
    return PlanFit(source, spec, Options(fit)).notes;
  };
  CHECK(notes(Wide(600, 400), Fit::kWhole) ==
        Notes{"resized 600 x 400 to 336 x 224 (width x height)"});
  CHECK(
      notes(Wide(600, 400), Fit::kCrop) ==
      Notes{"resized 600 x 400 to 384 x 256 (width x height)", "cropped to the middle 224 x 224"});
  CHECK(notes(Wide(600, 400), Fit::kPad) == Notes{"resized 600 x 400 to 224 x 149 (width x height)",
                                                  "padded to 224 x 224 with the mean colour"});
  CHECK(notes(Wide(512, 512), Fit::kStretch) == Notes{"resized 512 x 512 to 224 x 224"});
  CHECK(notes(Wide(224, 224), Fit::kWhole).empty());
}

TEST_CASE("The worked examples of docs/preprocessing.md hold") {
  const InputSpec spec = Spec(Kind::kShortSide, 256, 224);
  const RowsCols photo = Wide(600, 400);
  CHECK(Plan(photo, spec, Options(Fit::kWhole)).model == Wide(336, 224));
  CHECK(Plan(Wide(451, 300), spec, Options(Fit::kWhole)).model == Wide(336, 224));
  const ImageGeometry crop = Plan(photo, spec, Options(Fit::kCrop));
  CHECK(crop.resized == Wide(384, 256));
  CHECK(crop.left == 80);
  CHECK(crop.top == 16);
  const Rect first = crop.PatchRect({14, 14, 16}, 0, 0);
  CHECK(first.top == 25);
  CHECK(first.bottom == 50);
  CHECK(first.left == 125);
  CHECK(first.right == 150);
  CHECK(Plan(photo, spec, Options(Fit::kCrop, 384)).resized == Wide(657, 438));
  CHECK(Plan(photo, spec, Options(Fit::kStretch)).model == Wide(224, 224));
  const ImageGeometry pad = Plan(photo, spec, Options(Fit::kPad));
  CHECK(pad.resized == Wide(224, 149));
  CHECK(pad.top == -37);
  CHECK_FALSE(pad.PatchShowsPicture({14, 14, 16}, 1, 0));
  CHECK(pad.PatchShowsPicture({14, 14, 16}, 2, 0));
  CHECK(pad.ModelRow(0) - 2 * 16 == 5);
}

TEST_CASE("Options that do not go together are usage errors") {
  const InputSpec spec = Spec(Kind::kShortSide, 256, 224);
  for (Fit fit : {Fit::kWhole, Fit::kCrop, Fit::kPad}) {
    FitOptions exact = Options(fit);
    exact.exact = RowsCols{224, 224};
    CHECK_THROWS_AS(PlanFit(Wide(9, 9), spec, exact), UsageError);
    CHECK_THROWS_AS(PlanFit(Wide(9, 9), spec, Options(fit, 0)), UsageError);
  }
  FitOptions exact = Options(Fit::kStretch);
  exact.exact = RowsCols{0, 16};
  CHECK_THROWS_AS(PlanFit(Wide(9, 9), spec, exact), UsageError);
}

TEST_CASE("Sizes out of all proportion are refused before any memory is taken") {
  const InputSpec spec = Spec(Kind::kShortSide, 256, 224);
  CHECK(Has(Refusal(Wide(2000000, 1), spec, Options(Fit::kWhole)), "more than the limit"));
  CHECK(Has(Refusal(Wide(2000000000, 1), spec, Options(Fit::kCrop)), "too long and thin"));
  CHECK(Has(Refusal(Wide(9, 9), spec, Options(Fit::kStretch, 2000000000)), "more than the limit"));
  CHECK(Has(Refusal(Wide(9, 9), spec, Options(Fit::kWhole, std::numeric_limits<int>::max())),
            "too long and thin"));
  CHECK(Has(Refusal(Wide(0, 9), spec, Options(Fit::kWhole)), "no pixels"));
}

TEST_CASE("crop: of a strip a million pixels long only the middle is computed") {
  const InputSpec spec = Spec(Kind::kShortSide, 256, 224);
  const ModelInput input = PrepareImage(Filled(2, 1000000, 9), spec, Options(Fit::kCrop));
  CHECK(input.geometry.resized == Wide(128000000, 256));
  CHECK(input.pixels.values.front() == 9.0F / 255.0F);
  CHECK(input.pixels.values.back() == 9.0F / 255.0F);
}

TEST_CASE("A model that cannot be normalised for is refused") {
  InputSpec spec = Spec(Kind::kShortSide, 16, 16);
  spec.preprocess.std = {1, 0, 1};
  CHECK_THROWS_AS(PrepareImage(Filled(4, 4, 1), spec, Options(Fit::kCrop)), Error);
  spec.preprocess.std = {1, 1, 1};
  spec.preprocess.mean[2] = std::nan("");
  CHECK_THROWS_AS(PrepareImage(Filled(4, 4, 1), spec, Options(Fit::kCrop)), Error);
  spec.preprocess.mean[2] = 0;
  spec.patch_size = 0;
  CHECK_THROWS_AS(PrepareImage(Filled(4, 4, 1), spec, Options(Fit::kCrop)), Error);
}

TEST_CASE("U-21 pixels are R, G, B planes, normalised in single precision") {
  InputSpec spec = Spec(Kind::kExact, 16, 16);
  spec.preprocess.mean = {0.485, 0.456, 0.406};
  spec.preprocess.std = {0.229, 0.224, 0.225};
  Image image(16, 16);
  for (size_t i = 0; i < image.rgb.size(); i += 3) image.rgb[i] = 128;
  const ModelInput input = PrepareImage(image, spec, Options(Fit::kCrop));
  CHECK(input.pixels.shape == Shape{3, 16, 16});
  CHECK(input.pixels.values[0] == Approx(0.0740646).margin(1e-7));
  CHECK(input.pixels.values[256] == Approx(-0.456 / 0.224));
  CHECK(input.pixels.values[767] == Approx(-0.406 / 0.225));
}

TEST_CASE("A resize in float keeps what eight bits would round") {
  InputSpec spec = Spec(Kind::kExact, 16, 16);
  spec.preprocess.filter = Filter::kBilinear;
  spec.preprocess.resize_in_float = true;
  spec.preprocess.mean = {0.5, 0.5, 0.5};
  spec.preprocess.std = {0.25, 0.25, 0.25};
  Image image(32, 32);
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<uint8_t>(i * 7);
  const ModelInput input = PrepareImage(image, spec, Options(Fit::kCrop));
  Tensor rescaled({3, 32, 32});
  for (size_t i = 0; i < 1024; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      rescaled.values[c * 1024 + i] = static_cast<float>(image.rgb[i * 3 + c]) / 255.0F;
    }
  }
  const Tensor expected = ResizeFloat(rescaled, {16, 16}, Filter::kBilinear);
  for (size_t i = 0; i < expected.values.size(); ++i) {
    REQUIRE(input.pixels.values[i] == Approx((expected.values[i] - 0.5F) / 0.25F).margin(1e-6));
  }
  const Image picture = PreparedPicture(image, spec, Options(Fit::kCrop));
  for (size_t i = 0; i < 256; ++i) {
    REQUIRE(std::abs(picture.rgb[i * 3] - expected.values[i] * 255.0F) < 0.501F);
  }
}

TEST_CASE("Prepared pixels are taken as they are") {
  Tensor pixels({1, 3, 4, 6});
  for (size_t i = 0; i < pixels.values.size(); ++i) pixels.values[i] = static_cast<float>(i) - 30;
  const std::vector<float> values = pixels.values;
  const ModelInput input = PrepareTensor(pixels, 2);
  CHECK(input.pixels.shape == Shape{3, 4, 6});
  CHECK(input.pixels.values == values);
  CHECK(input.grid == PatchGrid{2, 3, 2});
  CHECK(input.geometry.source == RowsCols{4, 6});
  CHECK(input.geometry.model == RowsCols{4, 6});
  CHECK(PrepareTensor(Tensor({3, 4, 6}), 2).pixels.shape == Shape{3, 4, 6});
}

TEST_CASE("Prepared pixels cover the picture they are shown on whole") {
  const ModelInput input = PrepareTensor(Tensor({3, 32, 64}), 16, {100, 300});
  CHECK(input.geometry.source == RowsCols{100, 300});
  const Rect rect = input.geometry.PatchRect(input.grid, 1, 3);
  CHECK(rect.top == 50);
  CHECK(rect.bottom == 100);
  CHECK(rect.left == 225);
  CHECK(rect.right == 300);
}

TEST_CASE("Arrays that are no prepared pixels are refused") {
  const auto refusal = [](Tensor pixels, int patch_size) -> std::string {
    try {
      PrepareTensor(std::move(pixels), patch_size);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal(Tensor({4, 4, 3}), 2) ==
        "prepared pixels must be 3 x rows x cols or 1 x 3 x rows x cols, found 4 x 4 x 3");
  CHECK(Has(refusal(Tensor({2, 3, 4, 4}), 2), "found 2 x 3 x 4 x 4"));
  CHECK(Has(refusal(Tensor({3, 4}), 2), "found 3 x 4"));
  CHECK(Has(refusal(Tensor({3, 0, 4}), 2), "found 3 x 0 x 4"));
  CHECK(refusal(Tensor({3, 4, 5}), 2) ==
        "5 columns (nearest 4 and 6) are not whole patches of 2 pixels");
  CHECK(Has(refusal(Tensor({3, 4, 4}, std::vector<float>(7)), 2), "found 7"));
  for (float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    Tensor pixels({3, 4, 4});
    pixels.values[17] = bad;
    CHECK(refusal(pixels, 2) ==
          "prepared pixels must be finite numbers; the one at position 17 is not");
  }
}

}  // namespace attnmap
