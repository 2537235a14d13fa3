#include "formats/torch_tensor.h"

#include <string>

#include "attnmap/core/error.h"
#include "attnmap/core/number_text.h"
#include "formats/text.h"
#include "formats/torch_types.h"

namespace attnmap {
namespace {

constexpr size_t kMaxTorchRank = 8;
constexpr int kMaxWrappers = 8;

// The functions that stand for a tensor, and where its parts are in their
// arguments: (storage, offset, size, stride, ...).
struct Rebuild {
  std::string_view symbol;
  size_t dtype_at = 0;  // 0: the storage's type
};
constexpr Rebuild kRebuilds[] = {
    {"torch._utils._rebuild_tensor", 0},
    {"torch._utils._rebuild_tensor_v2", 0},
    {"torch._utils._rebuild_tensor_v3", 6},
    {"torch._utils._rebuild_qtensor", 0},
};
// The functions whose first argument is a tensor.
constexpr std::string_view kWrappers[] = {
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_parameter_with_state",
};
// (function, type, arguments, state): the function and its arguments.
constexpr std::string_view kFromType = "torch._tensor._rebuild_from_type_v2";

struct Call {
  const Rebuild* rebuild = nullptr;  // null: this is no tensor
  const PickleValue* args = nullptr;
};

const Rebuild* FindRebuild(const PickleValue& callable) {
  for (const Rebuild& rebuild : kRebuilds) {
    if (callable.IsSymbol(rebuild.symbol)) return &rebuild;
  }
  return nullptr;
}

bool IsWrapper(const PickleValue& callable) {
  for (const std::string_view wrapper : kWrappers) {
    if (callable.IsSymbol(wrapper)) return true;
  }
  return false;
}

// Looks through parameters and typed tensors.
Call FindCall(const PickleValue& value) {
  if (!value.Is(PickleKind::kObject)) return {};
  const PickleValue* callable = value.callable;
  const PickleValue* args = value.args;
  for (int i = 0; i < kMaxWrappers; ++i) {
    if (const Rebuild* rebuild = FindRebuild(*callable)) return {rebuild, args};
    if (callable->IsSymbol(kFromType) && args->items.size() >= 3) {
      callable = args->items[0];
      args = args->items[2];
    } else if (IsWrapper(*callable) && !args->items.empty() &&
               args->items[0]->Is(PickleKind::kObject)) {
      callable = args->items[0]->callable;
      args = args->items[0]->args;
    } else {
      break;
    }
  }
  return {};
}

int64_t Count(const PickleValue& value, const char* what) {
  if (!value.Is(PickleKind::kInt)) {
    throw Error(std::string(what) + " is " + Describe(value) + ", expected an integer");
  }
  if (value.integer < 0) {
    throw Error(std::string(what) + " is " + std::to_string(value.integer));
  }
  return value.integer;
}

Shape Counts(const PickleValue& value, const char* what) {
  if (!value.Is(PickleKind::kTuple) && !value.Is(PickleKind::kList)) {
    throw Error(std::string(what) + " is " + Describe(value) + ", expected a tuple");
  }
  if (value.items.size() > kMaxTorchRank) {
    throw Error(std::string(what) + " has " + std::to_string(value.items.size()) +
                " dimensions, at most " + std::to_string(kMaxTorchRank) + " are read");
  }
  Shape counts;
  for (const PickleValue* item : value.items) counts.push_back(Count(*item, what));
  return counts;
}

int64_t Multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw Error("its size overflows 64 bits");
  return product;
}

int64_t Add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw Error("its size overflows 64 bits");
  return sum;
}

// A view of an old file: (key, first item, number of items) of the storage.
void ReadView(const PickleValue& view, TorchStorage& storage) {
  if (view.Is(PickleKind::kNone)) return;
  if (!view.Is(PickleKind::kTuple) || view.items.size() != 3) {
    throw Error("storage " + Shown(storage.key) + ": its view is " + Describe(view));
  }
  storage.view_begin = Count(*view.items[1], "a view's begin");
  storage.view_items = Count(*view.items[2], "a view's size");
  if (storage.view_begin > storage.num_items ||
      storage.view_items > storage.num_items - storage.view_begin) {
    throw Error("storage " + Shown(storage.key) + ": items " + std::to_string(storage.view_begin) +
                " + " + std::to_string(storage.view_items) + " of " +
                std::to_string(storage.num_items));
  }
}

// Every element must lie within the storage (or its view).
void CheckExtent(const TorchTensor& tensor, int64_t view_bytes, int64_t item_size) {
  if (NumElements(tensor.shape) == 0) return;
  int64_t last = tensor.offset;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    last = Add(last, Multiply(tensor.shape[i] - 1, tensor.strides[i]));
  }
  if (last >= view_bytes / item_size) {
    throw Error("its last element is number " + std::to_string(last) + " of a storage of " +
                std::to_string(view_bytes / item_size));
  }
}

const TorchType* FindExplicitType(const Call& call) {
  const PickleValue& dtype = *call.args->items[call.rebuild->dtype_at];
  if (!dtype.Is(PickleKind::kSymbol)) throw Error("its type is " + Describe(dtype));
  const TorchType* type = FindTorchDtype(dtype.text);
  if (type == nullptr) throw Error("its type is " + Describe(dtype));
  return type;
}

}  // namespace

TorchStorage ReadTorchStorage(const PickleValue& persistent) {
  const PickleValue* id = persistent.Is(PickleKind::kPersistent) ? persistent.args : &persistent;
  const auto& parts = id->items;
  if (!persistent.Is(PickleKind::kPersistent) || !id->Is(PickleKind::kTuple) || parts.size() < 5 ||
      parts[0]->text != "storage" || !parts[1]->Is(PickleKind::kSymbol) ||
      !parts[2]->Is(PickleKind::kText)) {
    throw Error(Describe(*id) + " where a storage's id should be");
  }
  const TorchType* type = FindTorchStorageType(parts[1]->text);
  if (type == nullptr) throw Error("a storage of the unknown type " + Shown(parts[1]->text));
  TorchStorage storage;
  storage.key = parts[2]->text;
  storage.type = type->type;
  storage.item_size = type->item_size;
  storage.num_items = Count(*parts[4], "a storage's size");
  storage.view_items = storage.num_items;
  Multiply(storage.num_items, storage.item_size);
  if (parts.size() > 5) ReadView(*parts[5], storage);
  return storage;
}

bool IsTorchTensor(const PickleValue& value) { return FindCall(value).rebuild != nullptr; }

TorchTensor ReadTorchTensor(const PickleValue& value) {
  const Call call = FindCall(value);
  const auto& args = call.args->items;
  if (args.size() < 4 || args.size() <= call.rebuild->dtype_at) {
    throw Error("it is made of " + Counted(static_cast<int64_t>(args.size()), "argument"));
  }
  TorchTensor tensor;
  tensor.storage = ReadTorchStorage(*args[0]);
  tensor.offset = Count(*args[1], "its offset");
  tensor.shape = Counts(*args[2], "its shape");
  tensor.strides = Counts(*args[3], "its strides");
  tensor.type = tensor.storage.type;
  int64_t item_size = tensor.storage.item_size;
  if (call.rebuild->dtype_at != 0) {
    const TorchType* type = FindExplicitType(call);
    tensor.type = type->type;
    item_size = type->item_size;
  }
  if (tensor.strides.size() != tensor.shape.size()) {
    throw Error("its shape has " + std::to_string(tensor.shape.size()) +
                " dimensions, its strides " + std::to_string(tensor.strides.size()));
  }
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] <= 1) tensor.strides[i] = 0;
  }
  CheckExtent(tensor, tensor.storage.view_items * tensor.storage.item_size, item_size);
  const int64_t view_bytes_before = tensor.storage.view_begin * tensor.storage.item_size;
  if (view_bytes_before % item_size != 0) throw Error("its storage's view is not aligned");
  tensor.offset = Add(tensor.offset, view_bytes_before / item_size);
  return tensor;
}

}  // namespace attnmap
