#ifndef ATTNMAP_MODEL_VIT_MODEL_H_
#define ATTNMAP_MODEL_VIT_MODEL_H_

#include <string>
#include <vector>

#include "attnmap/core/preprocess.h"
#include "attnmap/core/tensor.h"
#include "attnmap/model/vit_config.h"
#include "attnmap/weights/weight_source.h"

namespace attnmap {

// y = x . weight^T + bias. Absent weight: the layer is not there.
struct LinearWeights {
  SharedTensor weight;  // (out, in)
  SharedTensor bias;    // (out), absent: zero
  bool present() const { return weight.present(); }
};

// Absent weight: no norm.
struct NormWeights {
  SharedTensor weight;  // (dim)
  SharedTensor bias;    // (dim)
  bool present() const { return weight.present(); }
};

struct LayerWeights {
  NormWeights norm1;
  LinearWeights query;     // (heads * head_dim, D)
  LinearWeights key;       // (heads * head_dim, D)
  LinearWeights value;     // (heads * value_dim, D)
  NormWeights query_norm;  // (head_dim), per head, rare
  NormWeights key_norm;
  SharedTensor relative_position;  // ((2 rows - 1)(2 cols - 1) + 3, heads), BEiT
  NormWeights attention_norm;      // (heads * value_dim), before the output projection
  LinearWeights output;            // (D, heads * value_dim); without residual any rows
  SharedTensor layer_scale1;       // (D), absent: ones
  NormWeights norm2;
  LinearWeights gate;         // (F, D), gated MLP only
  LinearWeights fc1;          // (F, D); of a gated MLP the "up" part
  NormWeights mlp_norm;       // (F), between the product and fc2
  LinearWeights fc2;          // (D, F)
  SharedTensor layer_scale2;  // (D)
};

// Attention-pooling head (SigLIP): a learned query over the normed tokens,
// then u + MLP(LN(u)).
struct PoolWeights {
  SharedTensor probe;                       // (D)
  LinearWeights query, key, value, output;  // (D, D)
  NormWeights norm;
  LinearWeights fc1, fc2;
  bool present() const { return probe.present(); }
};

// Where a number of the configuration came from, for `inspect`.
struct Provenance {
  std::string key;     // "num_heads"
  std::string value;   // "6"
  std::string source;  // "file", "config.json", "inferred", "assumed", "option"
};

// A model ready for the encoder: configuration, and views into its source.
struct VitModel {
  VitConfig config;
  Preprocess preprocess;
  std::vector<std::string> labels;

  SharedTensor patch_weight;        // (D, 3 * p * p), channel, row, column; absent: tokens are the
                                    // flattened patches themselves (row, column, channel)
  SharedTensor patch_bias;          // (D)
  SharedTensor class_token;         // (D)
  SharedTensor distillation_token;  // (D)
  SharedTensor register_tokens;     // (R, D)
  SharedTensor position;            // (rows, D), as position_cover says
  SharedTensor rope_periods;        // (head_dim / 4), DINOv3 files that carry them
  NormWeights pre_norm;             // CLIP
  std::vector<LayerWeights> layers;
  NormWeights norm;
  NormWeights fc_norm;
  LinearWeights head;  // (classes, D or 2 D)
  LinearWeights distillation_head;
  LinearWeights projection;  // (dim, D), CLIP: image embedding
  PoolWeights pool;

  std::string source_path;  // the file, for messages
  std::vector<Provenance> provenance;
  std::vector<std::string> notes;           // assumptions, for the success line
  std::vector<NamedTensor> used_tensors;    // by the file's names, numbers perhaps rearranged
  std::vector<std::string> unused_tensors;  // in the file, not used
  // Those of unused_tensors that lie within the tower and are not known to be
  // of no use: a model we may have misread.
  std::vector<std::string> unrecognised_tensors;

  // What the model's own preprocessing ends with: crop, else resize, else
  // image_size, else the position grid, else 224 x 224.
  RowsCols InputSize() const;
};

struct LoadModelOptions {
  int num_heads = 0;       // 0: find out
  std::string family;      // empty: recognise
  std::string activation;  // empty: the file's or family's
  // Look at every number of the tensors used, once. Off: the caller does it
  // later (CheckFinite), so that a mapped file need not be read before computing.
  bool check_finite = true;
};

// Recognises the family, checks every shape, fills the model. Throws Error
// naming the file, the tensor, what was expected and what was found.
VitModel LoadVitModel(const WeightSource& source, const LoadModelOptions& options = {});

// Throws Error naming the file and the tensor where one of `used_tensors` holds
// a NaN or an infinity.
void CheckFinite(const VitModel& model);

// The model in canonical names (docs/formats/json-weights.md), and the JSON
// header (format, version, name, config, preprocess, labels) that goes with
// them: LoadVitModel of the pair gives the same model. One that came from the
// one-layer form gives that form's names and header.
std::vector<NamedTensor> CanonicalTensors(const VitModel& model);
std::string CanonicalHeader(const VitModel& model);
// Whether those are of the one-layer form (WriteJsonLayer) or the full one.
bool HasLayerForm(const VitConfig& config);

// `init`: random weights, truncated normal (std 0.02, cut at 2 std), biases 0,
// norms 1; the same numbers for the same seed on every platform.
struct InitOptions {
  bool one_layer = false;  // --form one-layer | full
  int patch_size = 16;
  int embed_dim = 192;
  int num_layers = 12;
  int num_heads = 3;
  RowsCols image_size = {224, 224};
  int num_classes = 0;
  uint64_t seed = 0;
};
VitModel InitModel(const InitOptions& options);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_VIT_MODEL_H_
