#ifndef ATTNMAP_CORE_MODEL_INPUT_H_
#define ATTNMAP_CORE_MODEL_INPUT_H_

#include <string>
#include <vector>

#include "attnmap/core/image_geometry.h"
#include "attnmap/core/tensor.h"

namespace attnmap {

// What the encoder sees.
struct ModelInput {
  Tensor pixels;  // (3, rows, cols), R G B, normalised
  PatchGrid grid;
  ImageGeometry geometry;
  std::vector<std::string> notes;  // what was resized, cropped or padded, for the success line
};

}  // namespace attnmap

#endif  // ATTNMAP_CORE_MODEL_INPUT_H_
