// The full form: our own header, tensors under timm's names.
#include "attnmap/core/error.h"
#include "model/form.h"
#include "model/layout.h"
#include "model/limits.h"
#include "model/names.h"
#include "model/preprocess_json.h"
#include "model/tower_reader.h"

namespace attnmap {
namespace {

constexpr int kVersion = 1;

ConfigNode Header(const WeightSource& source) {
  return ConfigNode::Parse(source.Text("config").value_or("{}"), source.path(),
                           ConfigNode::Manner::kOwn);
}

void CheckFormat(const ConfigNode& header) {
  const std::string format = header.String("format").value_or("");
  if (format != "attnmap-weights") {
    header.Fail("format", "expected \"attnmap-weights\", found \"" + format + "\"");
  }
  const auto version = header.Int("version", 1, 1 << 30);
  if (!version) header.Fail("version", "is missing, expected 1");
  if (*version != kVersion) {
    header.Fail("version",
                "expected 1, found " + std::to_string(*version) + ": written by a newer attnmap");
  }
}

// The keys of "config" that say which tensors there are.
TowerParts ReadParts(const ConfigNode& node, const VitConfig& config) {
  const auto flag = [&node](std::string_view key) { return node.Bool(key).value_or(false); };
  TowerParts parts;
  parts.every_bias = true;
  parts.patches = !flag("raw_patches");
  parts.qkv_bias = node.Bool("qkv_bias").value_or(true);
  parts.rope_periods = flag("rope_periods");
  parts.pre_norm = flag("pre_norm");
  parts.query_key_norm = flag("query_key_norm");
  parts.attention_norm = flag("attention_norm");
  parts.layer_scale = flag("layer_scale");
  parts.mlp_norm = flag("mlp_norm");
  parts.projection = flag("projection");
  parts.pool_mlp_dim = node.Int("pool_mlp_dim", 1, kMaxMlpDim).value_or(4 * config.embed_dim);
  if (!parts.patches && config.embed_dim != PatchValues(config)) {
    node.Fail("raw_patches", "needs embed_dim " + std::to_string(PatchValues(config)) + ", found " +
                                 std::to_string(config.embed_dim));
  }
  return parts;
}

// num_classes may be left out: then the head says.
void FindHeads(const ConfigNode& node, const TensorReader& reader, VitConfig& config,
               TowerParts& parts) {
  const bool has_head = reader.Has("head.weight");
  if (!node.Has("num_classes") && has_head) {
    const int64_t classes = reader.ShapeOf("head.weight", 2)[0];
    if (classes < 1 || classes > kMaxClasses) {
      reader.Fail("head.weight", "has too many classes: " + std::to_string(classes));
    }
    config.num_classes = static_cast<int>(classes);
  }
  parts.head = config.num_classes > 0;
  parts.distillation_head = parts.head && config.pooling == Pooling::kDistilled;
}

// The grid of the position table: given, or the image's, or a square.
void FindPositionGrid(const TensorReader& reader, VitConfig& config) {
  const bool needed = config.position_cover != PositionCover::kNone || config.relative_position;
  if (!needed || config.position_grid != RowsCols{}) return;
  if (config.image_size) {
    config.position_grid = ImageGrid(config);
    return;
  }
  const TensorInfo* info = reader.Info("pos_embed");
  if (info == nullptr || info->shape.size() < 2) return;
  const int side = SquareSide(info->shape[info->shape.size() - 2] - NumCoveredPrefixTokens(config));
  config.position_grid = {side, side};
}

void CheckPositionRows(const TensorReader& reader, const VitModel& model) {
  if (!model.position.present() || model.config.position_grid == RowsCols{}) return;
  const RowsCols grid = model.config.position_grid;
  const int64_t expected = NumCoveredPrefixTokens(model.config) + int64_t{grid.rows} * grid.cols;
  if (model.position.shape()[0] != expected) {
    reader.Fail("pos_embed", "should have " + std::to_string(expected) + " rows for a grid of " +
                                 SizeText(grid) + ", found " +
                                 std::to_string(model.position.shape()[0]));
  }
}

// An image size that nothing says is what the positions imply.
void FindImageSize(VitModel& model) {
  if (model.config.image_size || model.config.position_grid == RowsCols{}) return;
  VitConfig& config = model.config;
  config.image_size = RowsCols{config.position_grid.rows * config.patch_size,
                               config.position_grid.cols * config.patch_size};
  Note(model, "image_size", SizeText(*config.image_size), "inferred");
}

void ReadLabels(const ConfigNode& header, VitModel& model) {
  model.labels = header.Strings("labels").value_or(std::vector<std::string>{});
  const auto classes = static_cast<size_t>(model.config.num_classes);
  if (!model.labels.empty() && model.labels.size() != classes) {
    header.Fail("labels", "expected " + std::to_string(classes) + ", as many as classes, found " +
                              std::to_string(model.labels.size()));
  }
}

void NoteSources(const ConfigNode& node, VitModel& model) {
  const VitConfig& config = model.config;
  const auto note = [&](const char* key, std::string value) {
    Note(model, key, std::move(value), node.Has(key) ? "file" : "default");
  };
  note("family", config.family);
  note("patch_size", std::to_string(config.patch_size));
  note("embed_dim", std::to_string(config.embed_dim));
  note("num_layers", std::to_string(config.num_layers));
  note("num_heads", std::to_string(config.num_heads));
  note("mlp_dim", std::to_string(config.mlp_dim));
  note("num_classes", std::to_string(config.num_classes));
  note("activation", std::string(NameOf(config.activation)));
  note("layer_norm_eps", FloatText(config.layer_norm_eps));
  note("position_resize", std::string(NameOf(config.position_resize)));
  note("pooling", std::string(NameOf(config.pooling)));
  if (config.image_size) note("image_size", SizeText(*config.image_size));
}

}  // namespace

bool IsFullForm(const WeightSource& source) {
  if (source.format() == "json") return true;
  const auto text = source.Text("config");
  return text && text->find("\"attnmap-weights\"") != std::string::npos;
}

VitModel ReadFullForm(const WeightSource& source, const LoadModelOptions& options) {
  const ConfigNode header = Header(source);
  CheckFormat(header);
  const ConfigNode node = header.Child("config");
  if (!node.present()) header.Fail("config", "is missing, expected an object");
  TensorReader reader(source);
  VitModel model;
  model.source_path = source.path();
  model.config = ReadConfig(node);
  model.config.name = header.String("name").value_or("");
  TowerParts parts = ReadParts(node, model.config);
  FindHeads(node, reader, model.config, parts);
  NoteSources(node, model);
  node.RejectUnread();
  ApplyOptions(options, model);
  FindPositionGrid(reader, model.config);
  CheckConfig(source.path(), model.config);
  ReadTower(kTimmLayout, kTimmLayout.block, parts, reader, model);
  CheckPositionRows(reader, model);
  FindImageSize(model);
  ReadLabels(header, model);
  model.preprocess = ReadPreprocess(header.Child("preprocess"), model.config.image_size);
  header.RejectUnread();
  const std::vector<std::string> unused = reader.Unused();
  if (!unused.empty()) {
    throw Error(source.path() + ": tensors." + unused[0] +
                ": unknown key, or one that \"config\" "
                "does not announce");
  }
  model.used_tensors = reader.used();
  return model;
}

}  // namespace attnmap
