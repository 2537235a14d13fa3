// The one-layer form: matrices as X @ W takes them, (in, out).
#include "attnmap/core/error.h"
#include "model/form.h"
#include "model/limits.h"
#include "model/preprocess_json.h"

namespace attnmap {
namespace {

// (P, P, 3) x D, a patch row by row and channel last -> D x (3, P, P).
SharedTensor PatchToModel(const SharedTensor& matrix, int patch_size) {
  const MatrixView view = matrix.matrix();
  const int64_t area = int64_t{patch_size} * patch_size;
  Tensor result({view.cols, view.rows});
  for (int64_t pixel = 0; pixel < area; ++pixel) {
    for (int64_t channel = 0; channel < 3; ++channel) {
      const float* from = view.row(pixel * 3 + channel);
      float* to = result.values.data() + channel * area + pixel;
      for (int64_t d = 0; d < view.cols; ++d) to[d * view.rows] = from[d];
    }
  }
  return SharedTensor(std::move(result));
}

SharedTensor PatchToForm(const SharedTensor& weight, int patch_size) {
  const MatrixView view = weight.matrix();
  const int64_t area = int64_t{patch_size} * patch_size;
  Tensor result({view.cols, view.rows});
  for (int64_t d = 0; d < view.rows; ++d) {
    for (int64_t pixel = 0; pixel < area; ++pixel) {
      for (int64_t channel = 0; channel < 3; ++channel) {
        result.values[static_cast<size_t>((pixel * 3 + channel) * view.rows + d)] =
            view.at(d, channel * area + pixel);
      }
    }
  }
  return SharedTensor(std::move(result));
}

std::string HeadPrefix(int head) { return "heads." + std::to_string(head) + "."; }

class LayerReader {
 public:
  explicit LayerReader(const WeightSource& source)
      : reader_(source),
        header_(ConfigNode::Parse(source.Text("config").value_or("{}"), source.path(),
                                  ConfigNode::Manner::kOwn)) {}

  VitModel Read(const LoadModelOptions& options) {
    model_.source_path = reader_.path();
    SetConstants();
    ReadPatches();
    ReadTokens();
    CountHeads();
    ReadHeads();
    ReadOutput();
    ReadGeometry();
    RejectUnknownTensors();
    model_.used_tensors = reader_.used();
    NoteSources();
    ApplyOptions(options, model_);
    return std::move(model_);
  }

 private:
  VitConfig& config() { return model_.config; }

  void SetConstants() {
    config().family = "layer";
    config().num_layers = 1;
    config().mlp = MlpKind::kNone;
    config().residual = false;
    config().layer_norm = false;
    config().norm_before_pool = false;
    config().position_resize = PositionResize::kBicubic;
    config().position_by_count = true;
    model_.layers.resize(1);
  }

  void ReadPatches() {
    const auto patch_size = header_.Int("patch_size", 1, kMaxPatchSize);
    if (!patch_size) {
      header_.Fail("patch_size", "is missing, expected the side of a patch in pixels");
    }
    config().patch_size = *patch_size;
    const int64_t values = PatchValues(config());
    if (!reader_.Has("W_patch")) {
      if (reader_.Has("b_patch")) reader_.Fail("b_patch", "stands there without W_patch");
      config().embed_dim = static_cast<int>(values);
      return;
    }
    const int64_t dim = reader_.ShapeOf("W_patch", 2)[1];
    CheckDim("W_patch", dim);
    config().embed_dim = static_cast<int>(dim);
    model_.patch_weight = reader_.Read(
        "W_patch", {values, dim},
        [patch_size](const SharedTensor& matrix) { return PatchToModel(matrix, *patch_size); });
    model_.patch_bias = reader_.ReadIf("b_patch", {dim});
  }

  void CheckDim(Aliases name, int64_t dim) const {
    if (dim < 1 || dim > kMaxDim) {
      reader_.Fail(name, "should have 1 to " + std::to_string(kMaxDim) + " columns, found " +
                             std::to_string(dim));
    }
  }

  void ReadTokens() {
    const int64_t dim = config().embed_dim;
    model_.class_token = reader_.ReadIf("class_token", {dim});
    config().tokens.has_class_token = model_.class_token.present();
    config().pooling = model_.class_token.present() ? Pooling::kClass : Pooling::kMeanPatches;
    if (!reader_.Has("pos_embed")) return;
    model_.position = reader_.Read("pos_embed", {reader_.ShapeOf("pos_embed", 2)[0], dim});
    config().position_cover =
        model_.class_token.present() ? PositionCover::kPrefixNoRegisters : PositionCover::kPatches;
  }

  void CountHeads() {
    int heads = 0;
    while (heads < kMaxHeads && HasHead(heads)) ++heads;
    single_ = heads == 0;
    if (!single_ && reader_.Has("W_Q|W_K|W_V|b_Q|b_K|b_V")) {
      reader_.Fail("W_Q|W_K|W_V|b_Q|b_K|b_V", "stands beside \"heads\", which hold their own");
    }
    config().num_heads = single_ ? 1 : heads;
    config().head_dim = static_cast<int>(Columns("W_Q"));
    config().value_dim = static_cast<int>(Columns("W_V"));
  }

  bool HasHead(int head) const {
    const std::string prefix = HeadPrefix(head);
    return reader_.Has(prefix + "W_Q|" + prefix + "W_K|" + prefix + "W_V");
  }

  std::string NameOfHead(int head, const std::string& name) const {
    return single_ ? name : HeadPrefix(head) + name;
  }

  int64_t Columns(const std::string& name) const {
    const std::string first = NameOfHead(0, name);
    const int64_t cols = reader_.ShapeOf(first, 2)[1];
    CheckDim(first, cols);
    return cols;
  }

  // The heads' projections one below the other, (heads * out, D).
  LinearWeights ReadProjection(const std::string& weight, const std::string& bias, int64_t out) {
    const int64_t dim = config().embed_dim;
    std::vector<SharedTensor> weights;
    std::vector<SharedTensor> biases;
    bool any_bias = false;
    for (int head = 0; head < config().num_heads; ++head) {
      weights.push_back(reader_.Read(NameOfHead(head, weight), {dim, out}, Transposed));
      biases.push_back(reader_.ReadIf(NameOfHead(head, bias), {out}));
      any_bias = any_bias || biases.back().present();
    }
    for (SharedTensor& part : biases) {
      if (!part.present()) part = Zeros({out});
    }
    return {Stacked(weights), any_bias ? Stacked(biases) : SharedTensor()};
  }

  void ReadHeads() {
    LayerWeights& layer = model_.layers[0];
    layer.query = ReadProjection("W_Q", "b_Q", config().head_dim);
    layer.key = ReadProjection("W_K", "b_K", config().head_dim);
    layer.value = ReadProjection("W_V", "b_V", config().value_dim);
  }

  void ReadOutput() {
    if (!reader_.Has("W_O")) {
      if (reader_.Has("b_O")) reader_.Fail("b_O", "stands there without W_O");
      return;
    }
    const int64_t values = int64_t{config().num_heads} * config().value_dim;
    const int64_t out = reader_.ShapeOf("W_O", 2)[1];  // nothing is added to it: any width
    CheckDim("W_O", out);
    model_.layers[0].output.weight = reader_.Read("W_O", {values, out}, Transposed);
    model_.layers[0].output.bias = reader_.ReadIf("b_O", {out});
  }

  void ReadGeometry() {
    config().image_size = ReadImageSize(header_, config().patch_size);
    const int64_t rows = model_.position.present() ? model_.position.shape()[0] : 0;
    const int64_t patches = rows - config().tokens.num_prefix_tokens();
    const int side = SquareSide(patches);
    if (config().image_size) {
      const RowsCols grid = ImageGrid(config());
      if (int64_t{grid.rows} * grid.cols == patches) config().position_grid = grid;
    }
    if (config().position_grid == RowsCols{} && side > 0) config().position_grid = {side, side};
    if (!config().image_size && side > 0) {
      config().image_size = RowsCols{side * config().patch_size, side * config().patch_size};
    }
    const ConfigNode preprocess = header_.Child("preprocess");
    model_.preprocess = ReadPreprocess(preprocess, config().image_size);
    header_.RejectUnread();
  }

  void RejectUnknownTensors() const {
    const std::vector<std::string> unused = reader_.Unused();
    if (!unused.empty()) throw Error(reader_.path() + ": unknown key '" + unused[0] + "'");
  }

  void NoteSources() {
    Note(model_, "family", "layer", "file");
    Note(model_, "patch_size", std::to_string(config().patch_size), "file");
    Note(model_, "embed_dim", std::to_string(config().embed_dim), "file");
    Note(model_, "num_heads", std::to_string(config().num_heads), "file");
    Note(model_, "head_dim", std::to_string(config().head_dim), "file");
    if (config().image_size) {
      Note(model_, "image_size", SizeText(*config().image_size),
           header_.Has("image_size") ? "file" : "inferred");
    }
  }

  TensorReader reader_;
  ConfigNode header_;
  VitModel model_;
  bool single_ = true;
};

// Head `head` of a projection, as the form has it: (D, out).
SharedTensor HeadMatrix(const SharedTensor& weight, int head, int64_t out) {
  const int64_t dim = weight.shape()[1];
  return Transposed(weight.Slice(head * out * dim, {out, dim}));
}

void AddProjection(const LinearWeights& linear, const std::string& weight, const std::string& bias,
                   int num_heads, int64_t out, std::vector<NamedTensor>& tensors) {
  for (int head = 0; head < num_heads; ++head) {
    const std::string prefix = num_heads == 1 ? "" : HeadPrefix(head);
    tensors.push_back({prefix + weight, HeadMatrix(linear.weight, head, out)});
    if (linear.bias.present()) {
      tensors.push_back({prefix + bias, linear.bias.Slice(head * out, {out})});
    }
  }
}

}  // namespace

bool IsLayerForm(const WeightSource& source) {
  return source.format() == "json-layer" || source.Find("W_Q") != nullptr ||
         source.Find("heads.0.W_Q") != nullptr;
}

VitModel ReadLayerForm(const WeightSource& source, const LoadModelOptions& options) {
  return LayerReader(source).Read(options);
}

std::vector<NamedTensor> LayerTensors(const VitModel& model) {
  const VitConfig& config = model.config;
  const LayerWeights& layer = model.layers[0];
  std::vector<NamedTensor> tensors;
  const auto add = [&tensors](const char* name, const SharedTensor& tensor) {
    if (tensor.present()) tensors.push_back({name, tensor});
  };
  if (model.patch_weight.present()) {
    add("W_patch", PatchToForm(model.patch_weight, config.patch_size));
  }
  add("b_patch", model.patch_bias);
  add("class_token", model.class_token);
  add("pos_embed", model.position);
  AddProjection(layer.query, "W_Q", "b_Q", config.num_heads, config.head_dim, tensors);
  AddProjection(layer.key, "W_K", "b_K", config.num_heads, config.head_dim, tensors);
  AddProjection(layer.value, "W_V", "b_V", config.num_heads, config.value_dim, tensors);
  if (layer.output.present()) add("W_O", Transposed(layer.output.weight));
  add("b_O", layer.output.bias);
  return tensors;
}

}  // namespace attnmap
