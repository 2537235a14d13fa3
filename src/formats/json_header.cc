#include "formats/json_header.h"

#include "formats/text.h"

namespace attnmap {
namespace {
constexpr size_t kMaxText = size_t{16} << 20;
constexpr size_t kMaxHeaderDepth = 16;
}  // namespace

JsonHeader::Problem JsonHeader::Append(std::string_view text) {
  if (!levels_.empty()) {
    Level& level = levels_.back();
    if (level.array && level.count > 0) text_ += ',';
    ++level.count;
  }
  text_ += text;
  if (text_.size() > kMaxText) return "more than 16 MB of configuration";
  return std::nullopt;
}

JsonHeader::Problem JsonHeader::Plain(std::string_view text) { return Append(text); }
JsonHeader::Problem JsonHeader::Text(std::string_view text) { return Append(JsonString(text)); }

JsonHeader::Problem JsonHeader::Open(char bracket) {
  if (levels_.size() == kMaxHeaderDepth) {
    return "nested more than " + std::to_string(kMaxHeaderDepth) + " deep";
  }
  Problem problem = Append({&bracket, 1});
  levels_.push_back({bracket == '[', 0, {}, {}});
  return problem;
}

JsonHeader::Problem JsonHeader::Key(std::string_view key) {
  Level& level = levels_.back();
  level.key = key;
  if (!level.keys.insert(level.key).second) return "the key is there twice";
  if (level.keys.size() > 1) text_ += ',';
  text_ += JsonString(key) + ':';
  return std::nullopt;
}

void JsonHeader::Close() {
  text_ += levels_.back().array ? ']' : '}';
  levels_.pop_back();
}

std::string JsonHeader::Path() const {
  std::string path;
  for (const Level& level : levels_) {
    if (level.array) {
      // Within an element the count already includes it.
      const bool inside = &level != &levels_.back();
      path += '[' + std::to_string(level.count - (inside ? 1 : 0)) + ']';
    } else if (!level.key.empty()) {
      path += (path.empty() ? "" : ".") + level.key;
    }
  }
  return path;
}

}  // namespace attnmap
