#include "model/tensor_reader.h"

#include <algorithm>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

TensorReader::NameMap OwnNames(const WeightSource& source) {
  TensorReader::NameMap names;
  for (const TensorInfo& info : source.tensors()) names.emplace(info.name, info.name);
  return names;
}

bool IsFloatingPoint(DataType type) {
  return type == DataType::kF64 || type == DataType::kF32 || type == DataType::kF16 ||
         type == DataType::kBF16;
}

Shape WithoutLeadingOnes(const Shape& shape) {
  const auto first = std::find_if(shape.begin(), shape.end(), [](int64_t d) { return d != 1; });
  return {first, shape.end()};
}

std::string_view FirstAlias(Aliases aliases) { return aliases.substr(0, aliases.find('|')); }

}  // namespace

TensorReader::TensorReader(const WeightSource& source)
    : source_(source), names_(OwnNames(source)) {}

TensorReader::TensorReader(const WeightSource& source, NameMap names, std::string prefix)
    : source_(source), names_(std::move(names)), prefix_(std::move(prefix)) {}

const std::string* TensorReader::FileName(Aliases aliases) const {
  while (!aliases.empty()) {
    const auto found = names_.find(FirstAlias(aliases));
    if (found != names_.end()) return &found->second;
    const size_t bar = aliases.find('|');
    aliases = bar == Aliases::npos ? Aliases() : aliases.substr(bar + 1);
  }
  return nullptr;
}

const TensorInfo* TensorReader::Info(Aliases aliases) const {
  const std::string* name = FileName(aliases);
  return name == nullptr ? nullptr : source_.Find(*name);
}

const Shape& TensorReader::ShapeOf(Aliases aliases, size_t rank) const {
  const TensorInfo* info = Info(aliases);
  if (info == nullptr) Fail(aliases, "is missing");
  if (info->shape.size() != rank) {
    Fail(aliases,
         "should have " + std::to_string(rank) + " dimensions, found " + ToString(info->shape));
  }
  return info->shape;
}

SharedTensor TensorReader::Read(Aliases aliases, const Shape& shape, const Transform& transform) {
  const TensorInfo* info = Info(aliases);
  if (info == nullptr) Fail(aliases, "is missing, expected " + ToString(shape));
  if (WithoutLeadingOnes(info->shape) != WithoutLeadingOnes(shape)) {
    Fail(aliases, "should be " + ToString(shape) + ", found " + ToString(info->shape));
  }
  if (!IsFloatingPoint(info->type)) {
    Fail(aliases,
         "should hold floating-point numbers, found " + std::string(DataTypeName(info->type)));
  }
  // A table shared by all layers is converted once.
  const auto known = index_.find(info->name);
  if (known != index_.end() && !transform) return used_[known->second].tensor.Reshaped(shape);
  SharedTensor tensor = source_.Load(info->name).Reshaped(shape);
  if (transform) tensor = transform(tensor);
  if (known == index_.end()) {
    index_.emplace(info->name, used_.size());
    used_.push_back({info->name, tensor});
  }
  return tensor;
}

SharedTensor TensorReader::ReadIf(Aliases aliases, const Shape& shape, const Transform& transform) {
  return Has(aliases) ? Read(aliases, shape, transform) : SharedTensor();
}

void TensorReader::MarkUsed(Aliases aliases) {
  if (const std::string* name = FileName(aliases)) marked_.insert(*name);
}

std::vector<std::string> TensorReader::Unused() const {
  std::vector<std::string> unused;
  for (const TensorInfo& info : source_.tensors()) {
    if (!index_.contains(info.name) && !marked_.contains(info.name)) unused.push_back(info.name);
  }
  return unused;
}

void TensorReader::Fail(Aliases aliases, const std::string& what) const {
  const std::string* name = FileName(aliases);
  throw Error(path() + ": tensor '" +
              (name != nullptr ? *name : prefix_ + std::string(FirstAlias(aliases))) + "' " + what);
}

SharedTensor Transposed(const SharedTensor& matrix) {
  constexpr int64_t kBlock = 32;  // both sides of a block stay in the cache
  const MatrixView view = matrix.matrix();
  Tensor result({view.cols, view.rows});
  for (int64_t i0 = 0; i0 < view.rows; i0 += kBlock) {
    for (int64_t j0 = 0; j0 < view.cols; j0 += kBlock) {
      for (int64_t j = j0; j < std::min(j0 + kBlock, view.cols); ++j) {
        for (int64_t i = i0; i < std::min(i0 + kBlock, view.rows); ++i) {
          result.values[static_cast<size_t>(j * view.rows + i)] = view.at(i, j);
        }
      }
    }
  }
  return SharedTensor(std::move(result));
}

SharedTensor Stacked(const std::vector<SharedTensor>& parts) {
  Shape shape = parts[0].shape();
  shape[0] = 0;
  for (const SharedTensor& part : parts) shape[0] += part.shape()[0];
  if (parts.size() == 1) return parts[0];
  Tensor result(shape);
  auto out = result.values.begin();
  for (const SharedTensor& part : parts) {
    out = std::copy(part.values().begin(), part.values().end(), out);
  }
  return SharedTensor(std::move(result));
}

SharedTensor Zeros(Shape shape) { return SharedTensor(Tensor(std::move(shape))); }

}  // namespace attnmap
