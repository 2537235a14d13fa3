#ifndef ATTNMAP_PIPELINE_WORDS_H_
#define ATTNMAP_PIPELINE_WORDS_H_

#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "attnmap/core/error.h"

namespace attnmap {

// A word that an option takes, and what it stands for.
template <typename Value>
struct Word {
  std::string_view text;
  Value value;
};

template <typename Value>
const Value* Find(std::span<const Word<Value>> words, std::string_view text) {
  for (const Word<Value>& word : words) {
    if (word.text == text) return &word.value;
  }
  return nullptr;
}

template <typename Value>
std::string_view NameOf(std::span<const Word<Value>> words, Value value) {
  for (const Word<Value>& word : words) {
    if (word.value == value) return word.text;
  }
  return "unknown";
}

template <typename Value>
std::string Listed(std::span<const Word<Value>> words) {
  std::string list;
  for (const Word<Value>& word : words) {
    if (!list.empty()) list += ", ";
    list += word.text;
  }
  return list;
}

[[noreturn]] inline void Refuse(std::string_view option, std::string_view text,
                                const std::string& takes) {
  throw UsageError(std::string(option) + " '" + std::string(text) + "' is not known: it takes " +
                   takes);
}

template <typename Value>
Value Choose(std::string_view option, std::span<const Word<Value>> words, std::string_view text) {
  if (const Value* value = Find(words, text)) return *value;
  Refuse(option, text, Listed(words));
}

// All of the text, in any locale; nothing for what is not a finite number.
template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || stop != end || text.empty()) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

}  // namespace attnmap

#endif  // ATTNMAP_PIPELINE_WORDS_H_
