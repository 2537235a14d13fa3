// safetensors: any bytes give an archive whose every tensor loads (or is of a
// type that is not read), or an Error.
#include <cstdlib>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attnmap;
  try {
    const auto archive =
        OpenSafetensors(MappedFile::FromBytes({data, data + size}, "fuzz.safetensors"));
    volatile float sum = 0;
    for (size_t i = 0; i < archive->tensors().size(); ++i) {
      const TensorInfo& info = archive->tensors()[i];
      if (info.type == DataType::kOther) continue;
      const SharedTensor tensor = archive->Load(i);
      if (tensor.size() != NumElements(info.shape)) std::abort();
      for (float value : tensor.values()) sum = sum + value;
    }
    archive->Text("config");
  } catch (const Error&) {
  }
  return 0;
}
