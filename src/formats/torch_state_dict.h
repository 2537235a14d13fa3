#ifndef ATTNMAP_FORMATS_TORCH_STATE_DICT_H_
#define ATTNMAP_FORMATS_TORCH_STATE_DICT_H_

#include <string>
#include <string_view>
#include <vector>

#include "formats/pickle_value.h"

namespace attnmap {

// The dictionary of a checkpoint that holds the model's tensors.
struct TorchStateDict {
  const PickleValue* value = nullptr;
  std::string path;                       // "model_ema.module"; empty: the root itself
  std::vector<std::string> alternatives;  // paths of dictionaries that were passed over
};

// Goes down through what training programs wrap around a state dict, by the
// table in the .cc; `checkpoint_key`, where not empty, comes first ("a.b" for
// b in a). Throws Error where there is no such key or nothing holds tensors.
TorchStateDict ChooseStateDict(const PickleValue& root, const std::string& checkpoint_key);

struct NamedPickleTensor {
  std::string name;
  const PickleValue* value = nullptr;
};

// All tensors below a state dict or module, names joined with '.', in the
// file's order. Throws Error where a container contains itself, a name occurs
// twice or is no plain text.
std::vector<NamedPickleTensor> CollectTensors(const PickleValue& root);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_TORCH_STATE_DICT_H_
