#ifndef ATTNMAP_MODEL_NAMES_H_
#define ATTNMAP_MODEL_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

#include "attnmap/model/vit_config.h"

namespace attnmap {

// The names of the configuration's choices, as the full JSON form writes them.
std::string_view NameOf(Activation value);
std::string_view NameOf(MlpKind value);
std::string_view NameOf(PositionResize value);
std::string_view NameOf(PositionCover value);
std::string_view NameOf(RopeKind value);
std::string_view NameOf(Pooling value);

// The way back; nothing for an unknown name.
std::optional<MlpKind> MlpKindFromName(std::string_view name);
std::optional<PositionResize> PositionResizeFromName(std::string_view name);
std::optional<PositionCover> PositionCoverFromName(std::string_view name);
std::optional<RopeKind> RopeKindFromName(std::string_view name);
std::optional<Pooling> PoolingFromName(std::string_view name);

// Also knows what transformers and timm call them ("gelu_new", "swish", ...).
std::optional<Activation> ActivationFromName(std::string_view name);
// "gelu, gelu_tanh, ...", for messages.
std::string ActivationNames();

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_NAMES_H_
