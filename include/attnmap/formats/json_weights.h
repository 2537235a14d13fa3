#ifndef ATTNMAP_FORMATS_JSON_WEIGHTS_H_
#define ATTNMAP_FORMATS_JSON_WEIGHTS_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attnmap/core/tensor.h"
#include "attnmap/formats/archive.h"
#include "attnmap/formats/file.h"

namespace attnmap {

// JSON weights in either form (docs/formats/json-weights.md), read as a stream:
// numbers go from the text into float32 buffers, each correctly rounded once.
// format(): "json" for the full form, "json-layer" for the one-layer form.
// Tensors of the full form carry their names; those of the one-layer form
// "W_patch", "b_patch", "class_token", "pos_embed", "W_Q", ..., and with several heads
// "heads.0.W_Q". Text("config"): everything else in the file as one small JSON object: full form:
// format, version, name, config, preprocess, labels; one-layer form: patch_size, image_size,
// preprocess. Throws Error with the key, the place in the file, what was expected and found.
std::unique_ptr<TensorArchive> OpenJsonWeights(std::shared_ptr<const MappedFile> file);

// Writes the full form. `header` is a JSON object with everything but
// "tensors" (as Text("config") gives it). Floats get the fewest digits that read back the same.
// A tensor is written nested, or flat with its shape.
void WriteJsonWeights(const std::string& path, const std::string& header,
                      std::span<const NamedTensor> tensors, bool nested = false);

// Writes the one-layer form: `header` {"patch_size": ...}; tensors named as above.
void WriteJsonLayer(const std::string& path, const std::string& header,
                    std::span<const NamedTensor> tensors);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_JSON_WEIGHTS_H_
