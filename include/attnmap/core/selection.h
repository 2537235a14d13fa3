#ifndef ATTNMAP_CORE_SELECTION_H_
#define ATTNMAP_CORE_SELECTION_H_

#include <string>
#include <string_view>
#include <vector>

#include "attnmap/core/capture.h"
#include "attnmap/core/image_geometry.h"
#include "attnmap/core/patch_grid.h"

namespace attnmap {

// --layer: `last`, `N`, `-N`, `A:B` (B excluded), `all`.
struct LayerChoice {
  int begin = -1;        // negative: from the end
  int end = 0;           // 0 with open_end: up to the last
  bool open_end = true;  // no end given
  bool single = true;
};

// --head: `mean`, `max`, `min`, `N`, a list, `all`.
struct HeadChoice {
  enum class Kind { kFused, kList, kAll };
  Kind kind = Kind::kFused;
  HeadFusion fusion = HeadFusion::kMean;
  std::vector<int> heads;  // kList, in the order given
};

// --query.
struct QueryChoice {
  enum class Kind { kDefault, kClass, kPool, kPatch, kPixel, kToken, kMean, kAll };
  Kind kind = Kind::kDefault;
  int row = 0;  // kPatch
  int col = 0;
  double x = 0;  // kPixel, of the upright picture
  double y = 0;
  int token = 0;  // kToken
};

// Text to choice. Throw UsageError with the accepted forms.
LayerChoice ParseLayerChoice(std::string_view text);
HeadChoice ParseHeadChoice(std::string_view text);
QueryChoice ParseQueryChoice(std::string_view text);

// Choice to indices for a model. Throw Error (not UsageError) where the model
// has no such layer, head or token, naming what it has.
std::vector<int> ResolveLayers(const LayerChoice& choice, int num_layers);
// The heads chosen one by one; empty for a fused choice.
std::vector<int> ResolveHeads(const HeadChoice& choice, int num_heads);

// What a query choice comes to for one model and picture.
struct ResolvedQuery {
  enum class Kind { kToken, kMean, kPool, kAll };
  Kind kind = Kind::kToken;
  int token = 0;      // kToken
  std::string label;  // "class", "patch 3,5", "token 7", "mean", "pool", "all"
};

// kDefault becomes the class token, else `pool` where the model has one, else
// the mean.
ResolvedQuery ResolveQuery(const QueryChoice& choice, const TokenLayout& layout,
                           const PatchGrid& grid, const ImageGeometry& geometry,
                           bool has_pool_head);

// "mean", "max", "min".
std::string_view FusionName(HeadFusion fusion);

}  // namespace attnmap

#endif  // ATTNMAP_CORE_SELECTION_H_
