#include "formats/json_weights_reader.h"

#include <utility>

#include "attnmap/core/error.h"
#include "attnmap/core/number_text.h"
#include "formats/text.h"

namespace attnmap {
namespace {

constexpr size_t kMaxJsonTensors = 100'000;
constexpr size_t kMaxHeads = 4096;
constexpr size_t kMaxJsonName = 4096;
constexpr std::string_view kFormat = "attnmap-weights";
constexpr uint64_t kFormVersion = 1;

}  // namespace

JsonWeightsReader::JsonWeightsReader(const MappedFile& file)
    : file_(file),
      cursor_({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}) {}

void JsonWeightsReader::Read() {
  if (file_.bytes().empty()) throw Error(file_.path() + ": the file is empty");
  ParseJson(cursor_, *this);
}

// ---- messages ----

void JsonWeightsReader::FailAt(const std::string& path, const std::string& what) const {
  throw Error(file_.path() + ": " + path + (path.empty() ? "" : ": ") + what + " (" +
              cursor_.LineColumn() + ")");
}

void JsonWeightsReader::Fail(const std::string& what) const { FailAt(Path(), what); }

void JsonWeightsReader::Unexpected(const std::string& found) const {
  Fail("expected " + Expected() + ", found " + found);
}

void JsonWeightsReader::Malformed(const std::string& reason, bool cut_short) {
  if (cut_short) {
    Fail("the file ends after " + Counted(cursor_.end - cursor_.begin, "byte") +
         " in the middle of the JSON text: it is cut short");
  }
  Fail("not JSON: " + reason);
}

void JsonWeightsReader::Check(const JsonHeader::Problem& problem) const {
  if (problem) Fail(*problem);
}

// The full path of the present value: tensors['norm.weight'].data, heads[1].W_Q.
std::string JsonWeightsReader::Path() const {
  if (places_.empty() || root_key_ == nullptr) return "";
  if (InHeader()) return header_.Path();
  std::string path(root_key_->name);
  for (const Place place : places_) {
    if (place == Place::kTensors && !name_.empty()) path += '[' + Shown(name_) + ']';
    if (place == Place::kHeads && num_heads_ > 0) {
      path += '[' + std::to_string(num_heads_ - 1) + ']';
    }
    if (place == Place::kHead && !name_.empty()) path += '.' + name_;
    if (place == Place::kTensor && !tensor_key_.empty()) path += '.' + tensor_key_;
  }
  return path;
}

std::string JsonWeightsReader::Expected() const {
  if (places_.empty()) return "an object";
  switch (places_.back()) {
    case Place::kHeads:
      return "an object with W_Q, W_K and W_V";
    case Place::kTensor:
      return tensor_key_ == "shape" ? "a list of dimensions" : "a flat list of numbers";
    case Place::kShape:
      return "a dimension, a whole number from 0 to 2^62";
    case Place::kTensors:
    case Place::kHead:
      return R"(nested lists of numbers or {"shape", "data"})";
    case Place::kRoot:
    case Place::kNumbers:
      break;
  }
  if (AwaitsTensor()) return R"(nested lists of numbers or {"shape", "data"})";
  return std::string(ExpectedOf(root_key_->kind));
}

// ---- where we are ----

bool JsonWeightsReader::InHeader() const {
  if (places_.size() != 1 || root_key_ == nullptr) return false;
  const JsonKind kind = root_key_->kind;
  return kind != JsonKind::kTensor && kind != JsonKind::kTensors && kind != JsonKind::kHeads;
}

bool JsonWeightsReader::AwaitsTensor() const {
  if (places_.empty()) return false;
  if (places_.back() == Place::kRoot) return root_key_->kind == JsonKind::kTensor;
  return places_.back() == Place::kTensors || places_.back() == Place::kHead;
}

// ---- scalars ----

// `kind`: what the value would be right for; kTensor: for none.
void JsonWeightsReader::HeaderScalar(std::string_view text, JsonKind kind,
                                     const std::string& found) {
  if (!InHeader()) Unexpected(found);
  if (AtRootValue() && kind != root_key_->kind) Unexpected(found);
  if (root_key_->kind == JsonKind::kTexts && kind != JsonKind::kText) Unexpected(found);
  Check(kind == JsonKind::kText ? header_.Text(text) : header_.Plain(text));
}

void JsonWeightsReader::Null() { HeaderScalar("null", JsonKind::kTensor, "null"); }

void JsonWeightsReader::Boolean(bool value) {
  const std::string text = value ? "true" : "false";
  HeaderScalar(text, JsonKind::kTensor, text);
}

void JsonWeightsReader::Integer(int64_t value) {
  const std::string text = std::to_string(value);
  HeaderScalar(text, JsonKind::kTensor, text);
}

void JsonWeightsReader::Float(std::string_view text) {
  HeaderScalar(text, JsonKind::kTensor, "the number " + Shown(text));
}

void JsonWeightsReader::Unsigned(uint64_t value) {
  if (!places_.empty() && places_.back() == Place::kShape) return AddDimension(value);
  const std::string text = std::to_string(value);
  if (AtRootValue() && InHeader() && root_key_->name == "version" && value != kFormVersion) {
    Fail("version " + text + " is not known, expected " + std::to_string(kFormVersion));
  }
  HeaderScalar(text, JsonKind::kNumber, "the number " + text);
}

void JsonWeightsReader::String(const std::string& value) {
  if (AtRootValue() && InHeader() && root_key_->name == "format" && value != kFormat) {
    Fail("the format " + Shown(value) + " is not known, expected '" + std::string(kFormat) + "'");
  }
  HeaderScalar(value, JsonKind::kText, "the text " + Shown(value));
}

void JsonWeightsReader::AddDimension(uint64_t value) {
  if (value > uint64_t{1} << 62) Unexpected("the number " + std::to_string(value));
  if (shape_->size() == kMaxJsonRank) {
    Fail("more than " + std::to_string(kMaxJsonRank) + " dimensions");
  }
  shape_->push_back(static_cast<int64_t>(value));
}

// ---- objects ----

void JsonWeightsReader::StartObject() {
  if (places_.empty()) {
    places_.push_back(Place::kRoot);
    Check(header_.Open('{'));
  } else if (InHeader()) {
    if (AtRootValue() && root_key_->kind != JsonKind::kObject) Unexpected("an object");
    if (root_key_->kind == JsonKind::kTexts) Unexpected("an object");
    Check(header_.Open('{'));
  } else if (AwaitsTensor()) {
    places_.push_back(Place::kTensor);
    tensor_key_.clear();
    shape_.reset();
    data_seen_ = false;
  } else if (places_.back() == Place::kRoot && root_key_->kind == JsonKind::kTensors) {
    places_.push_back(Place::kTensors);
  } else if (places_.back() == Place::kHeads) {
    if (static_cast<size_t>(num_heads_) == kMaxHeads) Fail("more than 4096 heads");
    places_.push_back(Place::kHead);
    ++num_heads_;
    names_.clear();
    name_.clear();
  } else {
    Unexpected("an object");
  }
}

void JsonWeightsReader::Key(const std::string& key) {
  if (places_.back() == Place::kTensor) return TensorKey(key);
  if (places_.back() == Place::kRoot && header_.depth() == 1) return RootKey(key);
  if (places_.back() == Place::kRoot) return Check(header_.Key(key));
  if (key.size() > kMaxJsonName) Fail("a name of more than 4096 bytes");
  name_ = key;
  if (places_.back() == Place::kHead && !IsHeadTensor(key)) {
    Fail("unknown key, expected W_Q, W_K, W_V, b_Q, b_K or b_V");
  }
  if (!names_.insert(key).second) Fail("the key is there twice");
}

void JsonWeightsReader::RootKey(const std::string& key) {
  root_key_ = FindRootKey(key);
  if (root_key_ == nullptr) {
    if (form_ == JsonForm::kUnknown) {
      FailAt("", "no JSON weights: unknown key " + Shown(key) +
                     ", expected format, config, tensors, ... or patch_size, W_Q, W_K, W_V, ...");
    }
    FailAt("", "unknown key " + Shown(key) + ", expected one of " + KeysOf(form_));
  }
  if (!root_keys_.insert(key).second) FailAt("", "the key " + Shown(key) + " is there twice");
  DecideForm(*root_key_);
  if (InHeader()) Check(header_.Key(key));
}

void JsonWeightsReader::DecideForm(const JsonKey& key) {
  if (key.form == JsonForm::kBoth || key.form == form_) return;
  if (form_ == JsonForm::kUnknown) {
    form_ = key.form;
    first_key_ = key.name;
    return;
  }
  const bool full = key.form == JsonForm::kFull;
  FailAt("", "the key " + Shown(key.name) + " belongs to the " + (full ? "full" : "one-layer") +
                 " form, the key " + Shown(first_key_) + " before it to the " +
                 (full ? "one-layer" : "full") + " form");
}

void JsonWeightsReader::TensorKey(const std::string& key) {
  tensor_key_ = key;
  if (key != "shape" && key != "data") Fail("unknown key, expected shape and data");
  if (key == "shape" ? shape_.has_value() : data_seen_) Fail("the key is there twice");
}

void JsonWeightsReader::EndObject() {
  if (places_.back() == Place::kRoot) {
    if (header_.depth() == 1) FinishRoot();
    header_.Close();
    if (header_.depth() > 0) return;
  }
  if (places_.back() == Place::kTensor) FinishFlatTensor();
  if (places_.back() == Place::kHead) FinishHead();
  places_.pop_back();
}

// ---- lists ----

void JsonWeightsReader::StartArray(JsonCursor& cursor) {
  if (AwaitsTensor()) {
    ReadData(cursor, kMaxJsonRank);
  } else if (places_.empty()) {
    Unexpected("a list");
  } else if (InHeader()) {
    const JsonKind kind = root_key_->kind;
    if (AtRootValue() && kind != JsonKind::kList && kind != JsonKind::kTexts) Unexpected("a list");
    if (!AtRootValue() && kind == JsonKind::kTexts) Unexpected("a list");
    Check(header_.Open('['));
  } else if (places_.back() == Place::kTensor && tensor_key_ == "data") {
    data_seen_ = true;
    ReadData(cursor, 1);
  } else if (places_.back() == Place::kTensor) {
    places_.push_back(Place::kShape);
    shape_.emplace();
  } else if (places_.back() == Place::kRoot && root_key_->kind == JsonKind::kHeads) {
    places_.push_back(Place::kHeads);
  } else {
    Unexpected("a list");
  }
}

void JsonWeightsReader::EndArray() {
  if (InHeader()) return header_.Close();
  if (places_.back() == Place::kHeads && num_heads_ == 0) Fail("no heads, expected at least one");
  places_.pop_back();
}

void JsonWeightsReader::ReadData(JsonCursor& cursor, size_t max_rank) {
  try {
    Shape shape = ReadJsonNumbers(cursor, max_rank, file_, numbers_);
    if (places_.back() != Place::kTensor) AddTensor(std::move(shape));
  } catch (const NumbersError& error) {
    if (cursor_.at != cursor_.end) ++cursor_.at;  // it was before the place
    FailAt(Path() + error.element, error.what);
  }
  places_.push_back(Place::kNumbers);
}

// ---- what is complete ----

void JsonWeightsReader::FinishFlatTensor() {
  tensor_key_.clear();
  if (!shape_) Fail("missing key 'shape'");
  if (!data_seen_) Fail("missing key 'data'");
  int64_t count = 0;
  try {
    count = NumElements(*shape_);
  } catch (const Error& error) {
    Fail(error.what());
  }
  if (count != numbers_.size()) {
    Fail("the shape " + ToString(*shape_) + " takes " + Counted(count, "number") + ", data has " +
         std::to_string(numbers_.size()));
  }
  AddTensor(std::move(*shape_));
}

void JsonWeightsReader::AddTensor(Shape shape) {
  if (infos_.size() == kMaxJsonTensors) {
    Fail("more than " + std::to_string(kMaxJsonTensors) + " tensors");
  }
  std::string name = name_;
  if (places_.front() == Place::kRoot && root_key_->kind == JsonKind::kTensor) {
    name = root_key_->name;
  } else if (root_key_->kind == JsonKind::kHeads) {
    name = "heads." + std::to_string(num_heads_ - 1) + '.' + name_;
  }
  infos_.push_back({std::move(name), DataType::kF32, shape});
  tensors_.push_back(numbers_.Take(std::move(shape)));
}

void JsonWeightsReader::FinishHead() {
  name_.clear();
  for (const char* key : {"W_Q", "W_K", "W_V"}) {
    if (!names_.contains(key)) Fail(std::string("missing key '") + key + "'");
  }
}

void JsonWeightsReader::FinishRoot() const {
  if (form_ == JsonForm::kUnknown) {
    throw Error(file_.path() + ": neither form of JSON weights: no 'tensors' and no 'W_Q'");
  }
  for (const JsonKey& key : RootKeys()) {
    if (key.form == form_ && key.required && !root_keys_.contains(std::string(key.name))) {
      throw Error(file_.path() + ": missing key '" + std::string(key.name) + "'");
    }
  }
  if (form_ == JsonForm::kLayer) RequireHeads();
}

// One head at the top, or several in "heads", not both.
void JsonWeightsReader::RequireHeads() const {
  const bool several = root_keys_.contains("heads");
  for (const JsonKey& key : RootKeys()) {
    if (!IsHeadTensor(key.name)) continue;
    const bool present = root_keys_.contains(std::string(key.name));
    if (several && present) {
      throw Error(file_.path() + ": the key '" + std::string(key.name) +
                  "' stands beside 'heads', expected it within each head");
    }
    if (!several && !present && key.name.starts_with('W')) {
      throw Error(file_.path() + ": missing key '" + std::string(key.name) + "'");
    }
  }
}

}  // namespace attnmap
