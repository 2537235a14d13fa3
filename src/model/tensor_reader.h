#ifndef ATTNMAP_MODEL_TENSOR_READER_H_
#define ATTNMAP_MODEL_TENSOR_READER_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "attnmap/core/tensor.h"
#include "attnmap/weights/weight_source.h"

namespace attnmap {

// Names a tensor may have here, "a|b|c": the first that the file holds counts.
using Aliases = std::string_view;

// Reads tensors of a WeightSource by the names a layout gives them, and checks
// that they are there, floating-point and of the shape expected, before their
// numbers are loaded. Remembers what was used. The only place with such checks.
class TensorReader {
 public:
  // What a tensor is called here -> what the file calls it.
  using NameMap = std::map<std::string, std::string, std::less<>>;
  using Transform = std::function<SharedTensor(const SharedTensor&)>;

  // All tensors by their own names.
  explicit TensorReader(const WeightSource& source);
  // `prefix`: what the file has in front of a name that is missing, for messages.
  TensorReader(const WeightSource& source, NameMap names, std::string prefix);

  const WeightSource& source() const { return source_; }
  const std::string& path() const { return source_.path(); }
  const NameMap& names() const { return names_; }
  const std::string& prefix() const { return prefix_; }

  bool Has(Aliases aliases) const { return Info(aliases) != nullptr; }
  // Null where there is none.
  const TensorInfo* Info(Aliases aliases) const;
  // Throws Error where the tensor is missing or not of this rank.
  const Shape& ShapeOf(Aliases aliases, size_t rank) const;

  // The tensor, viewed as `shape`: the file's shape has to be that, leading
  // dimensions of 1 apart. Throws Error naming file, tensor, both shapes.
  // `transform`, where given, is applied to what was read and may change the shape.
  SharedTensor Read(Aliases aliases, const Shape& shape, const Transform& transform = nullptr);
  // Absent where the file has none.
  SharedTensor ReadIf(Aliases aliases, const Shape& shape, const Transform& transform = nullptr);

  // Counts a tensor as used that only told something (a mask, a buffer).
  void MarkUsed(Aliases aliases);
  const std::vector<NamedTensor>& used() const { return used_; }
  // Names of the file that were never read, in the file's order.
  std::vector<std::string> Unused() const;

  // An Error about a tensor: "FILE: tensor 'NAME' <what>".
  [[noreturn]] void Fail(Aliases aliases, const std::string& what) const;

 private:
  const std::string* FileName(Aliases aliases) const;

  const WeightSource& source_;
  NameMap names_;
  std::string prefix_;
  std::vector<NamedTensor> used_;
  std::map<std::string, size_t, std::less<>> index_;  // into used_
  std::set<std::string, std::less<>> marked_;
};

// (rows, cols) -> (cols, rows), a copy.
SharedTensor Transposed(const SharedTensor& matrix);
// The tensors' rows one below the other: a copy, but for a single part.
// REQUIRES: all present, equal in all dimensions but the first.
SharedTensor Stacked(const std::vector<SharedTensor>& parts);
SharedTensor Zeros(Shape shape);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_TENSOR_READER_H_
