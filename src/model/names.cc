#include "model/names.h"

#include <span>

namespace attnmap {
namespace {

template <typename T>
struct Entry {
  T value;
  std::string_view name;
};

constexpr Entry<Activation> kActivations[] = {
    {Activation::kGelu, "gelu"},
    {Activation::kGeluTanh, "gelu_tanh"},
    {Activation::kQuickGelu, "quick_gelu"},
    {Activation::kSilu, "silu"},
};

// Other libraries' names, beyond those above.
constexpr Entry<Activation> kActivationAliases[] = {
    {Activation::kGelu, "gelu_erf"},       {Activation::kGelu, "gelu_python"},
    {Activation::kGeluTanh, "gelu_new"},   {Activation::kGeluTanh, "gelu_pytorch_tanh"},
    {Activation::kQuickGelu, "quickgelu"}, {Activation::kSilu, "swish"},
};

constexpr Entry<MlpKind> kMlpKinds[] = {
    {MlpKind::kNone, "none"},
    {MlpKind::kPlain, "plain"},
    {MlpKind::kGated, "gated"},
};

constexpr Entry<PositionResize> kPositionResizes[] = {
    {PositionResize::kBicubicAntialias, "bicubic-antialias"},
    {PositionResize::kBicubic, "bicubic"},
    {PositionResize::kBicubicOffset, "bicubic-offset"},
    {PositionResize::kBicubicCorners, "bicubic-corners"},
    {PositionResize::kBilinear, "bilinear"},
    {PositionResize::kBilinearAntialias, "bilinear-antialias"},
};

constexpr Entry<PositionCover> kPositionCovers[] = {
    {PositionCover::kNone, "none"},
    {PositionCover::kPatches, "patches"},
    {PositionCover::kPrefixNoRegisters, "prefix"},
    {PositionCover::kAll, "all"},
};

constexpr Entry<RopeKind> kRopeKinds[] = {
    {RopeKind::kNone, "none"},
    {RopeKind::kHalf, "half"},
    {RopeKind::kInterleaved, "interleaved"},
};

constexpr Entry<Pooling> kPoolings[] = {
    {Pooling::kClass, "class"},
    {Pooling::kMeanPatches, "mean"},
    {Pooling::kClassAndMean, "class-and-mean"},
    {Pooling::kDistilled, "distilled"},
    {Pooling::kAttention, "attention"},
};

template <typename T>
std::string_view Name(std::span<const Entry<T>> entries, T value) {
  for (const Entry<T>& entry : entries) {
    if (entry.value == value) return entry.name;
  }
  return "unknown";
}

template <typename T>
std::optional<T> Value(std::span<const Entry<T>> entries, std::string_view name) {
  for (const Entry<T>& entry : entries) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

}  // namespace

std::string_view NameOf(Activation value) { return Name<Activation>(kActivations, value); }
std::string_view NameOf(MlpKind value) { return Name<MlpKind>(kMlpKinds, value); }
std::string_view NameOf(PositionResize value) {
  return Name<PositionResize>(kPositionResizes, value);
}
std::string_view NameOf(PositionCover value) { return Name<PositionCover>(kPositionCovers, value); }
std::string_view NameOf(RopeKind value) { return Name<RopeKind>(kRopeKinds, value); }
std::string_view NameOf(Pooling value) { return Name<Pooling>(kPoolings, value); }

std::optional<MlpKind> MlpKindFromName(std::string_view name) {
  return Value<MlpKind>(kMlpKinds, name);
}
std::optional<PositionResize> PositionResizeFromName(std::string_view name) {
  return Value<PositionResize>(kPositionResizes, name);
}
std::optional<PositionCover> PositionCoverFromName(std::string_view name) {
  return Value<PositionCover>(kPositionCovers, name);
}
std::optional<RopeKind> RopeKindFromName(std::string_view name) {
  return Value<RopeKind>(kRopeKinds, name);
}
std::optional<Pooling> PoolingFromName(std::string_view name) {
  return Value<Pooling>(kPoolings, name);
}

std::optional<Activation> ActivationFromName(std::string_view name) {
  if (const auto value = Value<Activation>(kActivations, name)) return value;
  return Value<Activation>(kActivationAliases, name);
}

std::string ActivationNames() {
  std::string names;
  for (const auto& entry : kActivations) {
    if (!names.empty()) names += ", ";
    names += entry.name;
  }
  return names;
}

}  // namespace attnmap
