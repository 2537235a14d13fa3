#ifndef ATTNMAP_TESTS_IMAGE_REFERENCE_FILES_H_
#define ATTNMAP_TESTS_IMAGE_REFERENCE_FILES_H_

#include <png.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "attnmap/core/image.h"
#include "attnmap/core/tensor.h"
#include "support/temporary.h"

namespace attnmap::test {

// The reference files of these tests, read without the code under test.

inline nlohmann::json ReadJson(const std::filesystem::path& path) {
  return nlohmann::json::parse(ReadText(path));
}

inline Image ReadRgbPng(const std::filesystem::path& path) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&png, path.string().c_str()) == 0) {
    throw std::runtime_error("cannot read " + path.string());
  }
  png.format = PNG_FORMAT_RGB;
  Image image(static_cast<int>(png.height), static_cast<int>(png.width));
  if (png_image_finish_read(&png, nullptr, image.rgb.data(), 0, nullptr) == 0) {
    throw std::runtime_error("cannot decode " + path.string());
  }
  return image;
}

inline Image RandomImage(int rows, int cols, unsigned seed) {
  Image image(rows, cols);
  std::mt19937 random(seed);
  for (uint8_t& value : image.rgb) value = static_cast<uint8_t>(random());
  return image;
}

// One float32 array of a safetensors file.
inline Tensor ReadSafetensor(const std::filesystem::path& path, const std::string& name) {
  const std::string bytes = ReadText(path);
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const auto info = nlohmann::json::parse(bytes.substr(sizeof(header), header)).at(name);
  Tensor tensor(info.at("shape").get<Shape>());
  const size_t begin = info.at("data_offsets").at(0).get<size_t>();
  std::memcpy(tensor.values.data(), bytes.data() + sizeof(header) + header + begin,
              tensor.values.size() * sizeof(float));
  return tensor;
}

// How two pictures differ; "" where they do not.
inline std::string Difference(const Image& found, const Image& expected) {
  const auto text = [](RowsCols s) {
    return std::to_string(s.rows) + " x " + std::to_string(s.cols);
  };
  if (found.size() != expected.size()) {
    return "size " + text(found.size()) + ", expected " + text(expected.size());
  }
  for (size_t i = 0; i < expected.rgb.size(); ++i) {
    if (found.rgb[i] == expected.rgb[i]) continue;
    const size_t pixel = i / 3;
    const size_t cols = static_cast<size_t>(expected.cols);
    return "row " + std::to_string(pixel / cols) + " col " + std::to_string(pixel % cols) +
           " channel " + std::to_string(i % 3) + ": " + std::to_string(found.rgb[i]) +
           ", expected " + std::to_string(expected.rgb[i]);
  }
  return "";
}

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_IMAGE_REFERENCE_FILES_H_
