#ifndef ATTNMAP_MODEL_CHECKPOINT_PREPROCESS_H_
#define ATTNMAP_MODEL_CHECKPOINT_PREPROCESS_H_

#include <string>

#include "attnmap/core/preprocess.h"
#include "model/family.h"

namespace attnmap {

struct FoundPreprocess {
  Preprocess preprocess;
  std::string source;  // the file that says so, or "assumed"
  std::string note;    // what could not be followed; empty: nothing
};

// transformers' preprocessor_config.json, timm's pretrained_cfg, open_clip's
// preprocess_cfg; else the family's recipe. `size`: the model's, nothing where unknown.
FoundPreprocess FindPreprocess(const CheckpointConfig& config, const PreprocessRecipe& recipe,
                               std::optional<RowsCols> size);

// "short side 256 bicubic, crop 224 x 224, ImageNet mean and std".
std::string PreprocessText(const Preprocess& preprocess);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_CHECKPOINT_PREPROCESS_H_
