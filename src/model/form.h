#ifndef ATTNMAP_MODEL_FORM_H_
#define ATTNMAP_MODEL_FORM_H_

#include "attnmap/model/vit_model.h"
#include "model/config_node.h"
#include "model/tensor_reader.h"

namespace attnmap {

// Our own two forms of weights (docs/formats/json-weights.md), whatever file
// format they are stored in.

// The one-layer form of the textbook: W_Q, W_K, W_V, ...
bool IsLayerForm(const WeightSource& source);
VitModel ReadLayerForm(const WeightSource& source, const LoadModelOptions& options);
std::vector<NamedTensor> LayerTensors(const VitModel& model);

// The full form: a header with "format": "attnmap-weights", names as timm's.
bool IsFullForm(const WeightSource& source);
VitModel ReadFullForm(const WeightSource& source, const LoadModelOptions& options);
std::vector<NamedTensor> FullTensors(const VitModel& model);
// Whether any layer has a bias on query, key or value.
bool HasQkvBias(const VitModel& model);

// The configuration of the full form (config_form.cc).
VitConfig ReadConfig(const ConfigNode& node);
// Our forms' "image_size": whole patches.
std::optional<RowsCols> ReadImageSize(const ConfigNode& node, int patch_size);

// --num-heads and --act overrule, and are noted. Throws UsageError.
void ApplyOptions(const LoadModelOptions& options, VitModel& model);
Activation ActivationOption(const std::string& name);
// What no single key can say. Throws Error naming `path`.
void CheckConfig(const std::string& path, const VitConfig& config);

int64_t PatchValues(const VitConfig& config);  // 3 p p
// Whole patches of image_size. REQUIRES: it is set.
RowsCols ImageGrid(const VitConfig& config);
// The prefix tokens that the position table has rows for.
int NumCoveredPrefixTokens(const VitConfig& config);
// The side where n is a square, else 0.
int SquareSide(int64_t n);

// Sets (key, value, source) in the model's provenance.
void Note(VitModel& model, std::string key, std::string value, std::string source);
std::string SizeText(RowsCols size);  // "224 x 224"
std::string FloatText(float value);   // the fewest digits that read back the same

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_FORM_H_
