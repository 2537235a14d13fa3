// What is written as weights reads back the same.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "attnmap/formats/dtype.h"
#include "attnmap/formats/json_weights.h"
#include "support/catch.h"
#include "support/temporary.h"

namespace attnmap {
namespace {

using Catch::Matchers::Contains;
using test::TemporaryFolder;

std::unique_ptr<TensorArchive> FromBytes(std::vector<uint8_t> bytes) {
  return OpenSafetensors(MappedFile::FromBytes(std::move(bytes), "m"));
}

const std::vector<float> kSome = {0.1F, -0.2F, 3e-39F, 3.4028235e38F, -0.0F, 1.0F / 3};

// Bit for bit.
bool Same(std::span<const float> a, std::span<const float> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
  });
}

std::vector<ArrayToWrite> SomeArrays() {
  return {{"b", {2, 3}, kSome},
          {"a \"\n\xc3\xa9", {}, std::span(kSome).first(1)},
          {"none", {0, 4}, {}}};
}

TEST_CASE("safetensors: what is written is read, aligned, with its metadata") {
  const auto arrays = SomeArrays();
  const auto bytes = SafetensorsBytes(arrays, {DataType::kF32, {{"k", "v \"1\"\n"}, {"l", ""}}});
  CHECK(bytes[0] % 8 == 0);
  const auto archive = FromBytes(bytes);
  REQUIRE(archive->tensors().size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(archive->tensors()[i].name == arrays[i].name);
    CHECK(archive->tensors()[i].shape == arrays[i].shape);
    CHECK(Same(archive->Load(i).values(), arrays[i].values));
  }
  CHECK(archive->Text("metadata:k") == "v \"1\"\n");
  CHECK(archive->Text("metadata:l") == "");
  CHECK(FromBytes(SafetensorsBytes({}))->tensors().empty());
}

TEST_CASE("safetensors: halves are rounded to nearest even") {
  std::vector<float> values(20000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i)) * 100;
  const std::vector<ArrayToWrite> arrays = {{"w", {20000}, values}};
  const auto half = FromBytes(SafetensorsBytes(arrays, {DataType::kF16, {}}));
  const auto brain = FromBytes(SafetensorsBytes(arrays, {DataType::kBF16, {}}));
  CHECK(half->tensors()[0].type == DataType::kF16);
  CHECK(brain->tensors()[0].type == DataType::kBF16);
  bool right = true;
  const auto halves = half->Load(0);
  const auto brains = brain->Load(0);
  for (size_t i = 0; i < values.size(); ++i) {
    right &= halves.values()[i] == HalfToFloat(FloatToHalf(values[i]));
    right &= brains.values()[i] == Bfloat16ToFloat(FloatToBfloat16(values[i]));
  }
  CHECK(right);
}

TEST_CASE("safetensors: what cannot be said is refused") {
  const std::vector<float> large = {1, 65520};
  const std::vector<ArrayToWrite> arrays = {{"w", {2}, large}};
  CHECK_THROWS_WITH(SafetensorsBytes(arrays, {DataType::kF16, {}}),
                    Contains("'w'") && Contains("65520") && Contains("f16"));
  CHECK_NOTHROW(SafetensorsBytes(arrays, {DataType::kBF16, {}}));
  CHECK_THROWS_WITH(SafetensorsBytes(arrays, {DataType::kF64, {}}), Contains("f64"));
  const std::vector<ArrayToWrite> twice = {{"w", {2}, large}, {"w", {2}, large}};
  CHECK_THROWS_WITH(SafetensorsBytes(twice), Contains("'w'"));
  const std::vector<ArrayToWrite> short_of = {{"w", {3}, large}};
  CHECK_THROWS_WITH(SafetensorsBytes(short_of), Contains("2 numbers"));
  const std::vector<ArrayToWrite> reserved = {{"__metadata__", {2}, large}};
  CHECK_THROWS_WITH(SafetensorsBytes(reserved), Contains("__metadata__"));
  const TemporaryFolder folder;
  CHECK_THROWS_AS(WriteSafetensors(folder / "x.safetensors", arrays, {DataType::kF16, {}}), Error);
  CHECK(folder.List().empty());
}

TEST_CASE("safetensors: shards hold at most the size asked for, an index names them") {
  const TemporaryFolder folder;
  const std::vector<float> values(10);
  const std::vector<ArrayToWrite> arrays = {{"a", {5}, std::span(values).first(5)},
                                            {"b", {4}, std::span(values).first(4)},
                                            {"c", {10}, values},
                                            {"d", {1}, std::span(values).first(1)}};
  // 20, 16, 40 and 4 bytes.
  const auto paths = WriteSafetensorsShards(folder / "m.safetensors", arrays, 36, {});
  CHECK(folder.List() ==
        "m-00001-of-00003.safetensors m-00002-of-00003.safetensors m-00003-of-00003.safetensors "
        "m.safetensors.index.json");
  REQUIRE(paths.size() == 4);
  CHECK(paths.back() == folder / "m.safetensors.index.json");
  CHECK(OpenSafetensors(MappedFile::Open(paths[0]))->tensors().size() == 2);
  CHECK(OpenSafetensors(MappedFile::Open(paths[1]))->tensors()[0].name == "c");
  const auto index = nlohmann::json::parse(test::ReadText(paths.back()));
  CHECK(index["metadata"]["total_size"] == 80);
  CHECK(index["weight_map"]["b"] == "m-00001-of-00003.safetensors");
  CHECK(index["weight_map"]["d"] == "m-00003-of-00003.safetensors");
  CHECK(index["weight_map"].size() == 4);
}

TEST_CASE("safetensors: shards that cannot be written leave nothing behind") {
  const TemporaryFolder folder;
  const std::vector<float> values = {1, 2, 1e9F};
  const std::vector<ArrayToWrite> arrays = {{"a", {2}, std::span(values).first(2)},
                                            {"c", {3}, values}};
  CHECK_THROWS_AS(WriteSafetensorsShards(folder / "m.safetensors", arrays, 1, {DataType::kF16, {}}),
                  Error);
  CHECK(folder.List().empty());
}

TEST_CASE("npz: what is written is read, with the header that came with it") {
  const TemporaryFolder folder;
  const std::vector<ArrayToWrite> arrays = {{"Transformer/block_0/kernel", {2, 3}, kSome},
                                            {"scalar", {}, std::span(kSome).first(1)}};
  WriteNpz(folder / "x.npz", arrays, R"({"version":1})");
  const auto archive = OpenNpz(MappedFile::Open(folder / "x.npz"));
  REQUIRE(archive->tensors().size() == 2);
  CHECK(archive->tensors()[0].name == "Transformer/block_0/kernel");
  CHECK(archive->tensors()[0].shape == Shape{2, 3});
  CHECK(Same(archive->Load(0).values(), kSome));
  CHECK(archive->Load(1).shape().empty());
  CHECK(archive->Text("config") == R"({"version":1})");
  const auto bytes = NpzBytes(arrays);
  CHECK(!OpenNpz(MappedFile::FromBytes(bytes, "x"))->Text("config"));
}

std::vector<NamedTensor> SomeTensors() {
  return {{"blocks.0.norm1.weight", SharedTensor(Tensor({2, 3}, kSome))},
          {"odd \"\n\xc3\xa9", SharedTensor(Tensor({1, 2, 1}, {1, 2}))},
          {"scalar", SharedTensor(Tensor(Shape{}, {5}))},
          {"none", SharedTensor(Tensor({2, 0}, {}))}};
}

TEST_CASE("JSON weights: the full form, nested or flat, reads back bit for bit") {
  const TemporaryFolder folder;
  const std::string header = R"({"format":"attnmap-weights","version":1,"config":{"a":[1]}})";
  const auto tensors = SomeTensors();
  for (bool nested : {false, true}) {
    INFO("nested " << nested);
    WriteJsonWeights(folder / "w.json", header, tensors, nested);
    const auto archive = OpenJsonWeights(MappedFile::Open(folder / "w.json"));
    CHECK(archive->Text("config") == header);
    REQUIRE(archive->tensors().size() == tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      CHECK(archive->tensors()[i].name == tensors[i].name);
      CHECK(archive->tensors()[i].shape == tensors[i].tensor.shape());
      CHECK(Same(archive->Load(i).values(), tensors[i].tensor.values()));
    }
    // Any JSON reader takes it.
    const auto json = nlohmann::json::parse(test::ReadText(folder / "w.json"));
    CHECK(json["tensors"]["blocks.0.norm1.weight"].is_array() == nested);
  }
  WriteJsonWeights(folder / "w.json", " {\n} \n", {});
  CHECK(nlohmann::json::parse(test::ReadText(folder / "w.json")) == R"({"tensors":{}})"_json);
}

TEST_CASE("JSON weights: a large tensor is written in pieces and reads back") {
  const TemporaryFolder folder;
  Tensor tensor({400, 500});
  for (size_t i = 0; i < tensor.values.size(); ++i)
    tensor.values[i] = 1.0F / static_cast<float>(i + 1);
  const std::vector<NamedTensor> tensors = {{"w", SharedTensor(tensor)}};
  const std::string header = R"({"format":"attnmap-weights","version":1,"config":{}})";
  for (bool nested : {false, true}) {
    WriteJsonWeights(folder / "w.json", header, tensors, nested);
    const auto archive = OpenJsonWeights(MappedFile::Open(folder / "w.json"));
    CHECK(archive->tensors()[0].shape == Shape{400, 500});
    CHECK(Same(archive->Load(0).values(), tensor.values));
  }
}

TEST_CASE("JSON weights: the one-layer form reads back, heads together") {
  const TemporaryFolder folder;
  std::vector<NamedTensor> tensors = {{"W_patch", SharedTensor(Tensor({3, 2}, kSome))}};
  for (const char* head : {"0", "1"}) {
    for (const char* key : {"W_Q", "W_K", "W_V"}) {
      tensors.push_back({std::string("heads.") + head + "." + key,
                         SharedTensor(Tensor({2, 1}, {head[0] - '0' + 0.5F, 1}))});
    }
  }
  tensors.push_back({"b_O", SharedTensor(Tensor({2}, {1, 2}))});
  WriteJsonLayer(folder / "l.json", R"({"patch_size":1})", tensors);
  const auto archive = OpenJsonWeights(MappedFile::Open(folder / "l.json"));
  CHECK(archive->format() == "json-layer");
  CHECK(archive->Text("config") == R"({"patch_size":1})");
  REQUIRE(archive->tensors().size() == tensors.size());
  for (const TensorInfo& info : archive->tensors()) {
    const auto written = std::find_if(tensors.begin(), tensors.end(),
                                      [&](const NamedTensor& t) { return t.name == info.name; });
    REQUIRE(written != tensors.end());
    const auto at = static_cast<size_t>(&info - archive->tensors().data());
    CHECK(info.shape == written->tensor.shape());
    CHECK(Same(archive->Load(at).values(), written->tensor.values()));
  }
  const auto json = nlohmann::json::parse(test::ReadText(folder / "l.json"));
  CHECK(json["heads"].size() == 2);
}

TEST_CASE("JSON weights: numbers JSON cannot say are refused, nothing is left") {
  const TemporaryFolder folder;
  const std::vector<NamedTensor> tensors = {{"w", SharedTensor(Tensor({1}, {NAN}))}};
  CHECK_THROWS_WITH(WriteJsonWeights(folder / "w.json", "{}", tensors),
                    Contains("'w'") && Contains("NaN"));
  const std::vector<NamedTensor> infinite = {
      {"W_Q", SharedTensor(Tensor({1}, {std::numeric_limits<float>::infinity()}))}};
  CHECK_THROWS_WITH(WriteJsonLayer(folder / "w.json", "{}", infinite), Contains("infinite"));
  CHECK_THROWS_AS(WriteJsonWeights(folder / "w.json", "[1]", {}), Error);
  CHECK(folder.List().empty());
}

}  // namespace
}  // namespace attnmap
