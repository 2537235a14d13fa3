#ifndef ATTNMAP_TESTS_MODEL_TOWERS_H_
#define ATTNMAP_TESTS_MODEL_TOWERS_H_

#include <string>

#include "model/model_helpers.h"

namespace attnmap {

// Made-up checkpoints: 2 blocks, width 64, patch 4, 3 x 3 patches, MLP 96.
inline constexpr int64_t kDim = 64;
inline constexpr int64_t kMlp = 96;

inline void AddNorm(FakeFile& file, const std::string& name, int64_t dim = kDim) {
  file.Add(name + ".weight", {dim}).Add(name + ".bias", {dim});
}

inline void AddLinear(FakeFile& file, const std::string& name, int64_t out, int64_t in) {
  file.Add(name + ".weight", {out, in}).Add(name + ".bias", {out});
}

inline std::string Block(const std::string& prefix, int layer) {
  return prefix + std::to_string(layer) + ".";
}

// timm's names, of a ViT with a classifier.
inline FakeFile TimmTower(const std::string& prefix = "", const std::string& blocks = "blocks.") {
  FakeFile file;
  file.Add(prefix + "cls_token", {1, 1, kDim}).Add(prefix + "pos_embed", {1, 10, kDim});
  file.Add(prefix + "patch_embed.proj.weight", {kDim, 3, 4, 4});
  file.Add(prefix + "patch_embed.proj.bias", {kDim});
  for (int layer = 0; layer < 2; ++layer) {
    const std::string b = prefix + Block(blocks, layer);
    AddNorm(file, b + "norm1");
    AddNorm(file, b + "norm2");
    AddLinear(file, b + "attn.qkv", 3 * kDim, kDim);
    AddLinear(file, b + "attn.proj", kDim, kDim);
    AddLinear(file, b + "mlp.fc1", kMlp, kDim);
    AddLinear(file, b + "mlp.fc2", kDim, kMlp);
  }
  AddNorm(file, prefix + "norm");
  AddLinear(file, prefix + "head", 5, kDim);
  return file;
}

inline void Rename(FakeFile& file, const std::string& from, const std::string& to) {
  std::map<std::string, Shape> renamed;
  for (const auto& [name, shape] : file.shapes) {
    std::string changed = name;
    const size_t at = changed.find(from);
    if (at != std::string::npos) changed.replace(at, from.size(), to);
    renamed[changed] = shape;
  }
  file.shapes = std::move(renamed);
}

inline void Erase(FakeFile& file, const std::string& part) {
  for (auto it = file.shapes.begin(); it != file.shapes.end();) {
    it = it->first.find(part) != std::string::npos ? file.shapes.erase(it) : std::next(it);
  }
}

// Adds a tensor to both blocks.
inline void AddToBlocks(FakeFile& file, const std::string& name, const Shape& shape,
                        const std::string& blocks = "blocks.") {
  for (int layer = 0; layer < 2; ++layer) file.Add(Block(blocks, layer) + name, shape);
}

// transformers' names of a plain ViT.
inline FakeFile TransformersTower(const std::string& prefix = "vit.",
                                  const std::string& blocks = "encoder.layer.") {
  FakeFile file;
  file.Add(prefix + "embeddings.cls_token", {1, 1, kDim});
  file.Add(prefix + "embeddings.position_embeddings", {1, 10, kDim});
  AddLinear(file, prefix + "embeddings.patch_embeddings.projection", kDim, 48);
  file.Add(prefix + "embeddings.patch_embeddings.projection.weight", {kDim, 3, 4, 4});
  for (int layer = 0; layer < 2; ++layer) {
    const std::string b = prefix + Block(blocks, layer);
    AddNorm(file, b + "layernorm_before");
    AddNorm(file, b + "layernorm_after");
    for (const char* part : {"query", "key", "value"}) {
      AddLinear(file, b + "attention.attention." + part, kDim, kDim);
    }
    AddLinear(file, b + "attention.output.dense", kDim, kDim);
    AddLinear(file, b + "intermediate.dense", kMlp, kDim);
    AddLinear(file, b + "output.dense", kDim, kMlp);
  }
  AddNorm(file, prefix + "layernorm");
  AddLinear(file, "classifier", 5, kDim);
  return file;
}

// OpenAI's names.
inline FakeFile OpenAiTower(const std::string& prefix = "visual.") {
  FakeFile file;
  file.Add(prefix + "class_embedding", {kDim}).Add(prefix + "positional_embedding", {10, kDim});
  file.Add(prefix + "conv1.weight", {kDim, 3, 4, 4}).Add(prefix + "proj", {kDim, 7});
  AddNorm(file, prefix + "ln_pre");
  AddNorm(file, prefix + "ln_post");
  for (int layer = 0; layer < 2; ++layer) {
    const std::string b = prefix + Block("transformer.resblocks.", layer);
    AddNorm(file, b + "ln_1");
    AddNorm(file, b + "ln_2");
    file.Add(b + "attn.in_proj_weight", {3 * kDim, kDim}).Add(b + "attn.in_proj_bias", {3 * kDim});
    AddLinear(file, b + "attn.out_proj", kDim, kDim);
    AddLinear(file, b + "mlp.c_fc", kMlp, kDim);
    AddLinear(file, b + "mlp.c_proj", kDim, kMlp);
  }
  file.Add("transformer.resblocks.0.ln_1.weight", {kDim}).Add("logit_scale", {});
  return file;
}

// CLIP or SigLIP of transformers.
inline FakeFile TransformersClipTower(bool clip) {
  FakeFile file;
  const std::string prefix = "vision_model.";
  file.Add(prefix + "embeddings.patch_embedding.weight", {kDim, 3, 4, 4});
  file.Add(prefix + "embeddings.position_embedding.weight", {clip ? 10 : 9, kDim});
  if (clip) {
    file.Add(prefix + "embeddings.class_embedding", {kDim});
    AddNorm(file, prefix + "pre_layrnorm");
    file.Add("visual_projection.weight", {7, kDim});
  } else {
    file.Add(prefix + "embeddings.patch_embedding.bias", {kDim});
  }
  for (int layer = 0; layer < 2; ++layer) {
    const std::string b = prefix + Block("encoder.layers.", layer);
    AddNorm(file, b + "layer_norm1");
    AddNorm(file, b + "layer_norm2");
    for (const char* part : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
      AddLinear(file, b + "self_attn." + part, kDim, kDim);
    }
    AddLinear(file, b + "mlp.fc1", kMlp, kDim);
    AddLinear(file, b + "mlp.fc2", kDim, kMlp);
  }
  AddNorm(file, prefix + "post_layernorm");
  return file;
}

// Google's names, 4 heads; big_vision's with other numbers.
inline FakeFile GoogleTower(const std::string& prefix = "", bool big_vision = false) {
  FakeFile file;
  file.format = "npz";
  const std::string attention =
      big_vision ? "MultiHeadDotProductAttention_0/" : "MultiHeadDotProductAttention_1/";
  const std::string mlp = big_vision ? "MlpBlock_0/" : "MlpBlock_3/";
  const std::string norm2 = big_vision ? "LayerNorm_1/" : "LayerNorm_2/";
  file.Add(prefix + "embedding/kernel", {4, 4, 3, kDim}).Add(prefix + "embedding/bias", {kDim});
  file.Add(prefix + "cls", {1, 1, kDim});
  file.Add(prefix + (big_vision ? "pos_embedding" : "Transformer/posembed_input/pos_embedding"),
           {1, 10, kDim});
  for (int layer = 0; layer < 2; ++layer) {
    const std::string b = prefix + "Transformer/encoderblock_" + std::to_string(layer) + "/";
    for (const std::string& norm : {std::string("LayerNorm_0/"), norm2}) {
      file.Add(b + norm + "scale", {kDim}).Add(b + norm + "bias", {kDim});
    }
    for (const char* part : {"query/", "key/", "value/"}) {
      file.Add(b + attention + part + "kernel", {kDim, 4, 16});
      file.Add(b + attention + part + "bias", {4, 16});
    }
    file.Add(b + attention + "out/kernel", {4, 16, kDim}).Add(b + attention + "out/bias", {kDim});
    file.Add(b + mlp + "Dense_0/kernel", {kDim, kMlp}).Add(b + mlp + "Dense_0/bias", {kMlp});
    file.Add(b + mlp + "Dense_1/kernel", {kMlp, kDim}).Add(b + mlp + "Dense_1/bias", {kDim});
  }
  file.Add(prefix + "Transformer/encoder_norm/scale", {kDim});
  file.Add(prefix + "Transformer/encoder_norm/bias", {kDim});
  return file;
}

inline std::string TimmConfig(const std::string& architecture, const std::string& rest = "") {
  return R"({"architecture": ")" + architecture + "\"" + rest + "}";
}

inline bool HasNote(const VitModel& model, const std::string& part) {
  for (const std::string& note : model.notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace attnmap

#endif  // ATTNMAP_TESTS_MODEL_TOWERS_H_
