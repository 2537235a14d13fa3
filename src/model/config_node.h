#ifndef ATTNMAP_MODEL_CONFIG_NODE_H_
#define ATTNMAP_MODEL_CONFIG_NODE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attnmap/core/patch_grid.h"

namespace attnmap {

// A JSON object of a configuration text, read key by key with checks. Every
// read throws Error naming the text, the key, what was expected and found; a key
// that is not there gives nothing. Cheap to copy.
class ConfigNode {
 public:
  // kOwn: null is a mistake as any other. kForeign: null means not given.
  enum class Manner { kOwn, kForeign };

  // An object that is not there: every read gives nothing.
  ConfigNode() = default;
  // `where` is for messages: "FILE", "config.json beside FILE".
  static ConfigNode Parse(const std::string& text, std::string where, Manner manner);

  bool present() const { return value_ != nullptr; }
  const std::string& where() const { return where_; }
  bool Has(std::string_view key) const;
  bool IsObject(std::string_view key) const;
  bool IsArray(std::string_view key) const;
  bool IsString(std::string_view key) const;
  bool IsFalse(std::string_view key) const;

  std::optional<int> Int(std::string_view key, int low, int high) const;
  // Finite, low <= value <= high.
  std::optional<double> Number(std::string_view key, double low, double high) const;
  std::optional<bool> Bool(std::string_view key) const;
  std::optional<std::string> String(std::string_view key) const;
  // `count` 0: any.
  std::optional<std::vector<double>> Numbers(std::string_view key, size_t count) const;
  std::optional<std::vector<std::string>> Strings(std::string_view key) const;
  // [rows, cols], each 1 ... high.
  std::optional<RowsCols> Size(std::string_view key, int high) const;
  ConfigNode Child(std::string_view key) const;
  // An object whose values are strings.
  std::vector<std::pair<std::string, std::string>> StringMap(std::string_view key) const;

  // Throws Error naming the first key that was never asked for.
  void RejectUnread() const;
  // An Error about a key: "FILE: config.patch_size: <what>".
  [[noreturn]] void Fail(std::string_view key, const std::string& what) const;

 private:
  struct Value;   // the JSON library's value, and which keys were read
  struct Access;  // what needs the JSON library's types

  std::shared_ptr<const Value> value_;
  std::string where_;
  std::string path_;  // "config.", for messages
  Manner manner_ = Manner::kForeign;
};

}  // namespace attnmap

#endif  // ATTNMAP_MODEL_CONFIG_NODE_H_
