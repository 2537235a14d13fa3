#include "formats/torch_types.h"

#include <span>

namespace attnmap {
namespace {

using enum DataType;

constexpr TorchType kStorages[] = {
    {"DoubleStorage", kF64, 8},
    {"FloatStorage", kF32, 4},
    {"HalfStorage", kF16, 2},
    {"BFloat16Storage", kBF16, 2},
    {"LongStorage", kI64, 8},
    {"IntStorage", kI32, 4},
    {"ShortStorage", kI16, 2},
    {"CharStorage", kI8, 1},
    {"ByteStorage", kU8, 1},
    {"BoolStorage", kBool, 1},
    {"UntypedStorage", kU8, 1},
    {"ComplexFloatStorage", kOther, 8},
    {"ComplexDoubleStorage", kOther, 16},
    {"QInt8Storage", kOther, 1},
    {"QUInt8Storage", kOther, 1},
    {"QInt32Storage", kOther, 4},
    {"QUInt4x2Storage", kOther, 1},
    {"QUInt2x4Storage", kOther, 1},
};

constexpr TorchType kDtypes[] = {
    {"float64", kF64, 8},
    {"double", kF64, 8},
    {"float32", kF32, 4},
    {"float", kF32, 4},
    {"float16", kF16, 2},
    {"half", kF16, 2},
    {"bfloat16", kBF16, 2},
    {"int64", kI64, 8},
    {"long", kI64, 8},
    {"int32", kI32, 4},
    {"int", kI32, 4},
    {"int16", kI16, 2},
    {"short", kI16, 2},
    {"int8", kI8, 1},
    {"uint8", kU8, 1},
    {"uint16", kU16, 2},
    {"uint32", kU32, 4},
    {"uint64", kU64, 8},
    {"bool", kBool, 1},
    {"complex32", kOther, 4},
    {"complex64", kOther, 8},
    {"complex128", kOther, 16},
    {"float8_e4m3fn", kOther, 1},
    {"float8_e5m2", kOther, 1},
    {"float8_e4m3fnuz", kOther, 1},
    {"float8_e5m2fnuz", kOther, 1},
    {"float8_e8m0fnu", kOther, 1},
    {"qint8", kOther, 1},
    {"quint8", kOther, 1},
    {"qint32", kOther, 4},
};

const TorchType* Find(std::span<const TorchType> types, std::string_view name) {
  for (const TorchType& type : types) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

}  // namespace

const TorchType* FindTorchStorageType(std::string_view symbol) {
  for (const std::string_view module : {"torch.cuda.", "torch.storage.", "torch."}) {
    if (!symbol.starts_with(module)) continue;
    symbol.remove_prefix(module.size());
    if (symbol.starts_with('_')) symbol.remove_prefix(1);  // for a while UntypedStorage had one
    return Find(kStorages, symbol);
  }
  return nullptr;
}

const TorchType* FindTorchDtype(std::string_view symbol) {
  constexpr std::string_view kModule = "torch.";
  if (!symbol.starts_with(kModule)) return nullptr;
  return Find(kDtypes, symbol.substr(kModule.size()));
}

}  // namespace attnmap
