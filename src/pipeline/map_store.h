#ifndef ATTNMAP_PIPELINE_MAP_STORE_H_
#define ATTNMAP_PIPELINE_MAP_STORE_H_

#include <cstdio>
#include <memory>
#include <vector>

#include "attnmap/core/patch_map.h"

namespace attnmap {

// The maps of one frame after the other, kept in a file without a name and
// read back in the same order. Every frame has as many maps of the same grids.
class MapStore {
 public:
  MapStore();
  // Throws Error where the disk is full.
  void Append(const std::vector<PatchMap>& maps);
  // From now on: the next frame's maps. REQUIRES: there is one.
  std::vector<PatchMap> Next();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<PatchMap> first_;  // grids and names, which all frames have in common
  bool reading_ = false;
};

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_MAP_STORE_H_
