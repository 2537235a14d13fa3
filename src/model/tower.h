#ifndef ATTNMAP_MODEL_TOWER_H_
#define ATTNMAP_MODEL_TOWER_H_

#include <string>
#include <vector>

#include "model/layout.h"
#include "model/tensor_reader.h"

namespace attnmap {

// Where in a checkpoint the Vision Transformer is, and under which names.
struct Tower {
  const Layout* layout = nullptr;  // null: none was found
  std::string prefix;              // in front of the tower's names
  std::string block;               // the one of layout->block in use, "blocks.{}."
  int num_layers = 0;
  // Names without the prefix, wrappers and chunk numbers; "^name" for what lies
  // one component above the prefix (heads).
  TensorReader::NameMap names;
  std::vector<std::string> passed_over;  // prefixes of other towers in the file
};

// Finds the tower by its anchor tensor, whatever wraps it. Of several, prefixes
// with teacher, then ema, then the shortest are preferred.
Tower FindTower(const WeightSource& source);

// A tensor's name without the components that wrappers put in
// ("_orig_mod.", a leading "module.", ...).
std::string WithoutWrappers(std::string_view name);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_TOWER_H_
