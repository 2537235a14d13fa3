#include "formats/json_keys.h"

#include <array>

namespace attnmap {
namespace {

constexpr JsonForm kFull = JsonForm::kFull;
constexpr JsonForm kLayer = JsonForm::kLayer;

// docs/formats/json-weights.md lists the same.
constexpr std::array<JsonKey, 22> kRootKeys = {{
    {"format", kFull, JsonKind::kText, true},
    {"version", kFull, JsonKind::kNumber, true},
    {"name", kFull, JsonKind::kText, false},
    {"config", kFull, JsonKind::kObject, true},
    {"preprocess", JsonForm::kBoth, JsonKind::kObject, false},
    {"labels", kFull, JsonKind::kTexts, false},
    {"tensors", kFull, JsonKind::kTensors, true},
    {"patch_size", kLayer, JsonKind::kNumber, true},
    {"image_size", kLayer, JsonKind::kList, false},
    {"W_patch", kLayer, JsonKind::kTensor, false},
    {"b_patch", kLayer, JsonKind::kTensor, false},
    {"class_token", kLayer, JsonKind::kTensor, false},
    {"pos_embed", kLayer, JsonKind::kTensor, false},
    {"W_Q", kLayer, JsonKind::kTensor, false},
    {"W_K", kLayer, JsonKind::kTensor, false},
    {"W_V", kLayer, JsonKind::kTensor, false},
    {"b_Q", kLayer, JsonKind::kTensor, false},
    {"b_K", kLayer, JsonKind::kTensor, false},
    {"b_V", kLayer, JsonKind::kTensor, false},
    {"heads", kLayer, JsonKind::kHeads, false},
    {"W_O", kLayer, JsonKind::kTensor, false},
    {"b_O", kLayer, JsonKind::kTensor, false},
}};

}  // namespace

std::span<const JsonKey> RootKeys() { return kRootKeys; }

const JsonKey* FindRootKey(std::string_view name) {
  for (const JsonKey& key : kRootKeys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

bool IsHeadTensor(std::string_view name) {
  return name == "W_Q" || name == "W_K" || name == "W_V" || name == "b_Q" || name == "b_K" ||
         name == "b_V";
}

std::string_view ExpectedOf(JsonKind kind) {
  switch (kind) {
    case JsonKind::kTensor:
      return "a list of numbers";
    case JsonKind::kTensors:
      return "an object of tensors";
    case JsonKind::kHeads:
      return "a list of objects";
    case JsonKind::kText:
      return "a text";
    case JsonKind::kNumber:
      return "a whole number";
    case JsonKind::kObject:
      return "an object";
    case JsonKind::kList:
      return "a list";
    case JsonKind::kTexts:
      return "a list of texts";
  }
  return "";
}

std::string KeysOf(JsonForm form) {
  std::string keys;
  for (const JsonKey& key : kRootKeys) {
    if (key.form != form && key.form != JsonForm::kBoth) continue;
    keys += (keys.empty() ? "" : ", ") + std::string(key.name);
  }
  return keys;
}

}  // namespace attnmap
