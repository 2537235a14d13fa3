// Numbers as text, and .npy.
#include "attnmap/formats/arrays.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "attnmap/core/error.h"
#include "attnmap/formats/dtype.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using Catch::Matchers::Contains;

std::string Digits(float value) {
  std::string text;
  AppendFloat(text, value);
  return text;
}

std::string Json(const Shape& shape, std::vector<float> values) {
  std::string text;
  AppendJsonArray(text, shape, values);
  return text;
}

TEST_CASE("floats are written with the fewest digits that read back the same") {
  CHECK(Digits(0.1F) == "0.1");
  CHECK(Digits(-2.5F) == "-2.5");
  CHECK(Digits(1.0F) == "1");
  CHECK(Digits(-0.0F) == "-0");
  CHECK(Digits(1e-6F) == "1e-06");
  CHECK(Digits(0.33333334F) == "0.33333334");
  CHECK(Digits(3.4028235e38F) == "3.4028235e+38");
  CHECK(Digits(1e-45F) == "1e-45");
  CHECK(Digits(NAN) == "nan");
  CHECK(Digits(-NAN) == "nan");
  CHECK(Digits(-INFINITY) == "-inf");
  std::mt19937 random(3);
  for (int i = 0; i < 100000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (!std::isfinite(value)) continue;
    const float back = std::strtof(Digits(value).c_str(), nullptr);
    if (std::bit_cast<uint32_t>(back) != std::bit_cast<uint32_t>(value)) FAIL(Digits(value));
  }
}

TEST_CASE("JSON arrays nest as the shape says") {
  CHECK(Json({3}, {1, 2, 3}) == "[1,2,3]");
  CHECK(Json({2, 2}, {1, 2, 3, 4.5F}) == "[[1,2],[3,4.5]]");
  CHECK(Json({2, 1, 2}, {1, 2, 3, 4}) == "[[[1,2]],[[3,4]]]");
  CHECK(Json({}, {7}) == "7");
  CHECK(Json({0}, {}) == "[]");
  CHECK(Json({2, 0}, {}) == "[[],[]]");
  CHECK(Json({2}, {NAN, INFINITY}) == "[null,null]");
  CHECK_THROWS_WITH(Json({2, 2}, {1}), Contains("2 x 2"));
}

TEST_CASE("csv has a line a row and at most two dimensions") {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6.5F};
  CHECK(CsvText({2, 3}, values) == "1,2,3\n4,5,6.5\n");
  CHECK(CsvText({3, 2}, values) == "1,2\n3,4\n5,6.5\n");
  CHECK(CsvText({6}, values) == "1,2,3,4,5,6.5\n");
  CHECK(CsvText({}, std::vector<float>{7}) == "7\n");
  CHECK(CsvText({0, 3}, {}).empty());
  CHECK(CsvText({1, 2}, std::vector<float>{NAN, -INFINITY}) == "nan,-inf\n");
  CHECK_THROWS_WITH(CsvText({1, 2, 3}, values),
                    Contains("two dimensions") && Contains("1 x 2 x 3"));
}

TEST_CASE("npy: the header is numpy's, the numbers start at a multiple of 64") {
  const std::vector<float> values = {0, 1, 2, 3, 4, 5};
  const auto bytes = NpyBytes({2, 3}, values);
  const std::string text(bytes.begin(), bytes.end());
  CHECK(text.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  CHECK_THAT(text, Contains("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  "));
  CHECK(text[127] == '\n');
  CHECK(bytes.size() == 128 + 24);
  CHECK(std::memcmp(bytes.data() + 128, values.data(), 24) == 0);
  const auto vector = NpyBytes({6}, values);
  CHECK_THAT(std::string(vector.begin(), vector.end()), Contains("'shape': (6,), }"));
  const auto scalar = NpyBytes({}, std::vector<float>{1});
  CHECK_THAT(std::string(scalar.begin(), scalar.end()), Contains("'shape': (), }"));
  CHECK(NpyBytes(Shape(20, 1), std::vector<float>{1}).size() % 64 == 4);
  CHECK_THROWS_AS(NpyBytes({7}, values), Error);
}

std::unique_ptr<TensorArchive> OpenBytes(std::vector<uint8_t> bytes) {
  return OpenNpy(MappedFile::FromBytes(std::move(bytes), "x.npy"));
}

// A version 1 file with that dictionary and those numbers.
template <typename T>
std::vector<uint8_t> Npy(const std::string& dict, const std::vector<T>& values, int version = 1) {
  const std::string padded = dict + '\n';
  std::vector<uint8_t> bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<uint8_t>(version), 0};
  bytes.push_back(static_cast<uint8_t>(padded.size() & 255));
  bytes.push_back(static_cast<uint8_t>(padded.size() >> 8));
  if (version > 1) bytes.insert(bytes.end(), {0, 0});
  bytes.insert(bytes.end(), padded.begin(), padded.end());
  const auto* data = reinterpret_cast<const uint8_t*>(values.data());
  bytes.insert(bytes.end(), data, data + values.size() * sizeof(T));
  return bytes;
}

TEST_CASE("npy: what is written is read") {
  const auto archive = OpenBytes(NpyBytes({1, 3}, std::vector<float>{1, -2, 0.5F}));
  CHECK(archive->format() == "npy");
  REQUIRE(archive->tensors().size() == 1);
  CHECK(archive->tensors()[0].name.empty());
  CHECK(archive->tensors()[0].shape == Shape{1, 3});
  CHECK(archive->Load(0).values()[2] == 0.5F);
}

TEST_CASE("npy: other types, byte orders and versions are read") {
  const auto values = [](const std::vector<uint8_t>& bytes) {
    const SharedTensor tensor = OpenBytes(bytes)->Load(0);
    return std::vector<float>(tensor.values().begin(), tensor.values().end());
  };
  using Values = std::vector<float>;
  CHECK(values(Npy<double>("{'descr':'<f8','fortran_order':False,'shape':(2,)}", {0.1, 3})) ==
        Values{0.1F, 3});
  CHECK(values(Npy<uint16_t>("{'descr':'<f2','fortran_order':False,'shape':(2,)}",
                             {0x3C00, 0xC000})) == Values{1, -2});
  CHECK(values(Npy<int64_t>("{'descr':'<i8','fortran_order':False,'shape':(1,)}", {-5})) ==
        Values{-5});
  CHECK(values(Npy<uint8_t>("{'descr':'|b1','fortran_order':False,'shape':(2,)}", {1, 0})) ==
        Values{1, 0});
  CHECK(values(Npy<uint32_t>("{'descr':'>f4','fortran_order':False,'shape':(1,)}", {0x0000803F})) ==
        Values{1});
  CHECK(values(Npy<float>("{'shape':(2,2),'fortran_order':True,'descr':'<f4'}", {1, 2, 3, 4})) ==
        Values{1, 3, 2, 4});
  CHECK(values(Npy<float>("{'descr':'<f4','fortran_order':False,'shape':()}", {4}, 2)) ==
        Values{4});
  // Arrays may be saved one behind the other.
  CHECK(values(Npy<float>("{'descr':'<f4','fortran_order':False,'shape':(1,)}", {4, 5})) ==
        Values{4});
}

TEST_CASE("npy: what is wrong is refused with the file named") {
  const auto error = [](const std::vector<uint8_t>& bytes) {
    try {
      OpenBytes(bytes)->Load(0);
    } catch (const Error& e) {
      CHECK_THAT(e.what(), Catch::Matchers::StartsWith("x.npy: "));
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(error(Npy<float>("{'descr':'<f4','fortran_order':False,'shape':(3,)}", {1, 2})),
             Contains("cut short"));
  CHECK(error(Npy<float>("{'descr':'|O','fortran_order':False,'shape':(1,)}", {1})) != "no error");
  CHECK(error(Npy<float>("{'descr':'<f4','fortran_order':False,'shape':(4294967296,4294967296)}",
                         {1})) != "no error");
  CHECK(error(Npy<float>("{'descr':'<f4','fortran_order':False}", {1})) != "no error");
  const auto whole = NpyBytes({2}, std::vector<float>{1, 2});
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<uint8_t> part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    if (error(part) == "no error") FAIL("cut to " << size);
  }
}

}  // namespace
}  // namespace attnmap
