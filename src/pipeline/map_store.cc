#include "pipeline/map_store.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

[[noreturn]] void Fail(const char* what) {
  throw Error(std::string("cannot ") + what +
              " the film's maps in the folder for temporary files: " +
              std::generic_category().message(errno));
}

}  // namespace

MapStore::MapStore() : file_(std::tmpfile()) {
  if (!file_) Fail("keep");
}

void MapStore::Append(const std::vector<PatchMap>& maps) {
  if (first_.empty()) first_ = maps;
  for (const PatchMap& map : maps) {
    const std::vector<float>& values = map.values;
    if (std::fwrite(values.data(), sizeof(float), values.size(), file_.get()) != values.size()) {
      Fail("keep");
    }
  }
}

std::vector<PatchMap> MapStore::Next() {
  if (!reading_ && (std::fflush(file_.get()) != 0 || std::fseek(file_.get(), 0, SEEK_SET) != 0)) {
    Fail("keep");
  }
  reading_ = true;
  std::vector<PatchMap> maps = first_;
  for (PatchMap& map : maps) {
    if (std::fread(map.values.data(), sizeof(float), map.values.size(), file_.get()) !=
        map.values.size()) {
      Fail("read back");
    }
  }
  return maps;
}

}  // namespace attnmap
