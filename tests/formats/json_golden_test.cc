#include "attnmap/formats/json_weights.h"
#include "support/catch.h"
#include "support/golden.h"

namespace attnmap {
namespace {

TEST_CASE("golden cases read: their fields, models and expected tensors") {
  size_t resizes = 0;
  size_t tensors = 0;
  for (const auto& golden : test::GoldenCases()) {
    INFO(golden.name);
    resizes += golden.resizes.size();
    for (const auto& model : golden.models) CHECK(std::filesystem::exists(model));
    CHECK(golden.models.empty() == golden.name.starts_with("resize-"));
    for (const auto& name : golden.expected_names()) {
      CHECK(golden.Expected(name).present());
      ++tensors;
    }
  }
  if (tensors > 0) CHECK(resizes > 0);
}

TEST_CASE("the golden JSON weights of both forms are read") {
  for (const auto& golden : test::GoldenCases("json-")) {
    INFO(golden.name);
    const bool full = golden.name.starts_with("json-full");
    const auto path = full ? golden.model() / "weights.json" : golden.model();
    const auto archive = OpenJsonWeights(MappedFile::Open(path.string()));
    CHECK(archive->format() == (full ? "json" : "json-layer"));
    CHECK(archive->tensors().size() >= 5);
  }
}

}  // namespace
}  // namespace attnmap
