#include "model/checkpoint_config.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "model/limits.h"
#include "model/names.h"

namespace attnmap {
namespace {

// A number of pixels, or [rows, cols].
std::optional<RowsCols> SideOrSize(const ConfigNode& node, std::string_view key) {
  if (!node.Has(key)) return std::nullopt;
  if (node.IsArray(key)) return node.Size(key, kMaxImageSide);
  const auto side = node.Int(key, 1, kMaxImageSide);
  return RowsCols{*side, *side};
}

std::optional<int> PatchSize(const ConfigNode& node) {
  if (!node.IsArray("patch_size")) return node.Int("patch_size", 1, kMaxPatchSize);
  const auto size = node.Size("patch_size", kMaxPatchSize);
  if (size->rows != size->cols) node.Fail("patch_size", "only square patches are supported");
  return size->rows;
}

std::optional<Activation> ActivationOf(const ConfigNode& node, std::string_view key) {
  if (!node.IsString(key)) return std::nullopt;
  const std::string name = *node.String(key);
  if (const auto activation = ActivationFromName(name)) return activation;
  node.Fail(key, "expected one of " + ActivationNames() + ", found \"" + name + "\"");
}

// id2label: {"0": "tench", ...} in the order of the numbers.
std::vector<std::string> ReadIdToLabel(const ConfigNode& node) {
  std::map<int, std::string> sorted;
  for (const auto& [id, label] : node.StringMap("id2label")) {
    int number = -1;
    const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
    if (error != std::errc() || end != id.data() + id.size() || number < 0) {
      node.Fail("id2label", "expected whole numbers as keys, found \"" + id + "\"");
    }
    sorted[number] = label;
  }
  std::vector<std::string> labels;
  bool meaningless = true;  // LABEL_0, LABEL_1, ... say nothing
  for (const auto& [number, label] : sorted) {
    if (number != static_cast<int>(labels.size())) return {};
    meaningless = meaningless && label == "LABEL_" + std::to_string(number);
    labels.push_back(label);
  }
  return meaningless ? std::vector<std::string>{} : labels;
}

// Of a model of several towers, the one that sees.
ConfigNode VisionPart(const ConfigNode& root) {
  for (std::string_view key : {"vision_config", "backbone_config"}) {
    if (root.IsObject(key)) return root.Child(key);
  }
  return root;
}

void ReadTransformers(const ConfigNode& root, CheckpointConfig& config) {
  const ConfigNode node = VisionPart(root);
  config.kind = CheckpointConfig::Kind::kTransformers;
  const std::string root_type = root.String("model_type").value_or("");
  config.model_type = node.String("model_type").value_or(root_type);
  config.patch_size = PatchSize(node);
  config.num_heads = node.Int("num_attention_heads", 1, kMaxHeads);
  config.image_size = SideOrSize(node, "image_size");
  config.activation = ActivationOf(node, "hidden_act");
  config.layer_norm_eps = node.Number("layer_norm_eps", 0, 1);
  config.rope_theta = node.Number("rope_theta", 1e-3, 1e9);
  config.labels = ReadIdToLabel(root);
}

// label_names: synsets or words; label_descriptions: what they mean.
std::vector<std::string> ReadTimmLabels(const ConfigNode& root) {
  if (!root.IsArray("label_names")) return {};
  std::vector<std::string> labels = *root.Strings("label_names");
  if (!root.IsObject("label_descriptions")) return labels;
  std::map<std::string, std::string> words;
  for (auto& [name, text] : root.StringMap("label_descriptions")) words[name] = text;
  for (std::string& label : labels) {
    const auto found = words.find(label);
    if (found != words.end()) label = found->second;
  }
  return labels;
}

// pretrained_cfg.input_size: [3, rows, cols].
std::optional<RowsCols> InputSize(const ConfigNode& node) {
  if (!node.IsArray("input_size")) return std::nullopt;
  const std::vector<double> size = *node.Numbers("input_size", 3);
  for (double side : {size[1], size[2]}) {
    if (!(side >= 1 && side <= kMaxImageSide) || side != static_cast<int>(side)) {
      node.Fail("input_size", "expected [3, rows, cols]");
    }
  }
  return RowsCols{static_cast<int>(size[1]), static_cast<int>(size[2])};
}

void ReadTimm(const ConfigNode& root, CheckpointConfig& config) {
  config.kind = CheckpointConfig::Kind::kTimm;
  config.architecture = root.String("architecture").value_or("");
  // Old repositories keep the fields of pretrained_cfg at the top.
  config.preprocess = root.IsObject("pretrained_cfg") ? root.Child("pretrained_cfg") : root;
  config.tag = config.preprocess.String("tag").value_or("");
  const ConfigNode args = root.Child("model_args");
  config.patch_size = PatchSize(args);
  config.num_heads = args.Int("num_heads", 1, kMaxHeads);
  config.image_size = SideOrSize(args, "img_size");
  if (!config.image_size) config.image_size = InputSize(config.preprocess);
  config.activation = ActivationOf(args, "act_layer");
  config.global_pool = args.IsString("global_pool")   ? args.String("global_pool")
                       : root.IsString("global_pool") ? root.String("global_pool")
                                                      : std::nullopt;
  config.labels = ReadTimmLabels(root);
}

void ReadOpenClip(const ConfigNode& root, CheckpointConfig& config) {
  const ConfigNode model = root.IsObject("model_cfg") ? root.Child("model_cfg") : root;
  const ConfigNode vision = model.Child("vision_cfg");
  config.kind = CheckpointConfig::Kind::kOpenClip;
  config.architecture = vision.String("timm_model_name").value_or("");
  config.preprocess = root.Child("preprocess_cfg");
  config.patch_size = PatchSize(vision);
  config.image_size = SideOrSize(vision, "image_size");
  if (config.architecture.empty()) {
    config.head_dim = vision.Int("head_width", 1, kMaxDim).value_or(64);
    const bool quick = model.Bool("quick_gelu").value_or(false);
    config.activation = quick ? Activation::kQuickGelu : Activation::kGelu;
  }
  config.layer_norm_eps = vision.Child("norm_kwargs").Number("eps", 0, 1);
  config.mean_pooling = vision.String("pool_type").value_or("tok") == "avg";
  config.norm_after_pool = vision.Bool("final_ln_after_pool").value_or(false);
}

ConfigNode Beside(const WeightSource& source, const std::string& file) {
  const auto text = source.Text(file);
  if (!text) return {};
  return ConfigNode::Parse(*text, file + " beside " + source.path(), ConfigNode::Manner::kForeign);
}

}  // namespace

CheckpointConfig ReadCheckpointConfig(const WeightSource& source, bool open_clip) {
  CheckpointConfig config;
  const ConfigNode clip = open_clip ? Beside(source, "open_clip_config.json") : ConfigNode();
  const ConfigNode root = clip.present() ? clip : Beside(source, "config.json");
  config.file = clip.present() ? "open_clip_config.json" : "config.json";
  if (clip.present()) {
    ReadOpenClip(root, config);
  } else if (root.Has("architecture")) {
    ReadTimm(root, config);
  } else if (root.present()) {
    ReadTransformers(root, config);
  }
  if (config.kind != CheckpointConfig::Kind::kTimm) {
    config.preprocessor = Beside(source, "preprocessor_config.json");
  }
  return config;
}

}  // namespace attnmap
