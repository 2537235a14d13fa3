// PyTorch checkpoints of either form: any bytes end in tensors or in
// attnmap::Error.
#include <cstddef>
#include <cstdint>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto archive =
        attnmap::OpenTorch(attnmap::MappedFile::FromBytes({data, data + size}, "fuzz.pth"));
    for (size_t i = 0; i < archive->tensors().size(); ++i) archive->Load(i);
  } catch (const attnmap::Error&) {
  }
  return 0;
}
