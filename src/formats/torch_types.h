#ifndef ATTNMAP_FORMATS_TORCH_TYPES_H_
#define ATTNMAP_FORMATS_TORCH_TYPES_H_

#include <cstdint>
#include <string_view>

#include "attnmap/formats/archive.h"

namespace attnmap {

struct TorchType {
  std::string_view name;  // without its module
  DataType type = DataType::kOther;
  int64_t item_size = 0;  // bytes; known for types that cannot be read, too
};

// "torch.FloatStorage", "torch.cuda.HalfStorage": null for anything else.
const TorchType* FindTorchStorageType(std::string_view symbol);
// "torch.float32": null for anything else.
const TorchType* FindTorchDtype(std::string_view symbol);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_TORCH_TYPES_H_
