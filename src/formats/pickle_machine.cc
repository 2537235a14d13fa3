#include "formats/pickle_machine.h"

#include <array>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

constexpr uint64_t kMaxOperations = 50'000'000;
constexpr size_t kMaxStack = 100'000;
constexpr size_t kMaxMemo = 2'000'000;

// What Python would call to make a plain container.
struct ContainerName {
  std::string_view symbol;
  PickleKind kind;
};
constexpr ContainerName kContainers[] = {
    {"collections.OrderedDict", PickleKind::kDict},
    {"collections.defaultdict", PickleKind::kDict},
    {"builtins.dict", PickleKind::kDict},
    {"__builtin__.dict", PickleKind::kDict},
    {"builtins.set", PickleKind::kSet},
    {"__builtin__.set", PickleKind::kSet},
    {"builtins.frozenset", PickleKind::kSet},
    {"__builtin__.frozenset", PickleKind::kSet},
    {"torch.Size", PickleKind::kTuple},
};

const ContainerName* FindContainer(const PickleValue& callable) {
  for (const ContainerName& container : kContainers) {
    if (callable.IsSymbol(container.symbol)) return &container;
  }
  return nullptr;
}

bool IsSequence(const PickleValue& value) {
  return value.Is(PickleKind::kTuple) || value.Is(PickleKind::kList);
}

// OrderedDict() or OrderedDict([(key, value), ...]), Size((2, 3)), set([...]).
void FillContainer(PickleArena& arena, PickleValue* container, const PickleValue& args) {
  if (args.items.empty() || !IsSequence(*args.items[0])) return;
  for (const PickleValue* item : args.items[0]->items) {
    if (!container->Is(PickleKind::kDict)) {
      arena.AddItem(container, item);
    } else if (IsSequence(*item) && item->items.size() == 2) {
      arena.AddItem(container, item->items[0]);
      arena.AddItem(container, item->items[1]);
    }
  }
}

}  // namespace

const PickleValue* PickleMachine::Run(size_t& position) {
  at_ = position;
  stopped_ = false;
  stack_.clear();
  marks_.clear();
  memo_.clear();
  const Op* const table = OpTable();
  for (uint64_t count = 0; !stopped_; ++count) {
    const size_t begin = at_;
    const Op* op = nullptr;
    try {
      if (count >= kMaxOperations) throw Error("too many operations");
      const uint64_t code = Unsigned(1);
      op = &table[code];
      if (op->run == nullptr) {
        throw Error("operation " + std::to_string(code) + " is not supported");
      }
      (this->*op->run)();
    } catch (const Error& error) {
      const std::string name = op != nullptr && op->name != nullptr ? op->name : "the pickle";
      throw Error(name + " at byte " + std::to_string(begin) + ": " + error.what());
    }
  }
  const PickleValue* result = Pop();
  position = at_;
  return result;
}

// ---- the stack

void PickleMachine::Push(PickleValue* value) {
  if (stack_.size() >= kMaxStack) {
    throw Error("the stack grows beyond " + std::to_string(kMaxStack));
  }
  stack_.push_back(value);
}

PickleValue* PickleMachine::Top() {
  const size_t floor = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() <= floor) throw Error("the stack is empty");
  return stack_.back();
}

PickleValue* PickleMachine::Pop() {
  PickleValue* top = Top();
  stack_.pop_back();
  return top;
}

std::span<PickleValue* const> PickleMachine::PopToMark() {
  if (marks_.empty()) throw Error("no mark on the stack");
  const size_t begin = marks_.back();
  marks_.pop_back();
  popped_.assign(stack_.begin() + static_cast<ptrdiff_t>(begin), stack_.end());
  stack_.resize(begin);
  return popped_;
}

void PickleMachine::OpMark() {
  if (marks_.size() >= kMaxStack) throw Error("too many marks");
  marks_.push_back(stack_.size());
}

void PickleMachine::OpPop() {
  if (!marks_.empty() && marks_.back() == stack_.size()) {
    marks_.pop_back();
  } else {
    Pop();
  }
}

// ---- the memo

void PickleMachine::Remember(uint64_t key) {
  PickleValue* top = Top();
  memo_[key] = top;
  if (memo_.size() > kMaxMemo) throw Error("more than " + std::to_string(kMaxMemo) + " values");
}

void PickleMachine::Recall(uint64_t key) {
  const auto found = memo_.find(key);
  if (found == memo_.end()) throw Error("nothing was remembered as " + std::to_string(key));
  Push(found->second);
}

// ---- containers

PickleValue* PickleMachine::NewContainer(PickleKind kind, std::span<PickleValue* const> items) {
  PickleValue* container = arena_.New(kind);
  container->items.reserve(items.size());
  for (const PickleValue* item : items) arena_.AddItem(container, item);
  return container;
}

void PickleMachine::PushTuple(size_t count) {
  std::array<PickleValue*, 3> items{};
  for (size_t i = count; i-- > 0;) items[i] = Pop();
  Push(NewContainer(PickleKind::kTuple, std::span(items).first(count)));
}

void PickleMachine::SetPairs(PickleValue* target, std::span<PickleValue* const> pairs) {
  if (!target->Is(PickleKind::kDict) && !target->Is(PickleKind::kObject)) {
    throw Error("sets an item of " + Describe(*target));
  }
  if (pairs.size() % 2 != 0) throw Error("a key without a value");
  if (target->Is(PickleKind::kObject)) {
    if (!target->is_mapping && !target->items.empty()) throw Error("both a list and a dict");
    target->is_mapping = true;
  }
  for (const PickleValue* item : pairs) arena_.AddItem(target, item);
}

void PickleMachine::AppendTo(PickleValue* target, std::span<PickleValue* const> items) {
  const bool growable = target->Is(PickleKind::kList) || target->Is(PickleKind::kSet) ||
                        (target->Is(PickleKind::kObject) && !target->is_mapping);
  if (!growable) throw Error("appends to " + Describe(*target));
  for (const PickleValue* item : items) arena_.AddItem(target, item);
}

void PickleMachine::OpDict() {
  const auto pairs = PopToMark();
  PickleValue* dict = arena_.New(PickleKind::kDict);
  SetPairs(dict, pairs);
  Push(dict);
}

void PickleMachine::OpSetItem() {
  PickleValue* value = Pop();
  PickleValue* key = Pop();
  SetPairs(Top(), std::array{key, value});
}

void PickleMachine::OpSetItems() {
  const auto pairs = PopToMark();
  SetPairs(Top(), pairs);
}

void PickleMachine::OpAppend() {
  PickleValue* item = Pop();
  AppendTo(Top(), std::array{item});
}

void PickleMachine::OpAppends() {
  const auto items = PopToMark();
  AppendTo(Top(), items);
}

// ---- names and what would be called

void PickleMachine::PushSymbol(std::string_view module, std::string_view name) {
  PickleValue* symbol = arena_.New(PickleKind::kSymbol);
  symbol->text = arena_.Keep(std::string(module) + '.' + std::string(name));
  Push(symbol);
}

void PickleMachine::PushObject(PickleValue* callable, PickleValue* args) {
  if (const ContainerName* container = FindContainer(*callable)) {
    PickleValue* made = arena_.New(container->kind);
    FillContainer(arena_, made, *args);
    Push(made);
    return;
  }
  PickleValue* object = arena_.New(PickleKind::kObject);
  object->callable = callable;
  object->args = args;
  Push(object);
}

void PickleMachine::OpGlobal() {
  const std::string_view module = Line();
  PushSymbol(module, Line());
}

void PickleMachine::OpStackGlobal() {
  const PickleValue* name = Pop();
  const PickleValue* module = Pop();
  if (!name->Is(PickleKind::kText) || !module->Is(PickleKind::kText)) {
    throw Error("a name made of " + Describe(*module) + " and " + Describe(*name));
  }
  PushSymbol(module->text, name->text);
}

void PickleMachine::OpReduce() {
  PickleValue* args = Pop();
  PickleValue* callable = Pop();
  PushObject(callable, args);
}

void PickleMachine::OpNewObject() { OpReduce(); }

void PickleMachine::OpNewObjectEx() {
  Pop();  // keyword arguments
  OpReduce();
}

void PickleMachine::OpInst() {
  OpGlobal();
  PickleValue* callable = Pop();
  PushObject(callable, NewContainer(PickleKind::kTuple, PopToMark()));
}

void PickleMachine::OpObject() {
  const auto parts = PopToMark();
  if (parts.empty()) throw Error("an object without a class");
  PickleValue* callable = parts.front();
  PushObject(callable, NewContainer(PickleKind::kTuple, parts.subspan(1)));
}

void PickleMachine::OpBuild() {
  const PickleValue* state = Pop();
  PickleValue* target = Top();
  const bool takes_state = target->Is(PickleKind::kDict) || target->Is(PickleKind::kObject) ||
                           target->Is(PickleKind::kList) || target->Is(PickleKind::kSet);
  if (takes_state) target->state = state;
}

void PickleMachine::OpPersistent() {
  const PickleValue* id = Pop();
  // ('module', class, source file, source) stands for the class.
  if (id->Is(PickleKind::kTuple) && id->items.size() >= 2 && id->items[0]->text == "module" &&
      id->items[1]->Is(PickleKind::kSymbol)) {
    PickleValue* symbol = arena_.New(PickleKind::kSymbol);
    symbol->text = id->items[1]->text;
    Push(symbol);
    return;
  }
  PickleValue* value = arena_.New(PickleKind::kPersistent);
  value->args = id;
  Push(value);
}

}  // namespace attnmap
