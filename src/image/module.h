#ifndef ATTNMAP_IMAGE_MODULE_H_
#define ATTNMAP_IMAGE_MODULE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "attnmap/core/error.h"

namespace attnmap {

// What a module's symbol points at; the module stays loaded. Throws Error
// where there is none, `needs` beginning the sentence: "TIFF pictures need the
// codec module, which".
void* ModuleSymbol(const std::string& path, const char* symbol, const std::string& needs);

// The table that the module's only symbol, a function, hands out; asked for
// once for each path. Throws Error as above, and where the version is another.
template <typename Table>
const Table& LoadModule(const std::string& path, const char* symbol, uint32_t version,
                        const std::string& needs) {
  static std::mutex mutex;
  static std::map<std::string, const Table*> loaded;
  const std::lock_guard lock(mutex);
  const Table*& table = loaded[path];
  if (table != nullptr) return *table;
  using Entry = const Table* (*)();
  const Table* found = reinterpret_cast<Entry>(ModuleSymbol(path, symbol, needs))();
  if (found == nullptr || found->version != version) {
    throw Error(needs + " is of another version: " + path);
  }
  table = found;
  return *table;
}

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_MODULE_H_
