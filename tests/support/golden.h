#ifndef ATTNMAP_TESTS_SUPPORT_GOLDEN_H_
#define ATTNMAP_TESTS_SUPPORT_GOLDEN_H_

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnmap/core/patch_grid.h"
#include "attnmap/core/tensor.h"
#include "attnmap/formats/archive.h"

namespace attnmap::test {

// One folder of ../shared/golden (its README.md says what the fields mean).
// A field that case.json does not have keeps its default.
struct GoldenCase {
  std::string name;
  std::filesystem::path folder;
  std::string family;
  std::string library;
  std::string note;

  std::string input;  // "tensor" or "image"
  std::optional<std::filesystem::path> image;
  std::string fit;
  std::optional<RowsCols> size;
  std::optional<int> short_side;
  std::optional<RowsCols> grid;
  std::string scale = "sqrt";
  int num_heads = 0;  // 0: the reader has to find out
  double tolerance = 1e-5;
  std::optional<int> class_index;
  std::vector<std::pair<std::string, double>> top5;

  // What to give as a model: files or folders; none for resize-*.
  std::vector<std::filesystem::path> models;
  const std::filesystem::path& model() const;  // the only one

  struct Resize {
    std::filesystem::path input;
    std::string filter;
    RowsCols size;
    std::filesystem::path expected;
  };
  std::vector<Resize> resizes;

  // The tensors of expected.safetensors.
  std::vector<std::string> expected_names() const;
  bool Expects(std::string_view tensor) const;
  SharedTensor Expected(std::string_view tensor) const;  // FAILs where there is none

 private:
  friend GoldenCase ReadGolden(const std::filesystem::path& folder);
  std::shared_ptr<const TensorArchive> expected_;
};

GoldenCase ReadGolden(const std::filesystem::path& folder);

// Every case whose name starts with `prefix`, sorted. Where ../shared/golden
// is missing: says so, and returns none (see SharedFolder).
std::vector<GoldenCase> GoldenCases(std::string_view prefix = "");

// The largest |a - b|; infinite where the shapes differ or a number is NaN.
double LargestDifference(const SharedTensor& a, const SharedTensor& b);

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_SUPPORT_GOLDEN_H_
