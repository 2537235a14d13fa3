#ifndef ATTNMAP_FORMATS_TORCH_TENSOR_H_
#define ATTNMAP_FORMATS_TORCH_TENSOR_H_

#include <cstdint>
#include <string_view>

#include "attnmap/core/tensor.h"
#include "attnmap/formats/archive.h"
#include "formats/pickle_value.h"

namespace attnmap {

// What a persistent id of a checkpoint says of a storage: numbers of one type
// kept outside the pickle, under a key.
struct TorchStorage {
  std::string_view key;
  DataType type = DataType::kOther;
  int64_t item_size = 0;
  int64_t num_items = 0;
  // The part that is meant, in items; all of it but for views in old files.
  int64_t view_begin = 0;
  int64_t view_items = 0;

  int64_t num_bytes() const { return num_items * item_size; }  // checked by ReadTorchStorage
};

// A tensor as the pickle describes it, checked: every element lies within its
// storage.
struct TorchTensor {
  TorchStorage storage;
  DataType type = DataType::kOther;
  Shape shape;
  Shape strides;       // in elements; 0 where a dimension is 1 or empty
  int64_t offset = 0;  // in elements of `type`, from the storage's begin
};

// Throws Error where the id is not that of a storage or lies about its size.
TorchStorage ReadTorchStorage(const PickleValue& persistent);

// Whether the value stands for a tensor or parameter.
bool IsTorchTensor(const PickleValue& value);

// Throws Error saying what is wrong. REQUIRES: IsTorchTensor(value).
TorchTensor ReadTorchTensor(const PickleValue& value);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_TORCH_TENSOR_H_
