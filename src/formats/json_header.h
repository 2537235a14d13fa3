#ifndef ATTNMAP_FORMATS_JSON_HEADER_H_
#define ATTNMAP_FORMATS_JSON_HEADER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace attnmap {

// Writes JSON events down again as compact JSON text: the small part of a
// weights file that others parse. What it cannot take comes back as one line.
class JsonHeader {
 public:
  using Problem = std::optional<std::string>;

  // A value that needs no quotes: a number, true, null.
  Problem Plain(std::string_view text);
  Problem Text(std::string_view text);
  Problem Open(char bracket);  // '{' or '['
  Problem Key(std::string_view key);
  void Close();

  // Levels that are open.
  size_t depth() const { return levels_.size(); }
  // Where the next value goes, below the outermost object: ".mean[2]".
  std::string Path() const;
  std::string Take() { return std::move(text_); }

 private:
  struct Level {
    bool array = false;
    int64_t count = 0;  // values so far
    std::string key;    // of the value that comes
    std::unordered_set<std::string> keys;
  };
  Problem Append(std::string_view text);

  std::string text_;
  std::vector<Level> levels_;
};

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_JSON_HEADER_H_
