#include "formats/torch_state_dict.h"

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "attnmap/core/error.h"
#include "formats/text.h"
#include "formats/torch_tensor.h"

namespace attnmap {
namespace {

// Where programs put the state dict, the better one first: the teacher of a
// self-distilled pair and averaged weights before raw ones.
constexpr std::string_view kContainerKeys[] = {
    "teacher",                                     // DINO, DINOv2
    "state_dict_ema", "model_ema",                 // timm
    "state_dict",     "model",          "module",  // timm, MAE, DeiT, torch's own wrappers
    "encoder",        "target_encoder", "net",    "params",  // I-JEPA and others
    "student",
};
// What lies beside it and is never the model.
constexpr std::string_view kIgnoredKeys[] = {"optimizer",    "scaler",      "fp16_scaler",
                                             "lr_scheduler", "epoch",       "args",
                                             "dino_loss",    "lr_schedule", "amp_scaler"};

constexpr int kMaxDictDepth = 64;
constexpr size_t kMaxVisits = 1'000'000;
constexpr size_t kMaxDictTensors = 200'000;
constexpr size_t kMaxDictName = 4096;
constexpr size_t kMaxNameBytes = size_t{32} << 20;
constexpr std::string_view kScripted = "__torch__.";

using Visit = std::function<void(std::string_view key, const PickleValue& value)>;

void VisitMapping(const PickleValue& mapping, const Visit& visit) {
  for (size_t i = 0; i + 1 < mapping.items.size(); i += 2) {
    const PickleValue& key = *mapping.items[i];
    if (key.Is(PickleKind::kText)) visit(key.text, *mapping.items[i + 1]);
  }
}

bool Contains(const PickleValue* set, std::string_view name) {
  if (set == nullptr || !set->Is(PickleKind::kSet)) return false;
  for (const PickleValue* item : set->items) {
    if (item->Is(PickleKind::kText) && item->text == name) return true;
  }
  return false;
}

// A torch.nn.Module saved whole: what its state_dict() would have had.
void VisitModule(const PickleValue& state, const Visit& visit) {
  const PickleValue* transient = state.Get("_non_persistent_buffers_set");
  for (const std::string_view part : {"_parameters", "_buffers", "_modules"}) {
    const PickleValue* members = state.Get(part);
    if (members == nullptr || !members->IsMapping()) continue;
    VisitMapping(*members, [&](std::string_view key, const PickleValue& value) {
      if (part != "_buffers" || !Contains(transient, key)) visit(key, value);
    });
  }
}

// The members of a container that may hold tensors; none for anything else.
void VisitMembers(const PickleValue& value, const Visit& visit) {
  if (value.IsMapping()) return VisitMapping(value, visit);
  if (!value.Is(PickleKind::kObject) || value.state == nullptr || !value.state->IsMapping()) return;
  const PickleValue& state = *value.state;
  if (state.Get("_parameters") != nullptr || state.Get("_modules") != nullptr) {
    VisitModule(state, visit);
  } else if (value.callable->Is(PickleKind::kSymbol) &&
             value.callable->text.starts_with(kScripted)) {
    VisitMapping(state, visit);  // a TorchScript module: its attributes
  }
}

// Whether there are tensors at or below a value; each value is looked at once.
class TensorSearch {
 public:
  bool Holds(const PickleValue& value, int depth = 0) {
    if (IsTorchTensor(value)) return true;
    if (depth > kMaxDictDepth) return false;
    const auto [known, is_new] = holds_.emplace(&value, false);
    if (!is_new) return known->second;
    bool found = false;
    VisitMembers(value, [&](std::string_view, const PickleValue& member) {
      found = found || Holds(member, depth + 1);
    });
    return holds_[&value] = found;
  }
  bool IsContainer(const PickleValue& value) { return !IsTorchTensor(value) && Holds(value); }

 private:
  std::unordered_map<const PickleValue*, bool> holds_;
};

bool IsIgnored(std::string_view key) {
  for (const std::string_view ignored : kIgnoredKeys) {
    if (key == ignored) return true;
  }
  return false;
}

std::string Joined(const std::string& prefix, std::string_view key) {
  return prefix.empty() ? std::string(key) : prefix + '.' + std::string(key);
}

std::string List(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + Shown(name);
  return text;
}

// The dictionaries directly below that hold tensors.
std::vector<std::string> TensorKeys(TensorSearch& search, const PickleValue& value,
                                    const std::string& prefix) {
  constexpr size_t kMost = 16;
  std::vector<std::string> keys;
  VisitMembers(value, [&](std::string_view key, const PickleValue& member) {
    if (keys.size() < kMost && !IsIgnored(key) && search.IsContainer(member)) {
      keys.push_back(Joined(prefix, key));
    }
  });
  return keys;
}

// `key` itself, else "a.b" as b in a; null where there is neither.
const PickleValue* FindPath(const PickleValue& value, std::string_view key, int depth = 0) {
  if (const PickleValue* found = value.Get(key)) return found;
  if (depth > kMaxDictDepth) return nullptr;
  for (size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.', dot + 1)) {
    const PickleValue* outer = value.Get(key.substr(0, dot));
    if (outer == nullptr) continue;
    if (const PickleValue* found = FindPath(*outer, key.substr(dot + 1), depth + 1)) return found;
  }
  return nullptr;
}

TorchStateDict StartAt(TensorSearch& search, const PickleValue& root, const std::string& key) {
  if (key.empty()) return {&root, "", {}};
  const PickleValue* chosen = FindPath(root, key);
  if (chosen == nullptr || !search.IsContainer(*chosen)) {
    const std::vector<std::string> keys = TensorKeys(search, root, "");
    throw Error("the checkpoint key " + Shown(key) +
                (chosen == nullptr ? " is not there" : " holds no tensors") +
                (keys.empty() ? "; the file's root is no dictionary of such keys"
                              : "; these do: " + List(keys)));
  }
  return {chosen, key, {}};
}

class Collector {
 public:
  void Collect(const PickleValue& value, const std::string& name, int depth) {
    if (++visits_ > kMaxVisits) throw Error("more than a million values under shared containers");
    if (IsTorchTensor(value)) return Add(value, name);
    if (depth > kMaxDictDepth) {
      throw Error(Shown(name) + ": nested deeper than " + std::to_string(kMaxDictDepth) +
                  " levels, or a container that contains itself");
    }
    VisitMembers(value, [&](std::string_view key, const PickleValue& member) {
      if (depth == 0 && value.IsMapping() && IsIgnored(key) && !IsTorchTensor(member)) return;
      if (name.size() + key.size() > kMaxDictName) {
        throw Error(Shown(key) + ": a name of more than " + std::to_string(kMaxDictName) +
                    " bytes");
      }
      Collect(member, depth == 0 ? std::string(key) : name + '.' + std::string(key), depth + 1);
    });
  }

  std::vector<NamedPickleTensor> Take() { return std::move(tensors_); }

 private:
  void Add(const PickleValue& value, const std::string& name) {
    if (!IsPlainText(name)) throw Error("the tensor name " + Shown(name) + " is no plain text");
    name_bytes_ += name.size();
    if (name_bytes_ > kMaxNameBytes || tensors_.size() >= kMaxDictTensors) {
      throw Error("more than " + std::to_string(kMaxDictTensors) + " tensors, or too long names");
    }
    if (!names_.insert(name).second) {
      throw Error("the tensor name " + Shown(name) + " occurs twice");
    }
    tensors_.push_back({name, &value});
  }

  size_t visits_ = 0;
  size_t name_bytes_ = 0;
  std::unordered_set<std::string> names_;
  std::vector<NamedPickleTensor> tensors_;
};

}  // namespace

TorchStateDict ChooseStateDict(const PickleValue& root, const std::string& checkpoint_key) {
  TensorSearch search;
  if (!search.Holds(root)) {
    throw Error("no tensors: the file holds " + Describe(root));
  }
  TorchStateDict dict = StartAt(search, root, checkpoint_key);
  for (int depth = 0; depth < kMaxDictDepth && dict.value->IsMapping(); ++depth) {
    const PickleValue* next = nullptr;
    std::string_view chosen;
    for (const std::string_view key : kContainerKeys) {
      next = dict.value->Get(key);
      chosen = key;
      if (next != nullptr && search.IsContainer(*next)) break;
      next = nullptr;
    }
    if (next == nullptr) break;
    for (std::string& other : TensorKeys(search, *dict.value, dict.path)) {
      if (other != Joined(dict.path, chosen)) dict.alternatives.push_back(std::move(other));
    }
    dict.path = Joined(dict.path, chosen);
    dict.value = next;
  }
  return dict;
}

std::vector<NamedPickleTensor> CollectTensors(const PickleValue& root) {
  Collector collector;
  collector.Collect(root, "", 0);
  return collector.Take();
}

}  // namespace attnmap
