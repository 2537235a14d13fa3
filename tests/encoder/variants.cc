#include "encoder/variants.h"

namespace attnmap::test {
namespace {

constexpr int kPatch = 4;

PatchGrid Grid(int rows, int cols) { return {rows, cols, kPatch}; }

VitConfig PlainConfig() {
  VitConfig config;
  config.patch_size = kPatch;
  config.embed_dim = 24;
  config.num_layers = 3;
  config.num_heads = 3;
  config.head_dim = 8;
  config.value_dim = 8;
  config.mlp_dim = 40;
  config.num_classes = 5;
  config.tokens.has_class_token = true;
  config.position_cover = PositionCover::kPrefixNoRegisters;
  config.position_grid = {3, 4};
  return config;
}

VitConfig TextbookConfig() {
  VitConfig config = PlainConfig();
  config.num_layers = 1;
  config.mlp = MlpKind::kNone;
  config.mlp_dim = 0;
  config.residual = false;
  config.layer_norm = false;
  config.num_classes = 0;
  return config;
}

void AddTextbook(std::vector<Variant>& all) {
  Variant v = {"textbook, no output projection", TextbookConfig(), {}, Grid(3, 4)};
  v.parts = {.output_projection = false, .final_norm = false};
  v.config.head_dim = 6;
  v.config.value_dim = 10;
  all.push_back(v);

  v.name = "textbook, one head, output projection of another width, no biases";
  v.config.num_heads = 1;
  v.parts = {.biases = false, .output_projection = true, .output_width = 7, .final_norm = false};
  all.push_back(v);

  v.name = "textbook, raw patches, no class token, no positions";
  v.config = TextbookConfig();
  v.config.embed_dim = 3 * kPatch * kPatch;
  v.config.tokens = {};
  v.config.position_cover = PositionCover::kNone;
  v.parts = {.patch_embedding = false, .output_projection = false, .final_norm = false};
  all.push_back(v);

  v.name = "textbook, raw patches, positions by count on a grid that is not square";
  v.config.position_cover = PositionCover::kPatches;
  v.config.position_grid = {4, 3};
  v.config.position_by_count = true;
  all.push_back(v);
}

void AddTokens(std::vector<Variant>& all) {
  Variant v = PlainVariant();
  v.name = "distillation token and registers, positions for all but registers";
  v.config.tokens = {true, true, 4};
  v.config.pooling = Pooling::kDistilled;
  all.push_back(v);

  v.name = "registers without a class token, positions for every token";
  v.config.tokens = {false, false, 2};
  v.config.position_cover = PositionCover::kAll;
  v.config.pooling = Pooling::kMeanPatches;
  all.push_back(v);

  v.name = "positions on patches only, class token and registers";
  v.config.tokens = {true, false, 3};
  v.config.position_cover = PositionCover::kPatches;
  v.config.pooling = Pooling::kClass;
  all.push_back(v);

  v.name = "U-01 positions resized to a grid that is not square";
  v.grid = Grid(2, 5);
  for (PositionResize resize : {PositionResize::kBicubicAntialias, PositionResize::kBicubic,
                                PositionResize::kBicubicOffset, PositionResize::kBicubicCorners,
                                PositionResize::kBilinear, PositionResize::kBilinearAntialias}) {
    v.config.position_resize = resize;
    all.push_back(v);
  }
}

void AddLayers(std::vector<Variant>& all) {
  Variant v = PlainVariant();
  v.name = "pre-norm, quick GELU, projection, state before the norm";
  v.config.activation = Activation::kQuickGelu;
  v.config.last_hidden_before_norm = true;
  v.parts = {.pre_norm = true, .projection = 6};
  all.push_back(v);

  v = PlainVariant();
  v.name = "gated MLP with a norm, layer scale, norm before the output projection";
  v.config.mlp = MlpKind::kGated;
  v.config.activation = Activation::kSilu;
  v.parts = {.layer_scale = true, .attention_norm = true, .mlp_norm = true};
  all.push_back(v);

  v = PlainVariant();
  v.name = "norms of queries and keys, tanh GELU, another eps";
  v.config.activation = Activation::kGeluTanh;
  v.config.layer_norm_eps = 1e-5F;
  v.parts.query_key_norm = true;
  all.push_back(v);

  v = PlainVariant();
  v.name = "values narrower than keys, residual";
  v.config.value_dim = 5;
  all.push_back(v);

  v = PlainVariant();
  v.name = "more tokens than a block of keys, odd sizes";
  v.config.num_layers = 2;
  v.config.num_heads = 2;
  v.config.head_dim = 12;
  v.config.value_dim = 12;
  v.config.position_grid = {23, 24};
  v.grid = Grid(23, 24);
  all.push_back(v);
}

void AddPositions(std::vector<Variant>& all) {
  Variant v = PlainVariant();
  v.name = "rotation of halves, class token and registers";
  v.config.tokens.num_register_tokens = 4;
  v.config.position_cover = PositionCover::kNone;
  v.config.rope = RopeKind::kHalf;
  all.push_back(v);
  v.name = "rotation of halves with the file's periods";
  v.parts.rope_periods = true;
  all.push_back(v);

  v = PlainVariant();
  v.name = "rotation of neighbours beside positions";
  v.config.rope = RopeKind::kInterleaved;
  v.config.rope_theta = 10000.0F;
  all.push_back(v);

  v = PlainVariant();
  v.name = "relative position bias";
  v.config.position_cover = PositionCover::kNone;
  v.config.relative_position = true;
  all.push_back(v);
}

void AddOutputs(std::vector<Variant>& all) {
  Variant v = PlainVariant();
  v.name = "attention pooling";
  v.config.tokens = {};
  v.config.pooling = Pooling::kAttention;
  v.config.activation = Activation::kGeluTanh;
  v.parts.projection = 9;
  all.push_back(v);

  v = PlainVariant();
  v.name = "class token and mean of patches, concatenated";
  v.config.pooling = Pooling::kClassAndMean;
  all.push_back(v);

  v = PlainVariant();
  v.name = "mean of patches, then a norm of its own";
  v.config.pooling = Pooling::kMeanPatches;
  v.config.norm_before_pool = false;
  v.config.norm_after_pool = true;
  v.parts.final_norm = false;
  v.parts.fc_norm = true;
  all.push_back(v);

  v.name = "mean of patches, then the final norm";
  v.parts.final_norm = true;
  v.parts.fc_norm = false;
  all.push_back(v);

  v.name = "no norm at the end";
  v.config.norm_after_pool = false;
  v.config.norm_before_pool = true;
  v.parts.final_norm = false;
  all.push_back(v);
}

}  // namespace

Variant PlainVariant() { return {"plain", PlainConfig(), {}, Grid(3, 4)}; }

// Widths that threads divide, none of them a whole number of parts; an MLP deep
// enough for narrower ones.
Variant WideVariant() {
  Variant v = PlainVariant();
  v.name = "products of several parts, heads of odd widths, gated MLP";
  v.config.embed_dim = 200;
  v.config.num_heads = 9;
  v.config.head_dim = 20;
  v.config.value_dim = 28;
  v.config.mlp_dim = 1700;
  v.config.mlp = MlpKind::kGated;
  v.config.activation = Activation::kSilu;
  v.config.position_grid = {7, 9};
  v.grid = Grid(7, 9);
  v.parts = {.layer_scale = true, .query_key_norm = true, .attention_norm = true, .mlp_norm = true};
  return v;
}

std::vector<Variant> AllVariants() {
  std::vector<Variant> all = {PlainVariant(), WideVariant()};
  AddTextbook(all);
  AddTokens(all);
  AddLayers(all);
  AddPositions(all);
  AddOutputs(all);
  return all;
}

}  // namespace attnmap::test
