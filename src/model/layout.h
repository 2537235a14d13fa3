#ifndef ATTNMAP_MODEL_LAYOUT_H_
#define ATTNMAP_MODEL_LAYOUT_H_

#include <span>
#include <string_view>

#include "model/tensor_reader.h"

namespace attnmap {

// How the tensors of a tower are named and laid out, whatever the family: data
// only. Every name is an Aliases list ("a|b"), relative to the tower's prefix;
// "^a" lies one component above the prefix. A name that ends in a separator
// takes "weight" / "bias" (torch) or "kernel" / "bias" and "scale" / "bias" (flax).
struct Layout {
  enum class Style {
    kTorch,  // linear weights (out, in), patches (D, 3, p, p)
    kFlax,   // kernels (in, out), (in, heads, head_dim), (heads, head_dim, out); (p, p, 3, D)
  };

  std::string_view name = {};
  Style style = Style::kTorch;
  Aliases anchor = {};    // the tensor that tells where the tower is
  Aliases siblings = {};  // all of them stand beside the anchor
  Aliases block = {};     // in front of a block's names, {} its number

  // The tower.
  Aliases patch = {};
  Aliases class_token = {};
  Aliases distillation_token = {};
  Aliases register_tokens = {};
  Aliases position = {};
  Aliases rope_periods = {};
  Aliases pre_norm = {};
  Aliases norm = {};
  Aliases fc_norm = {};
  Aliases head = {};
  Aliases distillation_head = {};
  Aliases projection = {};
  Aliases projection_matrix = {};  // (D, out), as x @ matrix takes it
  Aliases pre_logits = {};         // between pooling and head, with tanh: not supported
  Aliases shared_relative_position = {};

  // A block.
  Aliases norm1 = {};
  Aliases qkv = {};
  Aliases query = {};
  Aliases key = {};
  Aliases value = {};
  Aliases query_bias = {};  // full names, beside qkv or query
  Aliases value_bias = {};
  Aliases bias_mask = {};
  Aliases query_norm = {};
  Aliases key_norm = {};
  Aliases relative_position = {};
  Aliases attention_norm = {};
  Aliases output = {};
  Aliases scale1 = {};
  Aliases norm2 = {};
  Aliases fc1 = {};     // of a plain MLP
  Aliases packed = {};  // gate and up in one, gate first
  Aliases gate = {};
  Aliases up = {};
  Aliases mlp_norm = {};
  Aliases fc2 = {};
  Aliases scale2 = {};

  // The attention-pooling head.
  Aliases probe = {};
  Aliases pool_qkv = {};
  Aliases pool_kv = {};
  Aliases pool_query = {};
  Aliases pool_key = {};
  Aliases pool_value = {};
  Aliases pool_output = {};
  Aliases pool_norm = {};
  Aliases pool_fc1 = {};
  Aliases pool_fc2 = {};
};

extern const Layout kTimmLayout;              // timm, facebookresearch, our full form
extern const Layout kTransformersLayout;      // ViT, DeiT, DINOv2, DINOv3, MAE, BEiT
extern const Layout kTransformersClipLayout;  // CLIP, SigLIP
extern const Layout kOpenAiLayout;            // OpenAI's CLIP, open_clip
extern const Layout kTorchvisionLayout;
extern const Layout kGoogleLayout;  // vision_transformer, big_vision

// In the order in which they are tried.
std::span<const Layout* const> Layouts();

// "a|b" with a suffix each: "a.weight|b.weight".
std::string WithSuffix(Aliases aliases, std::string_view suffix);
// Every name with every prefix: "p.a|p.b|q.a|q.b".
std::string WithPrefix(Aliases prefixes, Aliases aliases);
// Calls `call` with each of the aliases.
template <typename Call>
void ForEachAlias(Aliases aliases, Call&& call) {
  while (!aliases.empty()) {
    const size_t bar = aliases.find('|');
    call(aliases.substr(0, bar));
    aliases = bar == Aliases::npos ? Aliases() : aliases.substr(bar + 1);
  }
}

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_LAYOUT_H_
