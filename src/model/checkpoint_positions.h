#ifndef ATTNMAP_MODEL_CHECKPOINT_POSITIONS_H_
#define ATTNMAP_MODEL_CHECKPOINT_POSITIONS_H_

#include <string>

#include "model/family.h"

namespace attnmap {

// Fills position_cover, position_grid, relative_position and image_size of
// `config`, whose patch size and tokens are known. The position table is
// believed before the configuration's image size. Returns where image_size came
// from ("" where it stays unknown). Throws Error where a table fits nothing.
std::string FindPositions(const Checkpoint& checkpoint, VitConfig& config);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_CHECKPOINT_POSITIONS_H_
