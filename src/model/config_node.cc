#include "model/config_node.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "attnmap/core/error.h"

namespace attnmap {

using Json = nlohmann::json;

struct ConfigNode::Value {
  std::shared_ptr<const Json> root;
  const Json* object = nullptr;
  mutable std::set<std::string, std::less<>> read;
};

namespace {

// What was found, short enough for one line.
std::string Found(const Json& value) {
  constexpr size_t kMaxLength = 48;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMaxLength) text = text.substr(0, kMaxLength) + "...";
  return text;
}

// Numbers in messages: without an exponent, without needless digits.
std::string NumberText(double value) { return Json(value).dump(); }

}  // namespace

struct ConfigNode::Access {
  // Null where the key is not there (or null in a foreign text).
  static const Json* Get(const ConfigNode& node, std::string_view key) {
    if (node.value_ == nullptr) return nullptr;
    node.value_->read.emplace(key);
    const auto found = node.value_->object->find(std::string(key));
    if (found == node.value_->object->end()) return nullptr;
    if (found->is_null() && node.manner_ == Manner::kForeign) return nullptr;
    return &*found;
  }

  [[noreturn]] static void FailType(const ConfigNode& node, std::string_view key,
                                    const std::string& expected, const Json& found) {
    node.Fail(key, "expected " + expected + ", found " + Found(found));
  }

  static std::optional<int> WholeNumber(const Json& value, int low, int high) {
    if (!value.is_number()) return std::nullopt;
    const double number = value.get<double>();
    if (!(number >= low && number <= high) || number != std::floor(number)) return std::nullopt;
    return static_cast<int>(number);
  }
};

ConfigNode ConfigNode::Parse(const std::string& text, std::string where, Manner manner) {
  ConfigNode node;
  node.where_ = std::move(where);
  node.manner_ = manner;
  auto root = std::make_shared<Json>(Json::parse(text, nullptr, /*allow_exceptions=*/false));
  if (root->is_discarded()) throw Error(node.where_ + " is not valid JSON");
  if (!root->is_object()) {
    throw Error(node.where_ + ": expected a JSON object, found " + Found(*root));
  }
  auto value = std::make_shared<Value>();
  value->object = root.get();
  value->root = std::move(root);
  node.value_ = std::move(value);
  return node;
}

bool ConfigNode::Has(std::string_view key) const { return Access::Get(*this, key) != nullptr; }

bool ConfigNode::IsObject(std::string_view key) const {
  const Json* value = Access::Get(*this, key);
  return value != nullptr && value->is_object();
}

bool ConfigNode::IsArray(std::string_view key) const {
  const Json* value = Access::Get(*this, key);
  return value != nullptr && value->is_array();
}

bool ConfigNode::IsString(std::string_view key) const {
  const Json* value = Access::Get(*this, key);
  return value != nullptr && value->is_string();
}

bool ConfigNode::IsFalse(std::string_view key) const {
  const Json* value = Access::Get(*this, key);
  return value != nullptr && value->is_boolean() && !value->get<bool>();
}

std::optional<int> ConfigNode::Int(std::string_view key, int low, int high) const {
  const Json* value = Access::Get(*this, key);
  if (value == nullptr) return std::nullopt;
  const auto number = Access::WholeNumber(*value, low, high);
  if (!number) {
    Access::FailType(*this, key,
                     "a whole number from " + std::to_string(low) + " to " + std::to_string(high),
                     *value);
  }
  return number;
}

std::optional<double> ConfigNode::Number(std::string_view key, double low, double high) const {
  const Json* value = Access::Get(*this, key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) {
    const double number = value->get<double>();
    if (number >= low && number <= high) return number;
  }
  Access::FailType(*this, key, "a number from " + NumberText(low) + " to " + NumberText(high),
                   *value);
}

std::optional<bool> ConfigNode::Bool(std::string_view key) const {
  const Json* value = Access::Get(*this, key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) Access::FailType(*this, key, "true or false", *value);
  return value->get<bool>();
}

std::optional<std::string> ConfigNode::String(std::string_view key) const {
  const Json* value = Access::Get(*this, key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) Access::FailType(*this, key, "a string", *value);
  return value->get<std::string>();
}

std::optional<std::vector<double>> ConfigNode::Numbers(std::string_view key, size_t count) const {
  const Json* value = Access::Get(*this, key);
  if (value == nullptr) return std::nullopt;
  std::vector<double> numbers;
  bool good = value->is_array() && (count == 0 || value->size() == count);
  for (size_t i = 0; good && i < value->size(); ++i) {
    good = (*value)[i].is_number() && std::isfinite((*value)[i].get<double>());
    if (good) numbers.push_back((*value)[i].get<double>());
  }
  if (!good) {
    const std::string what = count == 0 ? "numbers" : std::to_string(count) + " numbers";
    Access::FailType(*this, key, "an array of " + what, *value);
  }
  return numbers;
}

std::optional<std::vector<std::string>> ConfigNode::Strings(std::string_view key) const {
  const Json* value = Access::Get(*this, key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) Access::FailType(*this, key, "an array of strings", *value);
  std::vector<std::string> strings;
  for (const Json& item : *value) {
    if (!item.is_string()) {
      Access::FailType(*this, std::string(key) + "[" + std::to_string(strings.size()) + "]",
                       "a string", item);
    }
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

std::optional<RowsCols> ConfigNode::Size(std::string_view key, int high) const {
  const Json* value = Access::Get(*this, key);
  if (value == nullptr) return std::nullopt;
  if (value->is_array() && value->size() == 2) {
    const auto rows = Access::WholeNumber((*value)[0], 1, high);
    const auto cols = Access::WholeNumber((*value)[1], 1, high);
    if (rows && cols) return RowsCols{*rows, *cols};
  }
  Access::FailType(*this, key, "[rows, cols], each from 1 to " + std::to_string(high), *value);
}

ConfigNode ConfigNode::Child(std::string_view key) const {
  const Json* value = Access::Get(*this, key);
  if (value == nullptr) return {};
  if (!value->is_object()) Access::FailType(*this, key, "an object", *value);
  ConfigNode node = *this;
  auto child = std::make_shared<Value>();
  child->root = value_->root;
  child->object = value;
  node.value_ = std::move(child);
  node.path_ = path_ + std::string(key) + ".";
  return node;
}

std::vector<std::pair<std::string, std::string>> ConfigNode::StringMap(std::string_view key) const {
  std::vector<std::pair<std::string, std::string>> pairs;
  const Json* value = Access::Get(*this, key);
  if (value == nullptr) return pairs;
  if (!value->is_object()) Access::FailType(*this, key, "an object", *value);
  for (const auto& [name, item] : value->items()) {
    if (!item.is_string()) {
      Access::FailType(*this, std::string(key) + "." + name, "a string", item);
    }
    pairs.emplace_back(name, item.get<std::string>());
  }
  return pairs;
}

void ConfigNode::RejectUnread() const {
  if (value_ == nullptr) return;
  for (const auto& [name, item] : value_->object->items()) {
    if (!value_->read.contains(name)) Fail(name, "unknown key");
  }
}

void ConfigNode::Fail(std::string_view key, const std::string& what) const {
  throw Error(where_ + ": " + path_ + std::string(key) + ": " + what);
}

}  // namespace attnmap
