#ifndef ATTNMAP_MODEL_FAMILY_H_
#define ATTNMAP_MODEL_FAMILY_H_

#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "attnmap/core/preprocess.h"
#include "attnmap/model/vit_config.h"
#include "model/checkpoint_config.h"
#include "model/tower.h"

namespace attnmap {

// A checkpoint as a family looks at it.
struct Checkpoint {
  const Tower& tower;
  const TensorReader& reader;
  const CheckpointConfig& config;

  bool Has(Aliases names) const { return reader.Has(names); }
  // In the first block.
  bool BlockHas(Aliases names) const;
  bool LayoutIs(const Layout& layout) const { return tower.layout == &layout; }
  bool HasConfig() const { return config.kind != CheckpointConfig::Kind::kNone; }
  bool ModelTypeIs(std::string_view type) const { return config.model_type == type; }
  bool ArchitectureHas(std::string_view part) const;
  // timm's tag, or the start of the file's own name where there is no config.
  bool TagHas(std::string_view part) const;
  bool FileStartsWith(std::string_view part) const;
  // The patch weights' last dimension; 0 where that says nothing.
  int PatchSize() const;
};

// Whose code the numbers have to match; decides defaults and how positions are resized.
enum class Library { kTimm, kOfficial, kTransformers, kOpenClip, kTorchvision, kGoogle };
std::string_view NameOf(Library library);

// How a family prepares pixels where no file says.
struct PreprocessRecipe {
  enum class Geometry { kShortSide, kSquash };
  enum class Norm { kImageNet, kHalf, kClip, kNone };
  Geometry geometry = Geometry::kShortSide;
  double crop_pct = 1.0;                             // resize to floor(S / crop_pct), crop S
  int whole_from = std::numeric_limits<int>::max();  // crop_pct is 1 from this S on
  Filter filter = Filter::kBicubic;
  Norm norm = Norm::kImageNet;
  bool resize_in_float = false;
  int side = 0;          // S where it is not the model's own size
  int usual_side = 224;  // S where nothing tells the model's size
};

// What a family does where neither tensors nor configuration say.
struct FamilyDefaults {
  Activation activation = Activation::kGelu;
  float layer_norm_eps = 1e-6F;
  PositionResize position_resize = PositionResize::kBicubicAntialias;
  RopeKind rope = RopeKind::kNone;
  float rope_theta = 100.0F;
  bool zero_key_bias = false;
  bool mean_pooling = false;    // although there is a class token
  bool class_and_mean = false;  // for a head of width 2 D
  bool last_hidden_before_norm = false;
  PreprocessRecipe preprocess;
  std::string note;  // a choice worth telling the user
};

// A family is this row of data; src/model/families.cc has the table.
struct Family {
  std::string_view name;
  // Rows are asked in the table's order; the first that says yes is the family.
  bool (*recognise)(const Checkpoint&);
  // With timm's names and no timm configuration: whether the authors' own code wrote it.
  bool (*official)(const Checkpoint&);
  FamilyDefaults (*defaults)(const Checkpoint&, Library);
};

extern const Family kDinoV3Family;
extern const Family kBeitFamily;
extern const Family kEva02Family;
extern const Family kClipFamily;
extern const Family kSiglipFamily;
extern const Family kDinoV2RegistersFamily;
extern const Family kDinoV2Family;
extern const Family kDeitDistilledFamily;
extern const Family kMaeFamily;
extern const Family kDinoFamily;
extern const Family kVitFamily;

std::span<const Family* const> Families();
const Family& RecogniseFamily(const Checkpoint& checkpoint);
// Throws UsageError listing the names where there is no such family.
const Family& FamilyNamed(std::string_view name);
Library LibraryOf(const Checkpoint& checkpoint, const Family& family);

// For families whose official code and timm's cannot be told apart.
bool NeverOfficial(const Checkpoint& checkpoint);

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_FAMILY_H_
