#ifndef ATTNMAP_TESTS_MODEL_MODEL_HELPERS_H_
#define ATTNMAP_TESTS_MODEL_MODEL_HELPERS_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/model/vit_model.h"
#include "attnmap/weights/weight_source.h"
#include "support/catch.h"

namespace attnmap {

// Different numbers for every tensor and place, exact in float32.
inline SharedTensor Ramp(Shape shape, int start) {
  Tensor tensor(std::move(shape));
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    tensor.values[i] = static_cast<float>((start * 7919 + static_cast<int>(i) * 31) % 4096) / 1024;
  }
  return SharedTensor(std::move(tensor));
}

// A weights file being made up, name by name.
struct FakeFile {
  std::map<std::string, Shape> shapes;
  std::map<std::string, SharedTensor> values;  // instead of a ramp
  std::vector<std::pair<std::string, std::string>> texts;
  std::string format = "safetensors";

  FakeFile& Add(const std::string& name, Shape shape) {
    shapes[name] = std::move(shape);
    return *this;
  }
  FakeFile& Text(const std::string& key, const std::string& text) {
    for (auto& entry : texts) {
      if (entry.first == key) {
        entry.second = text;
        return *this;
      }
    }
    texts.emplace_back(key, text);
    return *this;
  }
  std::unique_ptr<WeightSource> Source() const {
    std::vector<NamedTensor> tensors;
    int start = 1;
    for (const auto& [name, shape] : shapes) {
      const auto given = values.find(name);
      tensors.push_back({name, given != values.end() ? given->second : Ramp(shape, start++)});
    }
    return MakeMemorySource(std::move(tensors), texts, format);
  }
  VitModel Load(const LoadModelOptions& options = {}) const {
    return LoadVitModel(*Source(), options);
  }
};

// The message of the Error that `call` throws; fails where it throws none.
inline std::string MessageOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    CHECK(message.find('\n') == std::string::npos);
    return message;
  }
  FAIL("no error");
  return {};
}

inline std::string LoadError(const FakeFile& file, const LoadModelOptions& options = {}) {
  return MessageOf([&] { file.Load(options); });
}

inline bool Contains(const std::string& text, const std::string& part) {
  INFO("message: " << text << "\nexpected part: " << part);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

// The model's own forms, read back.
inline VitModel RoundTrip(const VitModel& model) {
  const auto source =
      MakeMemorySource(CanonicalTensors(model), {{"config", CanonicalHeader(model)}},
                       HasLayerForm(model.config) ? "json-layer" : "json");
  return LoadVitModel(*source);
}

inline bool SameNumbers(const SharedTensor& a, const SharedTensor& b) {
  return a.shape() == b.shape() &&
         std::equal(a.values().begin(), a.values().end(), b.values().begin());
}

// Equal models: the same header and the same canonical tensors, bit for bit.
inline void CheckSameModel(const VitModel& a, const VitModel& b) {
  CHECK(CanonicalHeader(a) == CanonicalHeader(b));
  const auto first = CanonicalTensors(a);
  const auto second = CanonicalTensors(b);
  REQUIRE(first.size() == second.size());
  for (size_t i = 0; i < first.size(); ++i) {
    INFO(first[i].name);
    CHECK(first[i].name == second[i].name);
    CHECK(SameNumbers(first[i].tensor, second[i].tensor));
  }
}

inline std::string SourceOf(const VitModel& model, const std::string& key) {
  for (const Provenance& entry : model.provenance) {
    if (entry.key == key) return entry.source;
  }
  return "";
}

}  // namespace attnmap

#endif  // ATTNMAP_TESTS_MODEL_MODEL_HELPERS_H_
