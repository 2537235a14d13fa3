// .npy: any bytes give an array that loads, or an Error.
#include <cstdlib>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attnmap;
  try {
    const auto archive = OpenNpy(MappedFile::FromBytes({data, data + size}, "fuzz.npy"));
    const SharedTensor tensor = archive->Load(0);
    if (tensor.size() != NumElements(archive->tensors()[0].shape)) std::abort();
    volatile float sum = 0;
    for (float value : tensor.values()) sum = sum + value;
  } catch (const Error&) {
  }
  return 0;
}
