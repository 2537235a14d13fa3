#ifndef ATTNMAP_MODEL_CHECKPOINT_CONFIG_H_
#define ATTNMAP_MODEL_CHECKPOINT_CONFIG_H_

#include <optional>
#include <string>
#include <vector>

#include "attnmap/model/vit_config.h"
#include "attnmap/weights/weight_source.h"
#include "model/config_node.h"

namespace attnmap {

// What the configuration files beside a checkpoint say about the model, in one
// vocabulary whichever library wrote them. Everything may be missing.
struct CheckpointConfig {
  enum class Kind { kNone, kTransformers, kTimm, kOpenClip };

  Kind kind = Kind::kNone;
  std::string file;          // "config.json", for provenance
  std::string model_type;    // transformers: "dinov2", ...
  std::string architecture;  // timm: "vit_base_patch16_224", ...
  std::string tag;           // timm: "augreg_in21k", ...

  std::optional<int> patch_size;
  std::optional<int> num_heads;
  std::optional<int> head_dim;  // open_clip
  std::optional<RowsCols> image_size;
  std::optional<Activation> activation;
  std::optional<double> layer_norm_eps;
  std::optional<double> rope_theta;
  std::optional<std::string> global_pool;  // timm: "token", "avg", "map", ...
  bool mean_pooling = false;               // open_clip's pool_type avg
  bool norm_after_pool = false;            // open_clip's final_ln_after_pool
  std::vector<std::string> labels;

  ConfigNode preprocess;    // timm's pretrained_cfg, open_clip's preprocess_cfg
  ConfigNode preprocessor;  // transformers' preprocessor_config.json
};

// `open_clip`: the tower's names are of that library's, so that its file comes
// first. Throws Error naming the file and the key where a value makes no sense.
CheckpointConfig ReadCheckpointConfig(const WeightSource& source, bool open_clip);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_CHECKPOINT_CONFIG_H_
