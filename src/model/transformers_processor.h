#ifndef ATTNMAP_MODEL_TRANSFORMERS_PROCESSOR_H_
#define ATTNMAP_MODEL_TRANSFORMERS_PROCESSOR_H_

#include "attnmap/core/preprocess.h"
#include "model/config_node.h"

namespace attnmap {

// transformers' preprocessor_config.json over `preprocess`, which holds the
// family's defaults and keeps them where the file says nothing.
void ReadTransformersProcessor(const ConfigNode& node, Preprocess& preprocess);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_TRANSFORMERS_PROCESSOR_H_
