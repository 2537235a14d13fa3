#include "support/torch_writer.h"

#include <bit>
#include <stdexcept>

#include "attnmap/formats/dtype.h"
#include "support/zip_writer.h"

namespace attnmap::test {
namespace {

template <typename T>
void Append(std::vector<uint8_t>& out, T value) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i)));
  }
}

void AppendAll(std::vector<uint8_t>& out, std::span<const uint8_t> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// The pickle of a state dict whose tensor i lies in storage "i".
std::vector<uint8_t> StateDictPickle(std::span<const NamedTensor> tensors, DataType type,
                                     bool legacy) {
  PickleWriter pickle;
  pickle.Proto().OrderedDict().Op('(');
  for (size_t i = 0; i < tensors.size(); ++i) {
    const SharedTensor& tensor = tensors[i].tensor;
    pickle.Text(tensors[i].name)
        .RebuildTensor({StorageName(type), std::to_string(i), tensor.size(), legacy},
                       {0, tensor.shape(), ContiguousStrides(tensor.shape())});
  }
  pickle.Op('u').Op('.');
  return pickle.bytes();
}

}  // namespace

PickleWriter& PickleWriter::Number(uint64_t value, int num_bytes) {
  for (int i = 0; i < num_bytes; ++i) bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
  return *this;
}

PickleWriter& PickleWriter::Proto() { return Op(uint8_t{0x80}).Op(uint8_t{2}); }
PickleWriter& PickleWriter::Op(char code) { return Op(static_cast<uint8_t>(code)); }
PickleWriter& PickleWriter::Op(uint8_t code) { return Number(code, 1); }

PickleWriter& PickleWriter::Raw(std::string_view bytes) {
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return *this;
}

PickleWriter& PickleWriter::Raw(std::span<const uint8_t> bytes) {
  AppendAll(bytes_, bytes);
  return *this;
}

PickleWriter& PickleWriter::Text(std::string_view text) {
  return Op('X').Number(text.size(), 4).Raw(text);
}

PickleWriter& PickleWriter::Int(int64_t value) {
  if (value >= 0 && value < 256) return Op('K').Number(static_cast<uint64_t>(value), 1);
  if (value >= INT32_MIN && value <= INT32_MAX) {
    return Op('J').Number(static_cast<uint64_t>(value), 4);
  }
  return Op(uint8_t{0x8A}).Number(8, 1).Number(static_cast<uint64_t>(value), 8);
}

PickleWriter& PickleWriter::Global(std::string_view module, std::string_view name) {
  return Op('c').Raw(module).Op('\n').Raw(name).Op('\n');
}

PickleWriter& PickleWriter::Put(uint32_t key) { return Op('r').Number(key, 4); }
PickleWriter& PickleWriter::Get(uint32_t key) { return Op('j').Number(key, 4); }

PickleWriter& PickleWriter::Tuple(std::span<const int64_t> values) {
  Op('(');
  for (const int64_t value : values) Int(value);
  return Op('t');
}

PickleWriter& PickleWriter::OrderedDict() {
  return Global("collections", "OrderedDict").Op(')').Op('R');
}

PickleWriter& PickleWriter::Persistent(const Storage& storage) {
  Op('(').Text("storage").Global("torch", storage.type).Text(storage.key).Text("cpu");
  Int(storage.num_items);
  if (storage.legacy) Op('N');
  return Op('t').Op('Q');
}

PickleWriter& PickleWriter::RebuildTensor(const Storage& storage, const View& view) {
  Global("torch._utils", "_rebuild_tensor_v2").Op('(').Persistent(storage).Int(view.offset);
  Tuple(view.shape).Tuple(view.strides).Op(uint8_t{0x89}).OrderedDict();
  return Op('t').Op('R');
}

Shape ContiguousStrides(const Shape& shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

std::vector<uint8_t> NumberBytes(std::span<const float> values, DataType type) {
  std::vector<uint8_t> bytes;
  for (const float value : values) {
    if (type == DataType::kF32) Append(bytes, std::bit_cast<uint32_t>(value));
    if (type == DataType::kF16) Append(bytes, FloatToHalf(value));
    if (type == DataType::kBF16) Append(bytes, FloatToBfloat16(value));
    if (type == DataType::kF64) Append(bytes, std::bit_cast<uint64_t>(static_cast<double>(value)));
  }
  return bytes;
}

std::string StorageName(DataType type) {
  if (type == DataType::kF32) return "FloatStorage";
  if (type == DataType::kF16) return "HalfStorage";
  if (type == DataType::kBF16) return "BFloat16Storage";
  if (type == DataType::kF64) return "DoubleStorage";
  throw std::invalid_argument("this writer has no such storage");
}

std::vector<uint8_t> TorchZipOf(std::span<const uint8_t> pickle,
                                std::span<const StorageBytes> storages) {
  std::vector<ZipTestEntry> entries;
  const auto add = [&](const std::string& name, std::span<const uint8_t> data) {
    ZipTestEntry& entry = entries.emplace_back();
    entry.name = "archive/" + name;
    entry.data.assign(data.begin(), data.end());
    entry.torch_style = true;
  };
  add("data.pkl", pickle);
  add("byteorder", TextBytes("little"));
  for (const auto& [key, bytes] : storages) add("data/" + key, bytes);
  add("version", TextBytes("3\n"));
  ZipTestOptions options;
  options.zip64_end = true;
  return ZipBytes(entries, options);
}

std::vector<uint8_t> TorchZipBytes(std::span<const NamedTensor> tensors, DataType type) {
  std::vector<StorageBytes> storages;
  for (size_t i = 0; i < tensors.size(); ++i) {
    storages.emplace_back(std::to_string(i), NumberBytes(tensors[i].tensor.values(), type));
  }
  return TorchZipOf(StateDictPickle(tensors, type, false), storages);
}

std::vector<uint8_t> TorchLegacyOf(std::span<const uint8_t> pickle, std::span<const uint8_t> rest,
                                   bool little_endian) {
  PickleWriter file;
  file.Proto().Raw("\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.");
  file.Proto().Int(1001).Op('.');
  file.Proto().Op('}').Op('(').Text("protocol_version").Int(1001).Text("little_endian");
  file.Op(static_cast<uint8_t>(little_endian ? 0x88 : 0x89)).Text("type_sizes").Op('}').Op('u');
  file.Op('.').Raw(pickle).Raw(rest);
  return file.bytes();
}

std::vector<uint8_t> TorchLegacyBytes(std::span<const NamedTensor> tensors, DataType type) {
  PickleWriter keys;
  keys.Proto().Op(']').Op('(');
  for (size_t i = 0; i < tensors.size(); ++i) keys.Text(std::to_string(i));
  keys.Op('e').Op('.');
  std::vector<uint8_t> rest = keys.bytes();
  for (const NamedTensor& tensor : tensors) {
    Append(rest, tensor.tensor.size());
    AppendAll(rest, NumberBytes(tensor.tensor.values(), type));
  }
  return TorchLegacyOf(StateDictPickle(tensors, type, true), rest);
}

}  // namespace attnmap::test
