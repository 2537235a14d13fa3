#ifndef ATTNMAP_FORMATS_JSON_KEYS_H_
#define ATTNMAP_FORMATS_JSON_KEYS_H_

#include <span>
#include <string>
#include <string_view>

namespace attnmap {

enum class JsonForm { kUnknown, kLayer, kFull, kBoth };

// What a key of a weights file holds.
enum class JsonKind {
  kTensor,
  kTensors,  // an object of tensors
  kHeads,    // a list of objects with the tensors of a head
  kText,     // the rest goes into the header
  kNumber,
  kObject,
  kList,
  kTexts,  // a list of texts
};

struct JsonKey {
  std::string_view name;
  JsonForm form;
  JsonKind kind;
  bool required;
};

// Null: no such key at the top of either form.
const JsonKey* FindRootKey(std::string_view name);
// A tensor of a head (W_Q, ..., b_V): the one-layer form has them at the top
// or in each of "heads".
bool IsHeadTensor(std::string_view name);
// "an object", "a list of texts", ...
std::string_view ExpectedOf(JsonKind kind);
// The keys of a form, comma separated.
std::string KeysOf(JsonForm form);
// Every key of the top level.
std::span<const JsonKey> RootKeys();

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_JSON_KEYS_H_
