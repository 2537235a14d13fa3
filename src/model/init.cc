// Fresh random weights.
#include <random>

#include "attnmap/core/error.h"
#include "model/form.h"
#include "model/limits.h"
#include "model/preprocess_json.h"

namespace attnmap {
namespace {

constexpr double kStd = 0.02;
constexpr int64_t kMaxParameters = int64_t{1} << 32;

// Normal numbers cut at 2 standard deviations, by rejection in whole numbers
// only: no logarithm or exponential of a platform's library, so the same seed
// gives the same numbers everywhere.
class TruncatedNormal {
 public:
  explicit TruncatedNormal(uint64_t seed) : engine_(seed) {}

  float operator()() {
    while (true) {
      // x = k / 2^30, uniform in [-2, 2); kept with probability exp(-x^2 / 2).
      const auto k = static_cast<int32_t>(static_cast<uint32_t>(engine_() >> 32));
      const int64_t wide = k;
      const auto quarter = static_cast<uint64_t>(wide * wide);  // (x^2 / 4) * 2^62
      if (AcceptExp(quarter) && AcceptExp(quarter)) {
        return static_cast<float>(static_cast<double>(k) * (1.0 / (int64_t{1} << 30)) * kStd);
      }
    }
  }

 private:
  // True with probability exp(-t), t = value / 2^62 <= 1: the length of a
  // falling run of uniform numbers below t is even (von Neumann 1951).
  bool AcceptExp(uint64_t value) {
    bool even = true;
    while (true) {
      const uint64_t uniform = engine_() >> 2;
      if (uniform >= value) return even;
      value = uniform;
      even = !even;
    }
  }

  std::mt19937_64 engine_;
};

void Check(bool good, const std::string& what) {
  if (!good) throw UsageError("init: " + what);
}

void CheckOptions(const InitOptions& options) {
  const auto in = [](int value, int high) { return value >= 1 && value <= high; };
  Check(in(options.patch_size, kMaxPatchSize), "--patch-size should be 1 to 1024");
  Check(in(options.embed_dim, kMaxDim), "--embed-dim should be 1 to 65536");
  Check(in(options.num_layers, kMaxLayers), "--num-layers should be 1 to 512");
  Check(in(options.num_heads, kMaxHeads) && options.embed_dim % options.num_heads == 0,
        "--num-heads should divide --embed-dim " + std::to_string(options.embed_dim));
  Check(options.num_classes >= 0 && options.num_classes <= kMaxClasses,
        "--num-classes should be 0 to 1048576");
  const RowsCols size = options.image_size;
  Check(in(size.rows, kMaxImageSide) && in(size.cols, kMaxImageSide) &&
            size.rows % options.patch_size == 0 && size.cols % options.patch_size == 0,
        "--image-size should be multiples of --patch-size " + std::to_string(options.patch_size));
}

class Initializer {
 public:
  explicit Initializer(const InitOptions& options)
      : options_(options), normal_(options.seed), dim_(options.embed_dim) {}

  VitModel Make() {
    SetConfig();
    CheckSize();
    MakeTokens();
    model_.layers.resize(static_cast<size_t>(config().num_layers));
    for (LayerWeights& layer : model_.layers) {
      if (options_.one_layer) {
        MakeTextbookLayer(layer);
      } else {
        MakeLayer(layer);
      }
    }
    if (!options_.one_layer) model_.norm = Norm();
    if (config().num_classes > 0) model_.head = Linear(config().num_classes, dim_);
    return std::move(model_);
  }

 private:
  VitConfig& config() { return model_.config; }

  void SetConfig() {
    VitConfig& c = config();
    c.name = options_.one_layer ? "" : "random";
    c.family = options_.one_layer ? "layer" : "vit";
    c.image_size = options_.image_size;
    c.patch_size = options_.patch_size;
    c.embed_dim = options_.embed_dim;
    c.num_layers = options_.one_layer ? 1 : options_.num_layers;
    c.num_heads = options_.num_heads;
    c.head_dim = c.embed_dim / c.num_heads;
    c.value_dim = c.head_dim;
    c.tokens.has_class_token = true;
    c.position_cover = PositionCover::kPrefixNoRegisters;
    c.position_grid = ImageGrid(c);
    if (options_.one_layer) {
      SetTextbook(c);
    } else {
      c.mlp_dim = 4 * c.embed_dim;
      c.num_classes = options_.num_classes;
    }
    ResizeAndCropTo(options_.image_size, model_.preprocess);
  }

  static void SetTextbook(VitConfig& c) {
    c.mlp = MlpKind::kNone;
    c.residual = false;
    c.layer_norm = false;
    c.norm_before_pool = false;
    c.position_resize = PositionResize::kBicubic;
    c.position_by_count = true;
  }

  // The numbers that are to be made, before any is.
  void CheckSize() {
    const VitConfig& c = config();
    const int64_t layer = 4 * dim_ * dim_ + 2 * dim_ * c.mlp_dim;
    const int64_t tokens = int64_t{c.position_grid.rows} * c.position_grid.cols + 1;
    const int64_t total = layer * c.num_layers + (tokens + PatchValues(c) + c.num_classes) * dim_;
    Check(total <= kMaxParameters, "the model would have " + std::to_string(total) +
                                       " parameters, at most " + std::to_string(kMaxParameters) +
                                       " are allowed");
  }

  SharedTensor Random(Shape shape) {
    Tensor tensor(std::move(shape));
    for (float& value : tensor.values) value = normal_();
    return SharedTensor(std::move(tensor));
  }

  LinearWeights Linear(int64_t out, int64_t in) { return {Random({out, in}), Zeros({out})}; }

  NormWeights Norm() const {
    Tensor ones({dim_}, std::vector<float>(static_cast<size_t>(dim_), 1.0F));
    return {SharedTensor(std::move(ones)), Zeros({dim_})};
  }

  void MakeTokens() {
    const RowsCols grid = config().position_grid;
    model_.patch_weight = Random({dim_, PatchValues(config())});
    model_.patch_bias = Zeros({dim_});
    model_.class_token = Random({dim_});
    model_.position = Random({int64_t{grid.rows} * grid.cols + 1, dim_});
  }

  void MakeTextbookLayer(LayerWeights& layer) {
    layer.query.weight = Random({dim_, dim_});
    layer.key.weight = Random({dim_, dim_});
    layer.value.weight = Random({dim_, dim_});
  }

  void MakeLayer(LayerWeights& layer) {
    layer.norm1 = Norm();
    layer.query = Linear(dim_, dim_);
    layer.key = Linear(dim_, dim_);
    layer.value = Linear(dim_, dim_);
    layer.output = Linear(dim_, dim_);
    layer.norm2 = Norm();
    layer.fc1 = Linear(config().mlp_dim, dim_);
    layer.fc2 = Linear(dim_, config().mlp_dim);
  }

  InitOptions options_;
  TruncatedNormal normal_;
  int64_t dim_;
  VitModel model_;
};

}  // namespace

VitModel InitModel(const InitOptions& options) {
  CheckOptions(options);
  return Initializer(options).Make();
}

}  // namespace attnmap
