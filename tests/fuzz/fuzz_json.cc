// JSON weights of either form, and shard indexes: any bytes give an archive
// that loads, or an Error.
#include <cmath>
#include <cstdlib>
#include <vector>

#include "attnmap/core/error.h"
#include "attnmap/formats/json_weights.h"
#include "attnmap/formats/sniff.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace attnmap;
  const auto file = MappedFile::FromBytes({data, data + size}, "fuzz.json");
  try {
    const auto archive = OpenJsonWeights(file);
    for (size_t i = 0; i < archive->tensors().size(); ++i) {
      const SharedTensor tensor = archive->Load(i);
      if (tensor.size() != NumElements(archive->tensors()[i].shape)) std::abort();
      for (float value : tensor.values()) {
        if (!std::isfinite(value)) std::abort();
      }
    }
    if (!archive->Text("config")) std::abort();
  } catch (const Error&) {
  }
  try {
    ReadShardIndex(*file);
  } catch (const Error&) {
  }
  return 0;
}
