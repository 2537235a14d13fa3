#include "formats/pickle_value.h"

#include <utility>

#include "attnmap/core/error.h"
#include "formats/text.h"

namespace attnmap {
namespace {

// Together well under 400 MB, far more than a checkpoint of thousands of
// tensors and its optimizer need.
constexpr size_t kMaxValues = 2'000'000;
constexpr size_t kMaxItems = 8'000'000;
constexpr size_t kMaxTextBytes = size_t{32} << 20;
constexpr size_t kTextOverhead = 64;

}  // namespace

const PickleValue* PickleValue::Get(std::string_view key) const {
  if (!IsMapping()) return nullptr;
  // The last one counts, as where each is set in turn.
  for (size_t i = items.size() / 2; i-- > 0;) {
    const PickleValue& k = *items[2 * i];
    if (k.kind == PickleKind::kText && k.text == key) return items[2 * i + 1];
  }
  return nullptr;
}

PickleArena::PickleArena() : integers_(kSharedIntegers) {
  for (int64_t i = 0; i < kSharedIntegers; ++i) {
    integers_[static_cast<size_t>(i)].kind = PickleKind::kInt;
    integers_[static_cast<size_t>(i)].integer = i;
  }
  true_.kind = false_.kind = PickleKind::kBool;
  true_.integer = 1;
}

PickleValue* PickleArena::New(PickleKind kind) {
  if (values_.size() >= kMaxValues) {
    throw Error("more than " + std::to_string(kMaxValues) + " values");
  }
  values_.emplace_back().kind = kind;
  return &values_.back();
}

void PickleArena::AddItem(PickleValue* container, const PickleValue* item) {
  if (++num_items_ > kMaxItems) {
    throw Error("more than " + std::to_string(kMaxItems) + " items in its containers");
  }
  container->items.push_back(item);
}

std::string_view PickleArena::Keep(std::string text) {
  text_bytes_ += text.size() + kTextOverhead;
  if (text_bytes_ > kMaxTextBytes) {
    throw Error("more than " + std::to_string(kMaxTextBytes) + " bytes of names");
  }
  return texts_.emplace_back(std::move(text));
}

PickleValue* PickleArena::Integer(int64_t value) {
  if (value >= 0 && value < kSharedIntegers) return &integers_[static_cast<size_t>(value)];
  PickleValue* made = New(PickleKind::kInt);
  made->integer = value;
  return made;
}

std::string Describe(const PickleValue& value) {
  switch (value.kind) {
    case PickleKind::kNone:
      return "None";
    case PickleKind::kBool:
      return "a bool";
    case PickleKind::kInt:
    case PickleKind::kBigInt:
      return "an integer";
    case PickleKind::kFloat:
      return "a float";
    case PickleKind::kText:
      return "a string";
    case PickleKind::kBytes:
      return "bytes";
    case PickleKind::kSymbol:
      return "the name " + Shown(value.text);
    case PickleKind::kTuple:
      return "a tuple";
    case PickleKind::kList:
      return "a list";
    case PickleKind::kSet:
      return "a set";
    case PickleKind::kDict:
      return "a dict";
    case PickleKind::kObject:
      return value.callable->Is(PickleKind::kSymbol) ? "an object of " + Shown(value.callable->text)
                                                     : "an object of no named class";
    case PickleKind::kPersistent:
      return "a storage";
  }
  return "an unknown value";
}

}  // namespace attnmap
