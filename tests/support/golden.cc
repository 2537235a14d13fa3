#include "support/golden.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "attnmap/formats/arrays.h"
#include "support/catch.h"
#include "support/shared.h"

namespace attnmap::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

RowsCols ToRowsCols(const Json& json) { return {json.at(0).get<int>(), json.at(1).get<int>()}; }

template <typename T>
std::optional<T> Optional(const Json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  return json.at(key).get<T>();
}

std::vector<fs::path> Models(const Json& json, const fs::path& folder) {
  std::vector<fs::path> models;
  if (json.contains("models")) {
    for (const Json& model : json.at("models")) models.push_back(folder / model.get<std::string>());
  } else if (json.contains("model")) {
    models.push_back(folder / json.at("model").get<std::string>());
  } else if (fs::exists(folder / "model")) {
    models.push_back(folder / "model");
  } else if (fs::exists(folder / "weights.json")) {
    models.push_back(folder / "weights.json");
  }
  for (fs::path& model : models) model = model.lexically_normal();
  return models;
}

std::vector<GoldenCase::Resize> Resizes(const Json& json, const fs::path& folder) {
  std::vector<GoldenCase::Resize> resizes;
  for (const Json& one : json.value("cases", Json::array())) {
    resizes.push_back({folder / one.at("input").get<std::string>(), one.at("filter"),
                       RowsCols{one.at("rows"), one.at("cols")},
                       folder / one.at("expected").get<std::string>()});
  }
  return resizes;
}

}  // namespace

const fs::path& GoldenCase::model() const {
  INFO("golden case " << name);
  REQUIRE(models.size() == 1);
  return models.front();
}

std::vector<std::string> GoldenCase::expected_names() const {
  std::vector<std::string> names;
  if (!expected_) return names;
  for (const TensorInfo& info : expected_->tensors()) names.push_back(info.name);
  return names;
}

bool GoldenCase::Expects(std::string_view tensor) const {
  const auto names = expected_names();
  return std::find(names.begin(), names.end(), tensor) != names.end();
}

SharedTensor GoldenCase::Expected(std::string_view tensor) const {
  const auto names = expected_names();
  const auto found = std::find(names.begin(), names.end(), tensor);
  if (found == names.end()) FAIL("golden case " << name << " expects no " << tensor);
  return expected_->Load(static_cast<size_t>(found - names.begin()));
}

GoldenCase ReadGolden(const fs::path& folder) {
  std::ifstream stream(folder / "case.json");
  const Json json = Json::parse(stream);
  GoldenCase golden;
  golden.name = folder.filename().string();
  golden.folder = folder;
  golden.family = json.value("family", "");
  golden.library = json.value("library", "");
  golden.note = json.value("note", "");
  golden.input = json.value("input", "");
  golden.fit = json.value("fit", "");
  golden.scale = json.value("scale", "sqrt");
  golden.num_heads = json.value("num_heads", 0);
  golden.tolerance = json.value("tolerance", 1e-5);
  golden.short_side = Optional<int>(json, "short_side");
  golden.class_index = Optional<int>(json, "class_index");
  if (json.contains("image")) golden.image = folder / json.at("image").get<std::string>();
  if (json.contains("size")) golden.size = ToRowsCols(json.at("size"));
  if (json.contains("grid")) golden.grid = ToRowsCols(json.at("grid"));
  for (const Json& entry : json.value("top5", Json::array())) {
    golden.top5.emplace_back(entry.at(0), entry.at(1));
  }
  golden.models = Models(json, folder);
  golden.resizes = Resizes(json, folder);
  const fs::path expected = folder / "expected.safetensors";
  if (fs::exists(expected)) golden.expected_ = OpenSafetensors(MappedFile::Open(expected.string()));
  return golden;
}

std::vector<GoldenCase> GoldenCases(std::string_view prefix) {
  std::vector<GoldenCase> cases;
  const auto folder = SharedFolder("golden");
  if (!folder) return cases;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(*folder)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    if (fs::exists(entry.path() / "case.json")) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) cases.push_back(ReadGolden(path));
  return cases;
}

double LargestDifference(const SharedTensor& a, const SharedTensor& b) {
  if (a.shape() != b.shape()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (size_t i = 0; i < a.values().size(); ++i) {
    const double difference = std::abs(double{a.values()[i]} - double{b.values()[i]});
    if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, difference);
  }
  return largest;
}

}  // namespace attnmap::test
