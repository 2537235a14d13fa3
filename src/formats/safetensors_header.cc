#include "formats/safetensors_header.h"

#include <array>
#include <optional>
#include <unordered_set>
#include <utility>

#include "attnmap/core/error.h"
#include "formats/json_events.h"
#include "formats/text.h"

namespace attnmap {
namespace {

constexpr size_t kMaxSafetensors = 1'000'000;
constexpr size_t kMaxSafetensorsRank = 8;
constexpr size_t kMaxSafetensorsName = 4096;

struct TypeEntry {
  std::string_view name;
  uint64_t bits;
  DataType type;
};
constexpr std::array<TypeEntry, 22> kSafetensorsTypes = {{
    {"F32", 32, DataType::kF32},          {"F16", 16, DataType::kF16},
    {"BF16", 16, DataType::kBF16},        {"F64", 64, DataType::kF64},
    {"I64", 64, DataType::kI64},          {"I32", 32, DataType::kI32},
    {"I16", 16, DataType::kI16},          {"I8", 8, DataType::kI8},
    {"U64", 64, DataType::kU64},          {"U32", 32, DataType::kU32},
    {"U16", 16, DataType::kU16},          {"U8", 8, DataType::kU8},
    {"BOOL", 8, DataType::kBool},         {"F4", 4, DataType::kOther},
    {"F6_E2M3", 6, DataType::kOther},     {"F6_E3M2", 6, DataType::kOther},
    {"F8_E5M2", 8, DataType::kOther},     {"F8_E4M3", 8, DataType::kOther},
    {"F8_E8M0", 8, DataType::kOther},     {"F8_E4M3FNUZ", 8, DataType::kOther},
    {"F8_E5M2FNUZ", 8, DataType::kOther}, {"C64", 64, DataType::kOther},
}};

const TypeEntry* FindType(std::string_view name) {
  for (const TypeEntry& entry : kSafetensorsTypes) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

// {"__metadata__": {text: text}, NAME: {"dtype", "shape", "data_offsets"}, ...}
// and nothing else: every event that does not fit is an error.
class HeaderReader : public JsonEvents {
 public:
  HeaderReader(const std::string& path, const JsonCursor& cursor) : path_(path), cursor_(cursor) {}
  SafetensorsHeader Take() { return std::move(header_); }

  void Null() override { Unexpected("null"); }
  void Boolean(bool /*value*/) override { Unexpected("true or false"); }
  void Integer(int64_t /*value*/) override { Unexpected("a negative number"); }
  void Float(std::string_view text) override { Unexpected("the number " + Shown(text)); }
  void Unsigned(uint64_t value) override;
  void String(const std::string& value) override;
  void StartObject() override;
  void Key(const std::string& key) override;
  void EndObject() override;
  void StartArray(JsonCursor& /*cursor*/) override;
  void EndArray() override { in_array_ = false; }
  [[noreturn]] void Malformed(const std::string& reason, bool cut_short) override {
    Fail(cut_short ? "not JSON, it ends too early" : "not JSON, " + reason);
  }

 private:
  enum class Place { kOutside, kRoot, kMetadata, kTensor };

  [[noreturn]] void Fail(const std::string& what) const {
    throw Error(path_ + ": safetensors header" + Where() + ": " + what + " (byte " +
                std::to_string(cursor_.at - cursor_.begin + 8) + ")");
  }
  [[noreturn]] void Unexpected(const std::string& found) const {
    Fail("expected " + Expected() + ", found " + found);
  }
  std::string Where() const;
  std::string Expected() const;
  void FinishTensor();
  void CheckSize(const TypeEntry& type) const;

  const std::string& path_;
  const JsonCursor& cursor_;
  SafetensorsHeader header_;
  std::unordered_set<std::string> names_;
  Place place_ = Place::kOutside;
  std::string key_;  // of the innermost object
  bool in_array_ = false;

  // The tensor being read.
  std::string name_;
  std::optional<std::string> dtype_;
  std::optional<Shape> shape_;
  std::optional<std::vector<uint64_t>> offsets_;
};

std::string HeaderReader::Where() const {
  if (place_ == Place::kMetadata) return ", __metadata__";
  if (place_ == Place::kTensor) return ", tensor " + Shown(name_);
  return "";
}

std::string HeaderReader::Expected() const {
  switch (place_) {
    case Place::kOutside:
      return "an object";
    case Place::kRoot:
      return "an object for " + Shown(key_);
    case Place::kMetadata:
      return "a text for " + Shown(key_);
    case Place::kTensor:
      break;
  }
  if (key_ == "dtype") return "a text for 'dtype'";
  return "a list of whole numbers from 0 to 2^63 - 1 for " + Shown(key_);
}

void HeaderReader::Unsigned(uint64_t value) {
  if (!in_array_ || value > uint64_t{INT64_MAX}) Unexpected("the number " + std::to_string(value));
  if (key_ == "shape") {
    if (shape_->size() == kMaxSafetensorsRank) Fail("more than 8 dimensions");
    shape_->push_back(static_cast<int64_t>(value));
  } else {
    if (offsets_->size() == 2) Fail("more than two data_offsets");
    offsets_->push_back(value);
  }
}

void HeaderReader::String(const std::string& value) {
  if (place_ == Place::kMetadata) {
    if (!header_.metadata.emplace(key_, value).second) {
      Fail("the key " + Shown(key_) + " is there twice");
    }
  } else if (place_ == Place::kTensor && key_ == "dtype" && !in_array_) {
    dtype_ = value;
  } else {
    Unexpected("the text " + Shown(value));
  }
}

void HeaderReader::StartObject() {
  if (place_ == Place::kOutside) {
    place_ = Place::kRoot;
  } else if (place_ == Place::kRoot && key_ == "__metadata__") {
    place_ = Place::kMetadata;
  } else if (place_ == Place::kRoot) {
    place_ = Place::kTensor;
    name_ = key_;
    dtype_.reset();
    shape_.reset();
    offsets_.reset();
  } else {
    Unexpected("an object");
  }
}

void HeaderReader::Key(const std::string& key) {
  key_ = key;
  if (place_ == Place::kRoot) {
    if (key.size() > kMaxSafetensorsName) Fail("a name of more than 4096 bytes");
    if (names_.size() == kMaxSafetensors) Fail("more than a million tensors");
    if (!names_.insert(key).second) Fail("the name " + Shown(key) + " is there twice");
  } else if (place_ == Place::kTensor) {
    const bool again = (key == "dtype" && dtype_) || (key == "shape" && shape_) ||
                       (key == "data_offsets" && offsets_);
    if (again) Fail("the key " + Shown(key) + " is there twice");
    if (key != "dtype" && key != "shape" && key != "data_offsets") {
      Fail("unknown key " + Shown(key) + ", expected dtype, shape and data_offsets");
    }
  }
}

void HeaderReader::StartArray(JsonCursor& /*cursor*/) {
  if (place_ != Place::kTensor || in_array_ || key_ == "dtype") Unexpected("a list");
  in_array_ = true;
  if (key_ == "shape") {
    shape_.emplace();
  } else {
    offsets_.emplace();
  }
}

void HeaderReader::EndObject() {
  if (place_ == Place::kTensor) FinishTensor();
  place_ = place_ == Place::kRoot ? Place::kOutside : Place::kRoot;
}

void HeaderReader::FinishTensor() {
  if (!dtype_) Fail("missing key 'dtype'");
  if (!shape_) Fail("missing key 'shape'");
  if (!offsets_) Fail("missing key 'data_offsets'");
  if (offsets_->size() != 2) Fail("data_offsets needs a begin and an end");
  if ((*offsets_)[0] > (*offsets_)[1]) {
    Fail("data_offsets begin " + std::to_string((*offsets_)[0]) + " lies behind their end " +
         std::to_string((*offsets_)[1]));
  }
  const TypeEntry* type = FindType(*dtype_);
  if (type != nullptr) CheckSize(*type);
  header_.tensors.push_back({name_, type != nullptr ? type->type : DataType::kOther, *shape_});
  header_.spans.push_back({(*offsets_)[0], (*offsets_)[1]});
  header_.type_names.push_back(*dtype_);
}

void HeaderReader::CheckSize(const TypeEntry& type) const {
  uint64_t count = 0;
  try {
    count = static_cast<uint64_t>(NumElements(*shape_));
  } catch (const Error& error) {
    Fail(error.what());
  }
  if (count > UINT64_MAX / type.bits) Fail("a shape has too many elements: " + ToString(*shape_));
  const uint64_t bits = count * type.bits;
  const uint64_t held = (*offsets_)[1] - (*offsets_)[0];
  if (bits % 8 != 0 || held != bits / 8) {
    Fail(std::string(type.name) + " of shape " + ToString(*shape_) + " takes " +
         std::to_string(bits / 8) + " bytes" + (bits % 8 != 0 ? " and a part" : "") +
         ", its data_offsets hold " + std::to_string(held));
  }
}

}  // namespace

SafetensorsHeader ParseSafetensorsHeader(std::string_view json, const std::string& path) {
  JsonCursor cursor(json);
  HeaderReader reader(path, cursor);
  ParseJson(cursor, reader);
  return reader.Take();
}

}  // namespace attnmap
