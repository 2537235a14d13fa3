#include "model/checkpoint_heads.h"

#include "model/form.h"
#include "model/limits.h"
#include "model/names.h"

namespace attnmap {
namespace {

class OutputFinder {
 public:
  OutputFinder(const Checkpoint& checkpoint, const FamilyDefaults& defaults, VitModel& model,
               TowerParts& parts)
      : c_(checkpoint),
        layout_(*checkpoint.tower.layout),
        defaults_(defaults),
        model_(model),
        config_(model.config),
        parts_(parts) {}

  void Find() {
    FindNorms();
    bool has_head = FindHead();
    FindPooling(has_head);
    if (has_head) CheckHead();
    FindProjection();
    FindPool();
    Note(model_, "pooling", std::string(NameOf(config_.pooling)), pooling_source_);
    Note(model_, "num_classes", std::to_string(config_.num_classes), "file");
  }

 private:
  std::string Weight(Aliases base) const {
    return WithSuffix(base, layout_.style == Layout::Style::kFlax ? "kernel" : "weight");
  }
  bool HasWeight(Aliases base) const { return !base.empty() && c_.Has(Weight(base)); }

  void FindNorms() {
    const bool flax = layout_.style == Layout::Style::kFlax;
    const auto has = [&](Aliases base) {
      return !base.empty() && c_.Has(WithSuffix(base, flax ? "scale" : "weight"));
    };
    config_.norm_before_pool = has(layout_.norm);
    config_.norm_after_pool = has(layout_.fc_norm);
    config_.last_hidden_before_norm = defaults_.last_hidden_before_norm;
  }

  // Whether there is a head to be read.
  bool FindHead() {
    if (!HasWeight(layout_.head)) return false;
    if (HasWeight(layout_.pre_logits)) {
      model_.notes.emplace_back(
          "the classifier stands behind a layer that is not supported "
          "(pre_logits): no classes");
      return false;
    }
    if (Head().size() != 2) c_.reader.ShapeOf(Weight(layout_.head), 2);
    return true;
  }

  const Shape& Head() const { return c_.reader.Info(Weight(layout_.head))->shape; }
  int64_t HeadWidth() const { return Head()[layout_.style == Layout::Style::kFlax ? 0 : 1]; }
  int64_t HeadClasses() const { return Head()[layout_.style == Layout::Style::kFlax ? 1 : 0]; }

  void FindPooling(bool& has_head) {
    config_.pooling = UsualPooling(has_head);
    const std::string& pool = c_.config.global_pool.value_or("");
    if (pool.empty() || config_.pooling == Pooling::kAttention ||
        config_.pooling == Pooling::kDistilled) {
      return;
    }
    if (pool == "token" && config_.tokens.has_class_token) {
      config_.pooling = Pooling::kClass;
      pooling_source_ = c_.config.file;
    } else if (pool == "avg") {
      config_.pooling = Pooling::kMeanPatches;
      pooling_source_ = c_.config.file;
    } else if (pool != "token" && pool != "map") {
      model_.notes.push_back("pooling \"" + pool + "\" is not supported: no classes");
      has_head = false;
    }
  }

  Pooling UsualPooling(bool has_head) const {
    const TokenLayout& tokens = config_.tokens;
    if (!layout_.probe.empty() && c_.Has(layout_.probe)) return Pooling::kAttention;
    if (has_head && tokens.has_class_token && tokens.has_distillation_token &&
        HasWeight(layout_.distillation_head)) {
      return Pooling::kDistilled;
    }
    if (c_.config.mean_pooling) return Pooling::kMeanPatches;
    if (has_head && defaults_.class_and_mean && tokens.has_class_token &&
        HeadWidth() == int64_t{2} * config_.embed_dim) {
      return Pooling::kClassAndMean;
    }
    const bool mean = config_.norm_after_pool || !tokens.has_class_token || defaults_.mean_pooling;
    return mean ? Pooling::kMeanPatches : Pooling::kClass;
  }

  void CheckHead() {
    const int64_t classes = HeadClasses();
    if (classes < 1 || classes > kMaxClasses) {
      c_.reader.Fail(Weight(layout_.head),
                     "has a shape that no classifier has: " + ToString(Head()));
    }
    config_.num_classes = static_cast<int>(classes);
    parts_.head = true;
    parts_.distillation_head = config_.pooling == Pooling::kDistilled;
  }

  void FindProjection() {
    parts_.projection = (!layout_.projection_matrix.empty() && c_.Has(layout_.projection_matrix)) ||
                        HasWeight(layout_.projection);
  }

  void FindPool() {
    if (config_.pooling != Pooling::kAttention) return;
    const std::string fc1 = Weight(layout_.pool_fc1);
    const Shape& shape = c_.reader.ShapeOf(fc1, 2);
    const int64_t width = shape[layout_.style == Layout::Style::kFlax ? 1 : 0];
    if (width < 1 || width > kMaxMlpDim) c_.reader.Fail(fc1, "has an MLP of width 0 or too many");
    parts_.pool_mlp_dim = static_cast<int>(width);
  }

  const Checkpoint& c_;
  const Layout& layout_;
  const FamilyDefaults& defaults_;
  VitModel& model_;
  VitConfig& config_;
  TowerParts& parts_;
  std::string pooling_source_ = "inferred";
};

}  // namespace

void FindOutputs(const Checkpoint& checkpoint, const FamilyDefaults& defaults, VitModel& model,
                 TowerParts& parts) {
  OutputFinder(checkpoint, defaults, model, parts).Find();
}

}  // namespace attnmap
