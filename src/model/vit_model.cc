#include "attnmap/model/vit_model.h"

#include <bit>
#include <cstdint>

#include "attnmap/core/error.h"
#include "model/checkpoint.h"
#include "model/form.h"

namespace attnmap {
namespace {

// Whether any number is a NaN or an infinity: all exponent bits set. Integer
// compares that the compiler turns into wide vectors: this has to read as fast
// as memory delivers.
bool HasNonFinite(std::span<const float> values) {
  constexpr uint32_t kExponent = 0x7f800000;
  constexpr size_t kChunk = 4096;
  for (size_t begin = 0; begin < values.size(); begin += kChunk) {
    const auto chunk = values.subspan(begin, std::min(kChunk, values.size() - begin));
    uint32_t found = 0;
    for (float value : chunk) {
      found |= (std::bit_cast<uint32_t>(value) & kExponent) == kExponent ? 1U : 0U;
    }
    if (found != 0) return true;
  }
  return false;
}

}  // namespace

RowsCols VitModel::InputSize() const {
  if (preprocess.crop) return *preprocess.crop;
  if (preprocess.resize) return preprocess.resize->size;
  if (config.image_size) return *config.image_size;
  if (config.position_grid != RowsCols{}) {
    return {config.position_grid.rows * config.patch_size,
            config.position_grid.cols * config.patch_size};
  }
  return {224, 224};
}

void CheckFinite(const VitModel& model) {
  for (const NamedTensor& used : model.used_tensors) {
    if (HasNonFinite(used.tensor.values())) {
      throw Error(model.source_path + ": tensor '" + used.name +
                  "' holds a NaN or an infinity, expected finite numbers");
    }
  }
}

VitModel LoadVitModel(const WeightSource& source, const LoadModelOptions& options) {
  VitModel model;
  if (!options.family.empty() && (IsLayerForm(source) || IsFullForm(source))) {
    throw Error(source.path() + ": --family goes with checkpoints, this file says what it holds");
  }
  if (IsLayerForm(source)) {
    model = ReadLayerForm(source, options);
  } else if (IsFullForm(source)) {
    model = ReadFullForm(source, options);
  } else {
    model = ReadCheckpoint(source, options);
  }
  if (options.check_finite) CheckFinite(model);
  return model;
}

}  // namespace attnmap
