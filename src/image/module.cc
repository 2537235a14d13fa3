#include "attnmap/image/module.h"

#include <dlfcn.h>

namespace attnmap {

void* ModuleSymbol(const std::string& path, const char* symbol, const std::string& needs) {
  // Local: what the module drags in must not serve symbols to anyone else.
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    const char* why = dlerror();
    throw Error(needs + " cannot be loaded: " + (why != nullptr ? why : path.c_str()));
  }
  void* found = dlsym(module, symbol);
  if (found == nullptr) throw Error(needs + " is of another version: " + path);
  return found;
}

}  // namespace attnmap
