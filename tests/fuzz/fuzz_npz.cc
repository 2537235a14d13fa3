// npz archives: any bytes end in arrays or in attnmap::Error.
#include <cstddef>
#include <cstdint>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto archive =
        attnmap::OpenNpz(attnmap::MappedFile::FromBytes({data, data + size}, "fuzz.npz"));
    archive->Text("config");
    for (size_t i = 0; i < archive->tensors().size(); ++i) archive->Load(i);
  } catch (const attnmap::Error&) {
  }
  return 0;
}
