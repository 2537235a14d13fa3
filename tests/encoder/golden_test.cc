// Every case of ../shared/golden that has a model: file in, numbers out, held
// against the reference library's. A new folder there needs no new code here.

#include "support/golden.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/formats/file.h"
#include "attnmap/image/decode.h"
#include "attnmap/image/prepare.h"
#include "attnmap/ops/instruction_set.h"
#include "attnmap/weights/weight_source.h"
#include "encoder/record.h"
#include "support/catch.h"

namespace attnmap::test {
namespace {

namespace fs = std::filesystem;

// Expected tensors that are what methods make of attention: the analysis room's
// tests compare those.
bool IsOfAnalysis(const std::string& name) {
  const char* const beginnings[] = {"attention_gradient.", "rollout.",       "rollout_matrix.",
                                    "vit_explain.",        "chefer_",        "gradient_rollout",
                                    "attention_gradcam",   "token_gradcam_", "legrad_",
                                    "value_norm",          "entropy",        "distance",
                                    "mass_mask."};
  return std::any_of(std::begin(beginnings), std::end(beginnings),
                     [&](const char* beginning) { return name.starts_with(beginning); });
}

VitModel Load(const GoldenCase& golden, const fs::path& path) {
  const auto source = OpenWeights(path.string());
  LoadModelOptions options;
  options.num_heads = golden.num_heads;
  return LoadVitModel(*source, options);
}

FitOptions FitOf(const GoldenCase& golden) {
  FitOptions fit;
  fit.fit = golden.fit == "crop"      ? Fit::kCrop
            : golden.fit == "stretch" ? Fit::kStretch
            : golden.fit == "pad"     ? Fit::kPad
                                      : Fit::kWhole;
  fit.exact = golden.size;
  fit.side = golden.short_side;
  return fit;
}

// A picture is prepared as the checkpoint's own configuration says, and held
// against the pixels the reference's preprocessing made of it.
ModelInput PreparedPicture(const GoldenCase& golden, const VitModel& model) {
  REQUIRE(golden.image.has_value());
  const auto file = MappedFile::Open(golden.image->string());
  const InputSpec spec = {model.preprocess, model.config.patch_size, model.InputSize()};
  ModelInput input = PrepareImage(DecodeImage(file->bytes()).image, spec, FitOf(golden));
  if (golden.Expects("pixel_values")) {
    constexpr double kPixels = 1e-6;
    const SharedTensor expected = golden.Expected("pixel_values");
    REQUIRE(expected.values().size() == input.pixels.values.size());
    double worst = 0;
    for (size_t i = 0; i < expected.values().size(); ++i) {
      worst = std::max(worst, std::abs(double{expected.values()[i]} - input.pixels.values[i]));
    }
    INFO("prepared pixels");
    CHECK(worst <= kPixels);
  }
  return input;
}

ModelInput InputOf(const GoldenCase& golden, const VitModel& model) {
  if (golden.input == "image") return PreparedPicture(golden, model);
  const SharedTensor pixels = golden.Expected("pixel_values");
  Tensor copy(pixels.shape(), {pixels.values().begin(), pixels.values().end()});
  return PrepareTensor(std::move(copy), model.config.patch_size);
}

CaptureRequest RequestFor(int num_layers) {
  CaptureRequest request;
  request.layers = UpTo(num_layers);
  request.wants.attention = request.wants.scores = request.wants.fused = QueryRows::All();
  request.wants.tokens = request.wants.output = true;
  request.outputs = {true, true, true, true, true};
  return request;
}

// One model of a case, run.
struct Result {
  VitModel model;
  AttentionRecord record;
  int num_layers() const { return model.config.num_layers; }
};

Result RunCase(const GoldenCase& golden, const fs::path& path) {
  VitModel model = Load(golden, path);
  const ModelInput input = InputOf(golden, model);
  EncodeSettings settings;
  if (golden.scale == "none") settings.score_scale = 1.0F;
  const int num_layers = model.config.num_layers;
  const PreparedModel prepared(model);
  AttentionRecord record = Encode(prepared, input, RequestFor(num_layers), 2, settings);
  return {std::move(model), std::move(record)};
}

// The class token's row of every layer and head, or of a one-layer model its
// first head's alone.
std::vector<float> ClassRows(const Result& result) {
  std::vector<float> rows;
  const auto n = static_cast<size_t>(result.record.num_tokens());
  for (int layer = 0; layer < result.num_layers(); ++layer) {
    const std::vector<float>& weights = result.record.attention(layer).values;
    for (size_t head = 0; head < weights.size() / (n * n); ++head) {
      const auto row = weights.begin() + static_cast<int64_t>(head * n * n);
      rows.insert(rows.end(), row, row + static_cast<int64_t>(n));
    }
  }
  return rows;
}

// r <- r . rownorm(fused + I), from the last layer to the first.
std::vector<float> RolloutRow(const Result& result) {
  const auto n = static_cast<size_t>(result.record.num_tokens());
  std::vector<double> row(n, 0.0);
  row[0] = 1;
  for (int layer = result.num_layers(); layer-- > 0;) {
    const std::vector<float>& fused = result.record.fused(layer).values;
    std::vector<double> next(n, 0.0);
    for (size_t i = 0; i < n; ++i) {
      double sum = 1;
      for (size_t j = 0; j < n; ++j) sum += fused[i * n + j];
      for (size_t j = 0; j < n; ++j) next[j] += row[i] * fused[i * n + j] / sum;
      next[i] += row[i] / sum;
    }
    row = next;
  }
  return {row.begin(), row.end()};
}

std::vector<float> OutputOf(const Result& result, OutputKind kind) {
  const Tensor* output = result.record.output(kind);
  return output == nullptr ? std::vector<float>() : output->values;
}

// What was computed for an expected tensor, and what it may be off by.
struct Found {
  std::vector<float> values;
  double tolerance = 0;   // absolute, or
  bool relative = false;  // of the largest magnitude expected
};

Found FindValues(const Result& result, const std::string& name, double weight_tolerance) {
  constexpr double kRelative = 1e-5;
  constexpr double kLogits = 1e-4;
  const AttentionRecord& record = result.record;
  const size_t dot = name.rfind('.');
  const std::string kind = name.substr(0, dot);
  const int layer =
      dot == std::string::npos ? -1 : std::atoi(name.c_str() + static_cast<int64_t>(dot) + 1);
  if (kind == "attention" && layer >= 0) return {record.attention(layer).values, weight_tolerance};
  if (kind == "scores") return {record.scores(layer).values, kRelative, true};
  if (kind == "tokens") return {record.matrix(layer, LayerMatrix::kTokens).values, kRelative, true};
  if (kind == "output") return {record.matrix(layer, LayerMatrix::kOutput).values, kRelative, true};
  if (name == "class_rows" || name == "class_row") return {ClassRows(result), weight_tolerance};
  if (name == "rollout_class_row") return {RolloutRow(result), weight_tolerance};
  if (name == "logits") return {OutputOf(result, OutputKind::kLogits), kLogits, true};
  if (name == "pool_attention") {
    return {OutputOf(result, OutputKind::kPoolAttention), weight_tolerance};
  }
  if (name == "image_embedding") {
    return {OutputOf(result, OutputKind::kImageEmbedding), kRelative, true};
  }
  if (name == "class_token_output") {
    return {OutputOf(result, OutputKind::kClassTokenOutput), kRelative, true};
  }
  const std::vector<float> hidden = OutputOf(result, OutputKind::kLastHiddenState);
  if (name == "last_hidden_state") return {hidden, kRelative, true};
  if (name == "last_hidden_class") {
    return {{hidden.begin(), hidden.begin() + result.model.config.embed_dim}, kLogits, true};
  }
  FAIL("no comparison for the expected tensor " << name);
  return {};
}

void Compare(const Result& result, const std::string& name, const SharedTensor& expected,
             double weight_tolerance) {
  INFO(name);
  const Found found = FindValues(result, name, weight_tolerance);
  REQUIRE(found.values.size() == expected.values().size());
  double largest = 0;
  double worst = 0;
  for (size_t i = 0; i < found.values.size(); ++i) {
    largest = std::max(largest, std::abs(double{expected.values()[i]}));
    const double off = std::abs(double{found.values[i]} - expected.values()[i]);
    worst = std::isnan(off) ? off : std::max(worst, off);
  }
  CHECK(worst <= found.tolerance * (found.relative ? largest : 1.0));
}

// Cases of several models name their tensors "<model>.<what>".
std::string Within(const GoldenCase& golden, const fs::path& model, const std::string& name) {
  if (golden.models.size() == 1) return name;
  const std::string stem = model.stem().string() + ".";
  return name.starts_with(stem) ? name.substr(stem.size()) : "";
}

// The most probable classes of a case that lists them, by the model's labels.
void CheckTop(const GoldenCase& golden, const Result& result) {
  const std::vector<float> logits = OutputOf(result, OutputKind::kLogits);
  double sum = 0;
  const float largest = logits.empty() ? 0 : *std::max_element(logits.begin(), logits.end());
  for (float logit : logits) sum += std::exp(double{logit} - largest);
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < logits.size(); ++i) {
    order.emplace_back(-std::exp(double{logits[i]} - largest) / sum, i);
  }
  std::sort(order.begin(), order.end());
  REQUIRE(order.size() >= golden.top5.size());
  for (size_t i = 0; i < golden.top5.size(); ++i) {
    INFO("class " << i << " of the most probable");
    const auto& [label, probability] = golden.top5[i];
    CHECK(result.model.labels.at(order[i].second).find(label) != std::string::npos);
    CHECK(-order[i].first == Approx(probability).margin(1e-4));
  }
}

void CheckCase(const GoldenCase& golden) {
  INFO("golden case " << golden.name << " (" << golden.library << ") " << golden.note);
  for (const fs::path& path : golden.models) {
    try {
      const Result result = RunCase(golden, path);
      for (const std::string& full_name : golden.expected_names()) {
        const std::string name = Within(golden, path, full_name);
        if (name.empty() || name == "pixel_values" || IsOfAnalysis(name)) continue;
        Compare(result, name, golden.Expected(full_name), golden.tolerance);
      }
      CheckTop(golden, result);
    } catch (const Error& error) {
      FAIL_CHECK("cannot be run: " << error.what());
    }
  }
}

TEST_CASE("every golden case with a model: attention and outputs as the reference has them") {
  int checked = 0;
  for (const GoldenCase& golden : GoldenCases()) {
    if (golden.models.empty()) continue;
    CheckCase(golden);
    ++checked;
  }
  if (checked > 0) WARN(checked << " golden cases");
}

TEST_CASE("golden cases of each family hold with every instruction set of this machine") {
  for (const std::string& name : ops::InstructionSets()) {
    INFO(name);
    ops::LimitInstructionSet(name);
    for (const char* prefix : {"json-", "timm-eva02", "hf-dinov3", "hf-siglip-vision"}) {
      for (const GoldenCase& golden : GoldenCases(prefix)) CheckCase(golden);
    }
    ops::LimitInstructionSet("");
  }
}

double Correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  double sums[5] = {};
  for (size_t i = 0; i < a.size(); ++i) {
    sums[0] += a[i];
    sums[1] += b[i];
    sums[2] += a[i] * a[i];
    sums[3] += b[i] * b[i];
    sums[4] += a[i] * b[i];
  }
  const double covariance = sums[4] - sums[0] * sums[1] / n;
  return covariance /
         std::sqrt((sums[2] - sums[0] * sums[0] / n) * (sums[3] - sums[1] * sums[1] / n));
}

// The class token's row of the last layer over the patches, mean over heads.
std::vector<double> ClassMap(const VitModel& model, const ModelInput& input, Precision precision) {
  const int last = model.config.num_layers - 1;
  CaptureRequest request;
  request.layers = {last};
  request.wants.fused = QueryRows::Only({model.config.tokens.class_token()});
  const PreparedModel prepared(model, true, precision);
  const AttentionRecord record = Encode(prepared, input, request, 2);
  const std::vector<float>& row = record.fused(last).values;
  return {row.begin() + model.config.tokens.first_patch_token(), row.end()};
}

TEST_CASE("bfloat16 maps of the real models correlate with float32's to 0.999") {
  int checked = 0;
  for (const char* prefix : {"deit_tiny-", "dinov2_focus-"}) {
    for (const GoldenCase& golden : GoldenCases(prefix)) {
      INFO(golden.name);
      const VitModel model = Load(golden, golden.model());
      const ModelInput input = InputOf(golden, model);
      const std::vector<double> exact = ClassMap(model, input, Precision::kFloat32);
      const std::vector<double> rounded = ClassMap(model, input, Precision::kBfloat16);
      CHECK(Correlation(exact, rounded) >= 0.999);
      CHECK(exact != rounded);
      ++checked;
    }
  }
  if (checked > 0) CHECK(checked >= 7);
}

}  // namespace
}  // namespace attnmap::test
