#ifndef ATTNMAP_WEIGHTS_FOLDER_H_
#define ATTNMAP_WEIGHTS_FOLDER_H_

#include <string>

namespace attnmap {

// The weights file (or index of several) that a folder stands for: a sharded
// index, model.safetensors, pytorch_model.bin, open_clip_*, else the only
// weights file there is. Throws Error for none, or for several, with a list.
std::string FindWeightsInFolder(const std::string& folder);

}  // namespace attnmap

#endif  // ATTNMAP_WEIGHTS_FOLDER_H_
