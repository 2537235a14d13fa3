#include "pipeline/map_store.h"

#include <cerrno>
#include <cstdint>
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

// A vector: its length, then its elements. An empty one has no address that may be read from.
template <typename T>
void Put(const std::vector<T>& values, std::FILE* file) {
  const uint64_t count = values.size();
  if (std::fwrite(&count, sizeof(count), 1, file) != 1) Fail("keep");
  if (count > 0 && std::fwrite(values.data(), sizeof(T), count, file) != count) Fail("keep");
}

template <typename T>
void Take(std::vector<T>& values, std::FILE* file) {
  uint64_t count = 0;
  if (std::fread(&count, sizeof(count), 1, file) != 1) Fail("read back");
  values.resize(count);
  if (count > 0 && std::fread(values.data(), sizeof(T), count, file) != count) Fail("read back");
}

}  // namespace

MapStore::MapStore() : file_(std::tmpfile()) {
  if (!file_) Fail("keep");
}

void MapStore::Append(const std::vector<PatchMap>& maps) {
  if (first_.empty()) first_ = maps;
  for (const PatchMap& map : maps) {
    Put(map.values, file_.get());
    Put(map.shown, file_.get());
    Put(map.colours, file_.get());
  }
}

std::vector<PatchMap> MapStore::Next() {
  if (!reading_ && (std::fflush(file_.get()) != 0 || std::fseek(file_.get(), 0, SEEK_SET) != 0)) {
    Fail("keep");
  }
  reading_ = true;
  std::vector<PatchMap> maps = first_;
  for (PatchMap& map : maps) {
    Take(map.values, file_.get());
    Take(map.shown, file_.get());
    Take(map.colours, file_.get());
  }
  return maps;
}

}  // namespace attnmap
