#include "attnmap/export/export.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attnmap/core/error.h"
#include "support/catch.h"

namespace attnmap {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

ExportedArray Map() {
  return {"map", SharedTensor(Tensor({2, 3}, {0.1F, -2, 3.5F, 1e-10F, 16777216, 0})), 11, "mean",
          "class"};
}

ExportedArray Attention() {
  return {"attention.3", SharedTensor(Tensor({2, 1, 2}, {0.25F, 0.75F, 1, 0})), 3, "0,3",
          "patch 3,5"};
}

ExportedArray Weight() { return {"pos_embed", SharedTensor(Tensor({3}, {1, 2, 4})), {}, "", ""}; }

std::vector<ExportedArray> All() { return {Map(), Attention(), Weight()}; }

const std::string kMapJson =
    R"({"name": "map", "shape": [2, 3], "layer": 11, "head": "mean", "query": "class", )"
    R"("data": [[0.1,-2,3.5],[1e-10,16777216,0]]})";
const std::string kAttentionJson =
    R"({"name": "attention.3", "shape": [2, 1, 2], "layer": 3, "head": "0,3", )"
    R"("query": "patch 3,5", "data": [[[0.25,0.75]],[[1,0]]]})";
const std::string kWeightJson =
    R"({"name": "pos_embed", "shape": [3], "layer": null, "head": null, "query": null, )"
    R"("data": [1,2,4]})";

std::string Refusal(ArrayFormat format, const std::vector<ExportedArray>& arrays) {
  try {
    ExportBytes(format, arrays);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string Raw(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

std::string ExpectedNpy(std::string dict, const std::vector<float>& values) {
  dict.resize(128 - 10 - 1, ' ');
  dict += '\n';
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + dict + Raw(values);
}

template <typename T>
T ReadAt(const std::string& bytes, size_t at) {
  T value;
  REQUIRE(at + sizeof(T) <= bytes.size());
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

// The entries of a ZIP archive of stored entries, by its central directory.
std::map<std::string, std::string> StoredEntries(const std::string& zip) {
  std::map<std::string, std::string> entries;
  const size_t end = zip.rfind(std::string("PK\x05\x06", 4));
  REQUIRE(end != std::string::npos);
  size_t at = ReadAt<uint32_t>(zip, end + 16);
  for (int i = 0; i < ReadAt<uint16_t>(zip, end + 10); ++i) {
    REQUIRE(zip.compare(at, 4, std::string("PK\x01\x02", 4)) == 0);
    REQUIRE(ReadAt<uint16_t>(zip, at + 10) == 0);  // stored
    const size_t size = ReadAt<uint32_t>(zip, at + 24);
    const size_t name = ReadAt<uint16_t>(zip, at + 28);
    const size_t local = ReadAt<uint32_t>(zip, at + 42);
    const size_t data =
        local + 30 + ReadAt<uint16_t>(zip, local + 26) + ReadAt<uint16_t>(zip, local + 28);
    entries[zip.substr(at + 46, name)] = zip.substr(data, size);
    at += 46 + name + ReadAt<uint16_t>(zip, at + 30) + ReadAt<uint16_t>(zip, at + 32);
  }
  return entries;
}

std::string ReadFileText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A folder of its own for each test, gone afterwards.
class Folder {
 public:
  explicit Folder(const char* name) : path_(fs::temp_directory_path() / name) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(const char* name) const { return path_ / name; }
  int files() const {
    return static_cast<int>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

// A python3 that has numpy, or "".
std::string NumpyPython() {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    if (std::system((std::string(python) + " -c 'import numpy' 2>/dev/null").c_str()) == 0) {
      return python;
    }
  }
  return "";
}

}  // namespace

TEST_CASE("JSON of one matrix is an object with its name, shape, place and nested data") {
  CHECK(ExportBytes(ArrayFormat::kJson, std::vector{Map()}) == kMapJson + "\n");
  CHECK(ExportBytes(ArrayFormat::kJson, std::vector{Attention()}) == kAttentionJson + "\n");
}

TEST_CASE("JSON of a matrix that belongs to no layer, head or query says null") {
  CHECK(ExportBytes(ArrayFormat::kJson, std::vector{Weight()}) == kWeightJson + "\n");
}

TEST_CASE("JSON of several matrices is an object keyed by name") {
  const std::string text = ExportBytes(ArrayFormat::kJson, All());
  CHECK(text == "{\n\"map\": " + kMapJson + ",\n\"attention.3\": " + kAttentionJson +
                    ",\n\"pos_embed\": " + kWeightJson + "\n}\n");
  const json parsed = json::parse(text);
  CHECK(parsed.at("attention.3").at("data").at(1).at(0).at(0) == 1);
  CHECK(ExportBytes(ArrayFormat::kJson, {}) == "{\n}\n");
}

TEST_CASE("JSON keeps every float32 and stays JSON where a number is not finite") {
  const float tiny = std::numeric_limits<float>::denorm_min();
  const float third = 1.0F / 3;
  const ExportedArray array{"x",
                            SharedTensor(Tensor({4}, {tiny, third, std::nanf(""),
                                                      std::numeric_limits<float>::infinity()})),
                            {},
                            "",
                            ""};
  const json data = json::parse(ExportBytes(ArrayFormat::kJson, std::vector{array})).at("data");
  CHECK(data.at(0).get<float>() == tiny);
  CHECK(data.at(1).get<float>() == third);
  CHECK(data.at(2).is_null());
  CHECK(data.at(3).is_null());
}

TEST_CASE("JSON escapes names that need it") {
  ExportedArray array = Weight();
  array.name = "a \"b\"\n\xFF";
  const json parsed = json::parse(ExportBytes(ArrayFormat::kJson, std::vector{array}));
  CHECK(parsed.at("name") == "a \"b\"\n\xEF\xBF\xBD");
}

TEST_CASE("npy of one matrix is numpy's format, byte for byte") {
  CHECK(ExportBytes(ArrayFormat::kNpy, std::vector{Map()}) ==
        ExpectedNpy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                    {0.1F, -2, 3.5F, 1e-10F, 16777216, 0}));
  CHECK(ExportBytes(ArrayFormat::kNpy, std::vector{Attention()}) ==
        ExpectedNpy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 2), }",
                    {0.25F, 0.75F, 1, 0}));
}

TEST_CASE("csv of a matrix is a line a row") {
  CHECK(ExportBytes(ArrayFormat::kCsv, std::vector{Map()}) == "0.1,-2,3.5\n1e-10,16777216,0\n");
  CHECK(ExportBytes(ArrayFormat::kCsv, std::vector{Weight()}) == "1,2,4\n");
}

TEST_CASE("npz holds an npy for each matrix, by name") {
  const auto entries = StoredEntries(ExportBytes(ArrayFormat::kNpz, All()));
  REQUIRE(entries.size() == 3);
  CHECK(entries.at("map.npy") == ExportBytes(ArrayFormat::kNpy, std::vector{Map()}));
  CHECK(entries.at("attention.3.npy") == ExportBytes(ArrayFormat::kNpy, std::vector{Attention()}));
  CHECK(entries.at("pos_embed.npy") == ExportBytes(ArrayFormat::kNpy, std::vector{Weight()}));
}

TEST_CASE("safetensors holds each matrix by name, shape and little-endian numbers") {
  const std::string bytes = ExportBytes(ArrayFormat::kSafetensors, All());
  const uint64_t length = ReadAt<uint64_t>(bytes, 0);
  const json header = json::parse(bytes.substr(8, length));
  for (const ExportedArray& array : All()) {
    const json& entry = header.at(array.name);
    CHECK(entry.at("dtype") == "F32");
    CHECK(entry.at("shape").get<Shape>() == array.tensor.shape());
    const size_t begin = entry.at("data_offsets").at(0);
    const size_t end = entry.at("data_offsets").at(1);
    const auto values = array.tensor.values();
    CHECK(bytes.substr(8 + length + begin, end - begin) == Raw({values.begin(), values.end()}));
  }
}

TEST_CASE("npy and csv refuse more or less than one matrix, before anything is written") {
  CHECK(Refusal(ArrayFormat::kNpy, All()) ==
        "a .npy file holds one matrix, 3 were chosen: choose one, or write npz, safetensors or "
        "json");
  CHECK(Refusal(ArrayFormat::kCsv, {}) ==
        "a .csv file holds one matrix, 0 were chosen: choose one, or write npz, safetensors or "
        "json");
  CHECK_THROWS_AS(ExportBytes(ArrayFormat::kNpy, All()), UsageError);
  const Folder folder("attnmap_export_refused");
  CHECK_THROWS_AS(ExportArrays((folder / "out.npy").string(), ArrayFormat::kNpy, All()),
                  UsageError);
  CHECK(folder.files() == 0);
}

TEST_CASE("csv refuses more than two axes") {
  CHECK(Refusal(ArrayFormat::kCsv, {Attention()}) ==
        "a .csv file holds a matrix of at most two axes, attention.3 is 2 x 1 x 2: write npy, npz, "
        "safetensors or json");
  CHECK_THROWS_AS(ExportBytes(ArrayFormat::kCsv, std::vector{Attention()}), UsageError);
}

TEST_CASE("Two matrices of one name, and one that is absent, are refused") {
  for (ArrayFormat format : {ArrayFormat::kJson, ArrayFormat::kNpz, ArrayFormat::kSafetensors}) {
    CHECK(Refusal(format, {Map(), Map()}) == "two matrices are called map");
    CHECK(Refusal(format, {ExportedArray{"x", {}, {}, "", ""}}) ==
          "there is nothing in the matrix x");
  }
}

TEST_CASE("A file holds what standard output would get, and nothing else is left behind") {
  const Folder folder("attnmap_export_files");
  const std::vector<ExportedArray> one = {Map()};
  const std::pair<ArrayFormat, const char*> formats[] = {{ArrayFormat::kJson, "a.json"},
                                                         {ArrayFormat::kNpy, "a.npy"},
                                                         {ArrayFormat::kNpz, "a.npz"},
                                                         {ArrayFormat::kCsv, "a.csv"},
                                                         {ArrayFormat::kSafetensors, "a.st"}};
  for (const auto& [format, name] : formats) {
    ExportArrays((folder / name).string(), format, one);
    CHECK(ReadFileText(folder / name) == ExportBytes(format, one));
  }
  CHECK(folder.files() == 5);
}

TEST_CASE("Writing to a folder that does not exist names the path") {
  const Folder folder("attnmap_export_missing");
  const std::string path = (folder / "no/out.json").string();
  for (ArrayFormat format : {ArrayFormat::kJson, ArrayFormat::kNpz, ArrayFormat::kSafetensors,
                             ArrayFormat::kNpy, ArrayFormat::kCsv}) {
    try {
      ExportArrays(path, format, std::vector{Map()});
      FAIL("written to a folder that does not exist");
    } catch (const Error& error) {
      CHECK(std::string(error.what()).find("no/out.json") != std::string::npos);
    }
  }
}

TEST_CASE("numpy reads what is exported") {
  const std::string python = NumpyPython();
  if (python.empty()) {
    WARN("skipped: no python3 with numpy");
    return;
  }
  const Folder folder("attnmap_export_numpy");
  ExportArrays((folder / "a.npz").string(), ArrayFormat::kNpz, All());
  ExportArrays((folder / "a.npy").string(), ArrayFormat::kNpy, std::vector{Attention()});
  ExportArrays((folder / "a.csv").string(), ArrayFormat::kCsv, std::vector{Map()});
  std::ofstream(folder / "check.py") << R"(
import json, os, numpy as np
here = os.path.dirname(os.path.abspath(__file__))
npz = np.load(os.path.join(here, "a.npz"))
npy = np.load(os.path.join(here, "a.npy"))
csv = np.loadtxt(os.path.join(here, "a.csv"), delimiter=",", dtype=np.float32)
table = np.array([[0.1, -2, 3.5], [1e-10, 16777216, 0]], np.float32)
assert sorted(npz.files) == ["attention.3", "map", "pos_embed"], npz.files
assert npz["map"].dtype == np.float32 and np.array_equal(npz["map"], table)
assert np.array_equal(csv, table)
assert npy.shape == (2, 1, 2) and np.array_equal(npy, npz["attention.3"])
assert npz["pos_embed"].tolist() == [1, 2, 4]
)";
  CHECK(std::system((python + " " + (folder / "check.py").string()).c_str()) == 0);
}

}  // namespace attnmap
