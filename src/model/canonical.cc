// A model back into one of our own forms.
#include <nlohmann/json.hpp>
#include <string>

#include "model/form.h"
#include "model/names.h"

namespace attnmap {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson SizeJson(RowsCols size) { return OrderedJson::array({size.rows, size.cols}); }

// A float32 with the digits that read back the same float32.
OrderedJson FloatJson(float value) { return OrderedJson::parse(FloatText(value)); }

OrderedJson ResizeJson(const std::optional<ResizeTarget>& resize) {
  if (!resize) return false;
  if (resize->kind == ResizeTarget::Kind::kExact) return SizeJson(resize->size);
  return resize->size.rows;
}

OrderedJson CropJson(const std::optional<RowsCols>& crop) {
  if (!crop) return false;
  if (crop->rows == crop->cols) return crop->rows;
  return SizeJson(*crop);
}

OrderedJson PreprocessJson(const Preprocess& preprocess) {
  OrderedJson json;
  json["resize"] = ResizeJson(preprocess.resize);
  json["crop"] = CropJson(preprocess.crop);
  json["interpolation"] = FilterName(preprocess.filter);
  json["mean"] = preprocess.mean;
  json["std"] = preprocess.std;
  const Preprocess usual;
  if (preprocess.resize && preprocess.resize->kind == ResizeTarget::Kind::kLongSide) {
    json["resize_side"] = "long";
  }
  if (preprocess.rescale != usual.rescale) json["rescale"] = preprocess.rescale;
  if (!preprocess.truncate_long_side) json["long_side_rounding"] = "round";
  if (preprocess.crop_rounding == Preprocess::CropRounding::kFloor) {
    json["crop_rounding"] = "floor";
  }
  if (preprocess.resize_in_float) json["resize_in_float"] = true;
  if (preprocess.black_border) json["black_border"] = true;
  return json;
}

void AddSizes(const VitConfig& config, OrderedJson& json) {
  json["family"] = config.family;
  if (config.image_size) json["image_size"] = SizeJson(*config.image_size);
  json["patch_size"] = config.patch_size;
  json["embed_dim"] = config.embed_dim;
  json["num_layers"] = config.num_layers;
  json["num_heads"] = config.num_heads;
  if (config.head_dim * config.num_heads != config.embed_dim) json["head_dim"] = config.head_dim;
  if (config.value_dim != config.head_dim) json["value_dim"] = config.value_dim;
  json["mlp_dim"] = config.mlp_dim;
  json["mlp"] = NameOf(config.mlp);
  json["activation"] = NameOf(config.activation);
  json["layer_norm_eps"] = FloatJson(config.layer_norm_eps);
  json["num_classes"] = config.num_classes;
}

void AddTokens(const VitConfig& config, OrderedJson& json) {
  json["class_token"] = config.tokens.has_class_token;
  json["distillation_token"] = config.tokens.has_distillation_token;
  json["num_register_tokens"] = config.tokens.num_register_tokens;
  json["position_cover"] = NameOf(config.position_cover);
  json["position_resize"] = NameOf(config.position_resize);
  if (config.position_grid != RowsCols{}) json["position_grid"] = SizeJson(config.position_grid);
  json["rope"] = NameOf(config.rope);
  if (config.rope != RopeKind::kNone) json["rope_theta"] = FloatJson(config.rope_theta);
  json["pooling"] = NameOf(config.pooling);
  json["norm_before_pool"] = config.norm_before_pool;
  json["norm_after_pool"] = config.norm_after_pool;
}

// Keys that few models need are written only where they are not the default.
void AddParts(const VitModel& model, OrderedJson& json) {
  const VitConfig& config = model.config;
  const LayerWeights& layer = model.layers[0];
  const auto flag = [&json](const char* key, bool value) {
    if (value) json[key] = true;
  };
  flag("relative_position", config.relative_position);
  flag("position_by_count", config.position_by_count);
  flag("last_hidden_before_norm", config.last_hidden_before_norm);
  flag("raw_patches", !model.patch_weight.present());
  flag("rope_periods", model.rope_periods.present());
  flag("pre_norm", model.pre_norm.present());
  flag("query_key_norm", layer.query_norm.present());
  flag("attention_norm", layer.attention_norm.present());
  flag("layer_scale", layer.layer_scale1.present());
  flag("mlp_norm", layer.mlp_norm.present());
  flag("projection", model.projection.present());
  if (!config.residual) json["residual"] = false;
  if (!config.layer_norm) json["layer_norm"] = false;
  if (!HasQkvBias(model)) json["qkv_bias"] = false;
  if (model.pool.present()) json["pool_mlp_dim"] = model.pool.fc1.weight.shape()[0];
}

std::string FullHeader(const VitModel& model) {
  OrderedJson json;
  json["format"] = "attnmap-weights";
  json["version"] = 1;
  json["name"] = model.config.name;
  OrderedJson config;
  AddSizes(model.config, config);
  AddTokens(model.config, config);
  AddParts(model, config);
  json["config"] = std::move(config);
  json["preprocess"] = PreprocessJson(model.preprocess);
  if (!model.labels.empty()) json["labels"] = model.labels;
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string LayerHeader(const VitModel& model) {
  OrderedJson json;
  json["patch_size"] = model.config.patch_size;
  if (model.config.image_size) json["image_size"] = SizeJson(*model.config.image_size);
  json["preprocess"] = PreprocessJson(model.preprocess);
  return json.dump();
}

}  // namespace

bool HasLayerForm(const VitConfig& config) { return config.family == "layer"; }

std::vector<NamedTensor> CanonicalTensors(const VitModel& model) {
  return HasLayerForm(model.config) ? LayerTensors(model) : FullTensors(model);
}

std::string CanonicalHeader(const VitModel& model) {
  return HasLayerForm(model.config) ? LayerHeader(model) : FullHeader(model);
}

}  // namespace attnmap
