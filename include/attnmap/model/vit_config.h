#ifndef ATTNMAP_MODEL_VIT_CONFIG_H_
#define ATTNMAP_MODEL_VIT_CONFIG_H_

#include <optional>
#include <string>

#include "attnmap/core/patch_grid.h"

namespace attnmap {

enum class Activation { kGelu, kGeluTanh, kQuickGelu, kSilu };

enum class MlpKind {
  kNone,   // the textbook layer
  kPlain,  // fc2(act(fc1(x)))
  kGated,  // fc2(norm?(act(gate(x)) * up(x)))
};

// How a table of learned positions is resized to another patch grid.
enum class PositionResize {
  kBicubicAntialias,   // size form, a = -0.5 (timm, DINOv2 with registers, open_clip)
  kBicubic,            // size form, a = -0.75 (transformers, MAE)
  kBicubicOffset,      // scale form with + 0.1, a = -0.75 (DINO, DINOv2)
  kBicubicCorners,     // align_corners, a = -0.75 (torchvision)
  kBilinear,           // no antialias (npz imports)
  kBilinearAntialias,  // SigLIP 2 NaFlex
};

// Which tokens the position table covers, and so when it is added.
enum class PositionCover {
  kNone,               // no table
  kPatches,            // added to patches before the prefix tokens are put in front
  kPrefixNoRegisters,  // class (and distillation) token and patches; registers get none
  kAll,                // every token, registers included
};

enum class RopeKind {
  kNone,
  kHalf,         // DINOv3: channel m with m + head_dim / 2, centred coordinates
  kInterleaved,  // EVA-02: channel 2m with 2m + 1, positions on a 16 x 16 reference grid
};

// How the tokens become one vector for the head.
enum class Pooling {
  kClass,
  kMeanPatches,
  kClassAndMean,  // concatenated (transformers' DINOv2 classifier)
  kDistilled,     // two heads, each on its token, the mean of both
  kAttention,     // attention pooling head (SigLIP)
};

// Everything about a model but its numbers. Model variants are fields here,
// never tests on a name or on depth.
struct VitConfig {
  std::string name;
  std::string family;  // "vit", "dino", "layer" (the textbook's), ...

  std::optional<RowsCols> image_size;
  int patch_size = 16;
  int embed_dim = 0;
  int num_layers = 0;
  int num_heads = 0;
  int head_dim = 0;   // of queries and keys
  int value_dim = 0;  // of values, a head; head_dim but in the textbook form
  int mlp_dim = 0;    // 0: no MLP
  int num_classes = 0;

  TokenLayout tokens;
  Activation activation = Activation::kGelu;
  MlpKind mlp = MlpKind::kPlain;
  float layer_norm_eps = 1e-6F;
  bool residual = true;    // false: the textbook layer
  bool layer_norm = true;  // false: the textbook layer

  PositionCover position_cover = PositionCover::kNone;
  PositionResize position_resize = PositionResize::kBicubicAntialias;
  // Of the table's patch rows, or of BEiT's relative positions. 0 x 0: not
  // known, the table can only be used as it is.
  RowsCols position_grid;
  // The textbook form: a table with as many rows as there are tokens is used as
  // it is, whatever its grid. Otherwise another grid of as many patches is resized.
  bool position_by_count = false;

  RopeKind rope = RopeKind::kNone;
  float rope_theta = 100.0F;       // kHalf where the file has no periods; kInterleaved: 10000
  bool relative_position = false;  // BEiT bias tables

  Pooling pooling = Pooling::kClass;
  // The final norm acts before pooling (on every token), after it, or not at all.
  bool norm_before_pool = true;
  bool norm_after_pool = false;  // fc_norm
  // What last_hidden_state means where it is not after the final norm.
  bool last_hidden_before_norm = false;  // CLIP of transformers
};

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_VIT_CONFIG_H_
