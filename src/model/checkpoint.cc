#include "model/checkpoint.h"

#include <cmath>

#include "attnmap/core/error.h"
#include "model/checkpoint_heads.h"
#include "model/checkpoint_positions.h"
#include "model/checkpoint_preprocess.h"
#include "model/family.h"
#include "model/form.h"
#include "model/heads.h"
#include "model/labels.h"
#include "model/limits.h"
#include "model/names.h"
#include "model/refuse.h"
#include "model/tower_reader.h"
#include "model/unstacked_source.h"

namespace attnmap {
namespace {

class CheckpointReader {
 public:
  CheckpointReader(const WeightSource& source, const Tower& tower, const CheckpointConfig& known,
                   const LoadModelOptions& options)
      : options_(options),
        tower_(tower),
        layout_(*tower.layout),
        known_(known),
        reader_(source, tower.names, tower.prefix),
        checkpoint_{tower_, reader_, known_} {}

  VitModel Read() {
    model_.source_path = reader_.path();
    FindFamily();
    FindSizes();
    FindTokens();
    FindHeadCount();
    FindMlp();
    FindNumbers();
    FindPositionTable();
    FindParts();
    FindOutputs(checkpoint_, defaults_, model_, parts_);
    ApplyOptions(options_, model_);
    CheckConfig(reader_.path(), config());
    ReadTower(layout_, tower_.block, parts_, reader_, model_);
    if (known_.norm_after_pool) MoveNormBehindPool();
    FindPixels();
    ReadLabels(reader_.source(), known_, model_);
    ListTensors();
    return std::move(model_);
  }

 private:
  VitConfig& config() { return model_.config; }

  void Say(const char* key, std::string value, std::string source) {
    Note(model_, key, std::move(value), std::move(source));
  }

  // A tensor's name with the layout's word for its numbers.
  std::string WeightName(Aliases bases) const {
    return WithSuffix(bases, layout_.style == Layout::Style::kFlax ? "kernel" : "weight");
  }
  std::string BlockName(Aliases bases) const {
    return WithPrefix(BlockPrefix(tower_.block, 0), bases);
  }

  void FindFamily() {
    const bool given = !options_.family.empty();
    family_ = given ? &FamilyNamed(options_.family) : &RecogniseFamily(checkpoint_);
    library_ = LibraryOf(checkpoint_, *family_);
    defaults_ = family_->defaults(checkpoint_, library_);
    config().family = family_->name;
    config().name = known_.architecture.empty() ? known_.model_type : known_.architecture;
    // Plain names without a configuration: told by what is not there.
    const bool plain =
        layout_.name == kTimmLayout.name && !checkpoint_.HasConfig() &&
        (family_ == &kVitFamily || family_ == &kDinoFamily || family_ == &kMaeFamily);
    Say("family", config().family, given ? "option" : plain ? "assumed" : "inferred");
    Say("layout", std::string(NameOf(library_)), plain ? "assumed" : "inferred");
    if (plain && !given) {
      model_.notes.push_back("family " + config().family + " assumed (--family overrules)");
    }
    if (!tower_.passed_over.empty()) {
      model_.notes.push_back("the tower under '" + tower_.prefix + "' is used, not '" +
                             tower_.passed_over[0] + "'");
    }
  }

  void FindSizes() {
    const std::string name = WeightName(layout_.patch);
    const TensorInfo* info = reader_.Info(name);
    const Shape& shape = reader_.ShapeOf(name, info != nullptr && info->shape.size() == 2 ? 2 : 4);
    const bool flax = layout_.style == Layout::Style::kFlax;
    const int64_t dim = flax ? shape[3] : shape[0];
    int64_t patch = flax ? shape[0] : shape.back();
    if (shape.size() == 2) patch = SquareSide(shape[1] / 3);
    if (dim < 1 || dim > kMaxDim || patch < 1 || patch > kMaxPatchSize) {
      reader_.Fail(name, "has a shape that no patch embedding has: " + ToString(shape));
    }
    config().embed_dim = static_cast<int>(dim);
    config().patch_size = static_cast<int>(patch);
    config().num_layers = tower_.num_layers;
    Say("patch_size", std::to_string(patch), "file");
    Say("embed_dim", std::to_string(dim), "file");
    Say("num_layers", std::to_string(tower_.num_layers), "file");
  }

  void FindTokens() {
    const auto has = [this](Aliases name) { return !name.empty() && reader_.Has(name); };
    TokenLayout& tokens = config().tokens;
    tokens.has_class_token = has(layout_.class_token);
    tokens.has_distillation_token = has(layout_.distillation_token);
    if (!has(layout_.register_tokens)) return;
    const TensorInfo* info = reader_.Info(layout_.register_tokens);
    const int64_t count = info->shape.size() < 2 ? 0 : info->shape[info->shape.size() - 2];
    if (count < 1 || count > kMaxRegisters) {
      reader_.Fail(layout_.register_tokens, "should hold 1 to " + std::to_string(kMaxRegisters) +
                                                " tokens, found " + ToString(info->shape));
    }
    tokens.num_register_tokens = static_cast<int>(count);
  }

  void FindHeadCount() {
    HeadCount count = FindHeads(checkpoint_, *family_, config().embed_dim);
    const int dim = config().embed_dim;
    if (options_.num_heads > 0) count = {options_.num_heads, "option"};
    if (count.heads == 0) {
      throw Error(reader_.path() + ": nothing says how many heads a width of " +
                  std::to_string(dim) + " has; give --num-heads");
    }
    if (dim % count.heads != 0) {
      throw Error(reader_.path() + ": " + std::to_string(count.heads) +
                  " heads do not divide the width " + std::to_string(dim) + " (" + count.source +
                  ")");
    }
    config().num_heads = count.heads;
    config().head_dim = dim / count.heads;
    config().value_dim = config().head_dim;
    Say("num_heads", std::to_string(count.heads), count.source);
    if (count.source == "assumed") {
      model_.notes.push_back(std::to_string(count.heads) + " heads assumed for width " +
                             std::to_string(dim) + " (--num-heads overrules)");
    }
  }

  void FindMlp() {
    const bool flax = layout_.style == Layout::Style::kFlax;
    const std::string fc2 = BlockName(WeightName(layout_.fc2));
    const int64_t width = reader_.ShapeOf(fc2, 2)[flax ? 0 : 1];
    if (width < 1 || width > kMaxMlpDim) reader_.Fail(fc2, "has an MLP of width 0 or too many");
    config().mlp_dim = static_cast<int>(width);
    config().mlp = IsGated(width) ? MlpKind::kGated : MlpKind::kPlain;
    Say("mlp_dim", std::to_string(width), "file");
    Say("mlp", std::string(NameOf(config().mlp)), "inferred");
  }

  bool IsGated(int64_t width) const {
    const auto has = [this](Aliases base) {
      return !base.empty() && reader_.Has(BlockName(WithSuffix(base, "weight")));
    };
    if (has(layout_.gate) || has(layout_.packed)) return true;
    if (layout_.style == Layout::Style::kFlax || !has(layout_.fc1)) return false;
    return reader_.ShapeOf(BlockName(WithSuffix(layout_.fc1, "weight")), 2)[0] == 2 * width;
  }

  void FindNumbers() {
    FindActivation();
    config().layer_norm_eps = static_cast<float>(
        known_.layer_norm_eps.value_or(static_cast<double>(defaults_.layer_norm_eps)));
    if (known_.layer_norm_eps) config().layer_norm_eps = static_cast<float>(*known_.layer_norm_eps);
    Say("layer_norm_eps", FloatText(config().layer_norm_eps),
        known_.layer_norm_eps ? known_.file : DefaultSource());
    config().rope = defaults_.rope;
    config().rope_theta =
        static_cast<float>(known_.rope_theta.value_or(static_cast<double>(defaults_.rope_theta)));
    if (config().rope == RopeKind::kNone) return;
    Say("rope", std::string(NameOf(config().rope)), "inferred");
    Say("rope_theta", FloatText(config().rope_theta), known_.rope_theta ? known_.file : "default");
  }

  // A gate is a SiLU everywhere but where DINOv3's configuration names another.
  void FindActivation() {
    const bool gated = config().mlp == MlpKind::kGated;
    const bool believed = known_.activation && (!gated || family_ == &kDinoV3Family);
    config().activation = believed ? *known_.activation
                          : gated  ? Activation::kSilu
                                   : defaults_.activation;
    Say("activation", std::string(NameOf(config().activation)),
        believed ? known_.file : DefaultSource());
    if (!believed && !gated && !defaults_.note.empty() && options_.activation.empty()) {
      model_.notes.push_back(defaults_.note);
    }
  }

  // A default of a recognised library is as good as known; without any
  // configuration it is a guess.
  std::string DefaultSource() const {
    return checkpoint_.HasConfig() ? "default of " + std::string(NameOf(library_)) : "assumed";
  }

  void FindPositionTable() {
    const std::string source = FindPositions(checkpoint_, config());
    config().position_resize = defaults_.position_resize;
    if (config().image_size) Say("image_size", SizeText(*config().image_size), source);
    Say("position_cover", std::string(NameOf(config().position_cover)), "inferred");
    if (config().position_cover == PositionCover::kNone) return;
    Say("position_resize", std::string(NameOf(config().position_resize)), DefaultSource());
    if (config().position_grid != RowsCols{}) {
      Say("position_grid", SizeText(config().position_grid), "file");
    }
  }

  void FindParts() {
    const auto in_block = [this](Aliases base, const char* suffix) {
      return !base.empty() && reader_.Has(BlockName(WithSuffix(base, suffix)));
    };
    parts_.zero_key_bias = defaults_.zero_key_bias;
    parts_.rope_periods = !layout_.rope_periods.empty() && reader_.Has(layout_.rope_periods);
    parts_.pre_norm =
        !layout_.pre_norm.empty() && reader_.Has(WithSuffix(layout_.pre_norm, "weight"));
    parts_.query_key_norm = in_block(layout_.query_norm, "weight");
    parts_.attention_norm = in_block(layout_.attention_norm, "weight");
    parts_.mlp_norm = in_block(layout_.mlp_norm, "weight");
    parts_.layer_scale = in_block(layout_.scale1, "");
  }

  // open_clip's final_ln_after_pool.
  void MoveNormBehindPool() {
    model_.fc_norm = std::move(model_.norm);
    model_.norm = {};
    config().norm_before_pool = false;
    config().norm_after_pool = true;
  }

  void FindPixels() {
    FoundPreprocess found = FindPreprocess(known_, defaults_.preprocess, config().image_size);
    model_.preprocess = found.preprocess;
    if (!found.note.empty()) model_.notes.push_back(found.note);
    Say("preprocess", PreprocessText(model_.preprocess), found.source);
    if (found.source == "assumed" && !checkpoint_.HasConfig()) {
      model_.notes.push_back("preprocessing assumed: " + PreprocessText(model_.preprocess));
    }
  }

  void ListTensors() {
    model_.used_tensors = reader_.used();
    model_.unused_tensors = reader_.Unused();
    std::set<std::string> unused(model_.unused_tensors.begin(), model_.unused_tensors.end());
    for (const auto& [name, original] : tower_.names) {
      if (name[0] == '^' || !unused.contains(original) || IsKnownUseless(name)) continue;
      model_.unrecognised_tensors.push_back(original);
    }
    if (model_.unrecognised_tensors.empty()) return;
    model_.notes.push_back(std::to_string(model_.unrecognised_tensors.size()) +
                           " tensors of the tower are not understood, the first is '" +
                           model_.unrecognised_tensors[0] + "'");
  }

  const LoadModelOptions& options_;
  const Tower& tower_;
  const Layout& layout_;
  const CheckpointConfig& known_;
  TensorReader reader_;
  Checkpoint checkpoint_;
  const Family* family_ = nullptr;
  Library library_ = Library::kTimm;
  FamilyDefaults defaults_;
  TowerParts parts_;
  VitModel model_;
};

}  // namespace

VitModel ReadCheckpoint(const WeightSource& source, const LoadModelOptions& options) {
  const UnstackedSource unstacked(source);
  const Tower tower = FindTower(unstacked);
  const bool open_clip = tower.layout == &kOpenAiLayout || tower.prefix.ends_with("trunk.");
  const CheckpointConfig known = ReadCheckpointConfig(unstacked, open_clip);
  RefuseUnsupported(unstacked, tower, known);
  return CheckpointReader(unstacked, tower, known, options).Read();
}

}  // namespace attnmap
