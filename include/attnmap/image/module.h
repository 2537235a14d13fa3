#ifndef ATTNMAP_IMAGE_MODULE_H_
#define ATTNMAP_IMAGE_MODULE_H_

#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <mutex>
#include <string>

#include "attnmap/core/error.h"

// Modules are shared libraries that are loaded when they are needed, each behind
// a plain C table of functions: both sides of such a table.

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

// Fills a table's message, and is what a function that fails returns.
template <size_t kSize>
int FailWith(char* message, const char* text) {
  std::snprintf(message, kSize, "%s", text);
  return 1;
}

// Runs a module's `work` so that nothing is thrown past it; what it returns, or 1.
template <size_t kSize, typename Work>
int Guarded(char* message, Work work) {
  try {
    return work();
  } catch (const std::exception& error) {
    return FailWith<kSize>(message, error.what());
  } catch (...) {
    return FailWith<kSize>(message, "an unknown error");
  }
}

}  // namespace attnmap

#endif  // ATTNMAP_IMAGE_MODULE_H_
