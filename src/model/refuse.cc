#include "model/refuse.h"

#include <algorithm>
#include <array>

#include "attnmap/core/error.h"
#include "model/tower_reader.h"

namespace attnmap {
namespace {

// A part of a tensor's name that gives an architecture away.
struct Mark {
  std::string_view part;
  std::string_view architecture;
};

constexpr Mark kMarks[] = {
    {"beit3.", "BEiT-3"},
    {"rope.freqs", "a ViT with learned rotary frequencies"},
    {"attn_pool.probe", "Perception Encoder"},
    {"preprocessor.patchifier", "AIMv2"},
    {"blocks.0.attns.0.", "a ViT with parallel attention"},
    {"blocks.0.in_proj.weight", "a ViT with parallel blocks"},
    {"layers.0.blocks.0.", "Swin"},
    {"rel_pos_h", "a detection backbone with decomposed relative positions (SAM, ViTDet)"},
    {"cls_attn_blocks.0.", "XCiT"},
    {"blocks_token_only.0.", "CaiT"},
    {"tokens_to_token.", "T2T-ViT"},
    {"embeddings.detection_tokens", "YOLOS"},
    {"det_token", "YOLOS"},
    {"patch_embed.backbone.", "a ResNet and ViT hybrid"},
    {"embeddings.patch_embeddings.backbone.", "a ResNet and ViT hybrid"},
    {"embeddings.backbone.", "a ResNet and ViT hybrid"},
    {"conv_root/", "a ResNet and ViT hybrid"},
    {"conv_root.", "a ResNet and ViT hybrid"},
    {"gn_root/", "a ResNet and ViT hybrid"},
    {"visual.layer1.0.conv1.", "a ResNet tower of CLIP"},
    {"downsample_layers.0.", "ConvNeXt"},
    {"stages.0.", "a staged network (ConvNeXt and the like)"},
    {"layer1.0.conv1.weight", "ResNet"},
    {"down_blocks.0.", "a diffusion model"},
    {"first_stage_model.", "a diffusion model"},
    {"merger.mlp.", "the vision tower of Qwen-VL"},
    {"patch_embd.weight.1", "the vision tower of Qwen-VL"},
    {"bbox_embed.", "a detection model"},
    {"bbox_predictor.", "a detection model"},
    {"class_labels_classifier.", "a detection model"},
    {"token_embd.weight", "a language model"},
    {"embeddings.word_embeddings.weight", "a language model"},
    {"embed_tokens.weight", "a language model"},
    {".attn.ln_q.", "an open_clip tower with normed queries"},
    {".attn.logit_scale", "an open_clip tower with scaled cosine attention"},
    {".attn.ln.", "an open_clip tower with a norm within attention"},
    {".ln_attn.", "an open_clip tower with a norm within attention"},
};

// Files whose numbers are not the weights themselves.
constexpr std::array<std::string_view, 6> kQuantised = {
    ".SCB", ".qweight", ".qzeros", ".weight_format", ".weight.absmax", ".weight.quant_map"};

constexpr Mark kModelTypes[] = {
    {"swin", "Swin"},
    {"swinv2", "Swin v2"},
    {"vit_hybrid", "a ResNet and ViT hybrid"},
    {"yolos", "YOLOS"},
    {"detr", "DETR"},
    {"convnext", "ConvNeXt"},
    {"convnextv2", "ConvNeXt v2"},
    {"dinov3_convnext", "DINOv3 ConvNeXt"},
    {"resnet", "ResNet"},
    {"sam", "SAM"},
    {"aimv2", "AIMv2"},
    {"pixtral", "Pixtral"},
    {"blip", "BLIP"},
    {"videomae", "VideoMAE"},
    {"vivit", "ViViT"},
    {"timesformer", "TimeSformer"},
    {"segformer", "SegFormer"},
    {"pvt", "PVT"},
    {"bert", "BERT"},
};

[[noreturn]] void Refuse(const WeightSource& source, std::string_view architecture,
                         const std::string& evidence) {
  throw Error(source.path() + ": " + std::string(architecture) +
              " is recognised but not supported (" + evidence + ")");
}

void RefuseByNames(const WeightSource& source, const Tower& tower) {
  for (const TensorInfo& info : source.tensors()) {
    const std::string name = WithoutWrappers(info.name);
    if (!name.starts_with(tower.prefix)) continue;
    for (std::string_view suffix : kQuantised) {
      if (name.ends_with(suffix)) Refuse(source, "a quantised checkpoint", "tensor " + info.name);
    }
    for (const Mark& mark : kMarks) {
      const size_t at = name.find(mark.part);
      if (at == std::string::npos) continue;
      const bool whole = at == 0 || mark.part[0] == '.' || name[at - 1] == '.' ||
                         name[at - 1] == '/' || mark.part == "rel_pos_h";
      if (whole) Refuse(source, mark.architecture, "tensor " + info.name);
    }
  }
}

// What names alone do not say: the same names, another order of computation.
void RefuseByArchitecture(const WeightSource& source, const CheckpointConfig& config) {
  constexpr Mark kArchitectures[] = {
      {"_rpn_", "a ViT with norms after the residual (rpn)"},
      {"eva02_enormous", "EVA-02-E, which has norms after attention and MLP,"},
      {"_rope_mixed_", "a ViT with learned rotary frequencies"},
      {"_pe_", "Perception Encoder"},
      {"naflex", "a NaFlex ViT"},
  };
  for (const Mark& mark : kArchitectures) {
    if (config.architecture.find(mark.part) != std::string::npos) {
      Refuse(source, mark.architecture, config.file + ": architecture " + config.architecture);
    }
  }
  for (const Mark& mark : kModelTypes) {
    if (config.model_type == mark.part) {
      Refuse(source, mark.architecture, config.file + ": model_type " + config.model_type);
    }
  }
}

void RefuseByStructure(const WeightSource& source, const Tower& tower) {
  const Layout& layout = *tower.layout;
  const TensorReader reader(source, tower.names, tower.prefix);
  const std::string block = BlockPrefix(tower.block, 0);
  if (layout.style == Layout::Style::kTorch) {
    const std::string norm = WithPrefix(block, layout.norm1);
    if (reader.Has(WithSuffix(norm, "weight")) && !reader.Has(WithSuffix(norm, "bias"))) {
      Refuse(source, "a ViT with RMS norms", "its norms have no bias");
    }
  }
  if (tower.layout != &kTimmLayout) return;
  const bool relative = reader.Has(WithPrefix(block, layout.relative_position)) ||
                        reader.Has(layout.shared_relative_position);
  if (reader.Has("cls_token") && !relative &&
      !reader.Has("reg_token|storage_tokens|pos_embed|rope_embed.periods")) {
    Refuse(source, "a ViT with rotary positions alone (timm's vit_*_rope_*)",
           "it has no position table");
  }
}

std::string TensorCount(const WeightSource& source) {
  std::string text = std::to_string(source.tensors().size()) + " tensors";
  if (!source.tensors().empty()) text += ", the first is '" + source.tensors()[0].name + "'";
  return text;
}

}  // namespace

void RefuseUnsupported(const WeightSource& source, const Tower& tower,
                       const CheckpointConfig& config) {
  RefuseByArchitecture(source, config);
  RefuseByNames(source, tower);
  if (tower.layout == nullptr) {
    throw Error(source.path() +
                ": no Vision Transformer recognised: no patch embedding of a "
                "known name among " +
                TensorCount(source));
  }
  if (tower.num_layers == 0) {
    throw Error(source.path() + ": no blocks found, expected tensors called " + tower.prefix +
                BlockPrefix(tower.layout->block.substr(0, tower.layout->block.find('|')), 0) +
                "...");
  }
  RefuseByStructure(source, tower);
}

bool IsKnownUseless(std::string_view name) {
  constexpr std::array<std::string_view, 22> kPrefixes = {
      "mask_token",      "embeddings.mask_token",
      "head.mlp.",       "head.last_layer.",
      "dino_head.",      "ibot_head.",
      "decoder",         "logit_scale",
      "logit_bias",      "lm_head.",
      "local_cls_norm.", "cls_norm.",
      "projectors.",     "input_resolution",
      "context_length",  "vocab_size",
      "rope.",           "rope_embed.",
      "attn_pool.",      "pooler.dense.",
      "pre_logits",      "heads.pre_logits.",
  };
  constexpr std::array<std::string_view, 5> kSuffixes = {
      "relative_position_index", "position_ids", "bias_mask", "num_batches_tracked", "k_bias"};
  const auto starts = [name](std::string_view part) { return name.starts_with(part); };
  const auto ends = [name](std::string_view part) { return name.ends_with(part); };
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), starts) ||
         std::any_of(kSuffixes.begin(), kSuffixes.end(), ends);
}

}  // namespace attnmap
