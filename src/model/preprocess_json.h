#ifndef ATTNMAP_MODEL_PREPROCESS_JSON_H_
#define ATTNMAP_MODEL_PREPROCESS_JSON_H_

#include <optional>

#include "attnmap/core/preprocess.h"
#include "model/config_node.h"

namespace attnmap {

// The "preprocess" object of our own JSON forms (docs/formats/json-weights.md).
// What is left out: resize and crop become `model_size` (224 x 224 where that is
// not known), the rest v / 255, mean 0, std 1, bicubic. An unknown key is an error.
Preprocess ReadPreprocess(const ConfigNode& node, std::optional<RowsCols> model_size);

// Resize and crop that end with `size`: its short side where it is square.
void ResizeAndCropTo(RowsCols size, Preprocess& preprocess);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_PREPROCESS_JSON_H_
