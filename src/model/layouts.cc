#include <array>
#include <string>

#include "model/layout.h"

namespace attnmap {

const Layout kTimmLayout = {
    .name = "timm",
    .anchor = "patch_embed.proj.weight",
    .block = "blocks.{}.",
    .patch = "patch_embed.proj.",
    .class_token = "cls_token",
    .distillation_token = "dist_token",
    .register_tokens = "reg_token|register_tokens|storage_tokens",
    .position = "pos_embed",
    .rope_periods = "rope_embed.periods",
    .pre_norm = "norm_pre.",
    .norm = "norm.",
    .fc_norm = "fc_norm.",
    .head = "head.",
    .distillation_head = "head_dist.",
    .projection = "projection.|^head.proj.",
    .pre_logits = "pre_logits.fc.",
    .shared_relative_position = "rel_pos_bias.relative_position_bias_table",
    .norm1 = "norm1.",
    .qkv = "attn.qkv.",
    .query = "attn.q_proj.",
    .key = "attn.k_proj.",
    .value = "attn.v_proj.",
    .query_bias = "attn.q_bias",
    .value_bias = "attn.v_bias",
    .bias_mask = "attn.qkv.bias_mask",
    .query_norm = "attn.q_norm.",
    .key_norm = "attn.k_norm.",
    .relative_position = "attn.relative_position_bias_table",
    .attention_norm = "attn.norm.|attn.inner_attn_ln.",
    .output = "attn.proj.",
    .scale1 = "ls1.gamma|gamma_1",
    .norm2 = "norm2.",
    .fc1 = "mlp.fc1.",
    .packed = "mlp.w12.",
    .gate = "mlp.fc1_g.|mlp.w1.",
    .up = "mlp.fc1_x.|mlp.w2.",
    .mlp_norm = "mlp.norm.|mlp.ffn_ln.",
    .fc2 = "mlp.fc2.|mlp.w3.",
    .scale2 = "ls2.gamma|gamma_2",
    .probe = "attn_pool.latent",
    .pool_kv = "attn_pool.kv.",
    .pool_query = "attn_pool.q.",
    .pool_output = "attn_pool.proj.",
    .pool_norm = "attn_pool.norm.",
    .pool_fc1 = "attn_pool.mlp.fc1.",
    .pool_fc2 = "attn_pool.mlp.fc2.",
};

// The names of transformers 4, those that transformers 5 has in memory, and
// those of DINOv2, DINOv3 and BEiT, which never meet in one file.
const Layout kTransformersLayout = {
    .name = "transformers",
    .anchor = "embeddings.patch_embeddings.projection.weight|embeddings.patch_embeddings.weight",
    .block = "encoder.layer.{}.|encoder.layers.{}.|layers.{}.|layer.{}.|model.layer.{}.",
    .patch = "embeddings.patch_embeddings.projection.|embeddings.patch_embeddings.",
    .class_token = "embeddings.cls_token",
    .distillation_token = "embeddings.distillation_token",
    .register_tokens = "embeddings.register_tokens",
    .position = "embeddings.position_embeddings",
    .norm = "layernorm.|norm.",
    .fc_norm = "pooler.layernorm.",
    .head = "^classifier.|^cls_classifier.",
    .distillation_head = "^distillation_classifier.",
    .shared_relative_position =
        "encoder.relative_position_bias.relative_position_bias_table|"
        "relative_position_bias.relative_position_bias_table",
    .norm1 = "layernorm_before.|norm1.",
    .query = "attention.attention.query.|attention.query.|attention.q_proj.",
    .key = "attention.attention.key.|attention.key.|attention.k_proj.",
    .value = "attention.attention.value.|attention.value.|attention.v_proj.",
    .relative_position =
        "attention.attention.relative_position_bias.relative_position_bias_table|"
        "attention.relative_position_bias.relative_position_bias_table",
    .output = "attention.output.dense.|attention.o_proj.",
    .scale1 = "layer_scale1.lambda1|lambda_1",
    .norm2 = "layernorm_after.|norm2.",
    .fc1 = "intermediate.dense.|mlp.fc1.|mlp.up_proj.",
    .packed = "mlp.weights_in.",
    .gate = "mlp.gate_proj.",
    .up = "mlp.up_proj.",
    .fc2 = "output.dense.|mlp.fc2.|mlp.weights_out.|mlp.down_proj.",
    .scale2 = "layer_scale2.lambda1|lambda_2",
};

const Layout kTransformersClipLayout = {
    .name = "transformers-clip",
    .anchor = "embeddings.patch_embedding.weight",
    .block = "encoder.layers.{}.|layers.{}.",
    .patch = "embeddings.patch_embedding.",
    .class_token = "embeddings.class_embedding",
    .position = "embeddings.position_embedding.weight",
    .pre_norm = "pre_layrnorm.|pre_layernorm.",
    .norm = "post_layernorm.",
    .head = "^classifier.",
    .projection = "^visual_projection.",
    .norm1 = "layer_norm1.",
    .query = "self_attn.q_proj.",
    .key = "self_attn.k_proj.",
    .value = "self_attn.v_proj.",
    .output = "self_attn.out_proj.",
    .norm2 = "layer_norm2.",
    .fc1 = "mlp.fc1.",
    .fc2 = "mlp.fc2.",
    .probe = "head.probe",
    .pool_qkv = "head.attention.in_proj_",
    .pool_output = "head.attention.out_proj.",
    .pool_norm = "head.layernorm.",
    .pool_fc1 = "head.mlp.fc1.",
    .pool_fc2 = "head.mlp.fc2.",
};

const Layout kOpenAiLayout = {
    .name = "openai",
    .anchor = "conv1.weight",
    .siblings = "class_embedding|positional_embedding",
    .block = "transformer.resblocks.{}.",
    .patch = "conv1.",
    .class_token = "class_embedding",
    .position = "positional_embedding",
    .pre_norm = "ln_pre.",
    .norm = "ln_post.",
    .projection_matrix = "proj",
    .norm1 = "ln_1.",
    .qkv = "attn.in_proj_",
    .output = "attn.out_proj.",
    .scale1 = "ls_1.gamma",
    .norm2 = "ln_2.",
    .fc1 = "mlp.c_fc.",
    .fc2 = "mlp.c_proj.",
    .scale2 = "ls_2.gamma",
};

const Layout kTorchvisionLayout = {
    .name = "torchvision",
    .anchor = "conv_proj.weight",
    .siblings = "class_token",
    .block = "encoder.layers.encoder_layer_{}.",
    .patch = "conv_proj.",
    .class_token = "class_token",
    .position = "encoder.pos_embedding",
    .norm = "encoder.ln.",
    .head = "heads.head.",
    .pre_logits = "heads.pre_logits.",
    .norm1 = "ln_1.",
    .qkv = "self_attention.in_proj_",
    .output = "self_attention.out_proj.",
    .norm2 = "ln_2.",
    .fc1 = "mlp.0.|mlp.linear_1.",
    .fc2 = "mlp.3.|mlp.linear_2.",
};

const Layout kGoogleLayout = {
    .name = "google",
    .style = Layout::Style::kFlax,
    .anchor = "embedding/kernel",
    .block = "Transformer/encoderblock_{}/",
    .patch = "embedding/",
    .class_token = "cls",
    .position = "Transformer/posembed_input/pos_embedding|pos_embedding",
    .norm = "Transformer/encoder_norm/",
    .head = "head/",
    .pre_logits = "pre_logits/",
    .norm1 = "LayerNorm_0/",
    .query = "MultiHeadDotProductAttention_1/query/|MultiHeadDotProductAttention_0/query/",
    .key = "MultiHeadDotProductAttention_1/key/|MultiHeadDotProductAttention_0/key/",
    .value = "MultiHeadDotProductAttention_1/value/|MultiHeadDotProductAttention_0/value/",
    .output = "MultiHeadDotProductAttention_1/out/|MultiHeadDotProductAttention_0/out/",
    .norm2 = "LayerNorm_2/|LayerNorm_1/",
    .fc1 = "MlpBlock_3/Dense_0/|MlpBlock_0/Dense_0/",
    .fc2 = "MlpBlock_3/Dense_1/|MlpBlock_0/Dense_1/",
    .probe = "MAPHead_0/probe",
    .pool_query = "MAPHead_0/MultiHeadDotProductAttention_0/query/",
    .pool_key = "MAPHead_0/MultiHeadDotProductAttention_0/key/",
    .pool_value = "MAPHead_0/MultiHeadDotProductAttention_0/value/",
    .pool_output = "MAPHead_0/MultiHeadDotProductAttention_0/out/",
    .pool_norm = "MAPHead_0/LayerNorm_0/",
    .pool_fc1 = "MAPHead_0/MlpBlock_0/Dense_0/",
    .pool_fc2 = "MAPHead_0/MlpBlock_0/Dense_1/",
};

std::span<const Layout* const> Layouts() {
  static constexpr std::array kAll = {&kTorchvisionLayout,  &kGoogleLayout,
                                      &kOpenAiLayout,       &kTransformersClipLayout,
                                      &kTransformersLayout, &kTimmLayout};
  return kAll;
}

std::string WithSuffix(Aliases aliases, std::string_view suffix) {
  std::string result;
  ForEachAlias(aliases, [&](Aliases alias) {
    if (!result.empty()) result += '|';
    result.append(alias).append(suffix);
  });
  return result;
}

std::string WithPrefix(Aliases prefixes, Aliases aliases) {
  std::string result;
  ForEachAlias(prefixes, [&](Aliases prefix) {
    ForEachAlias(aliases, [&](Aliases alias) {
      if (!result.empty()) result += '|';
      result.append(prefix).append(alias);
    });
  });
  return result;
}

}  // namespace attnmap
