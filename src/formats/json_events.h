#ifndef ATTNMAP_FORMATS_JSON_EVENTS_H_
#define ATTNMAP_FORMATS_JSON_EVENTS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace attnmap {

// Where a JSON reader stands in a text that others keep. `at` is just behind
// the last character that was taken.
struct JsonCursor {
  const char* begin = nullptr;
  const char* at = nullptr;
  const char* end = nullptr;

  explicit JsonCursor(std::string_view text)
      : begin(text.data()), at(text.data()), end(text.data() + text.size()) {}
  // "line 3, column 17" of the last character taken, both from 1.
  std::string LineColumn() const;
};

// What a JSON text consists of, in order. Each handler may throw.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void Null() = 0;
  virtual void Boolean(bool value) = 0;
  virtual void Integer(int64_t value) = 0;  // written with a minus sign
  virtual void Unsigned(uint64_t value) = 0;
  virtual void Float(std::string_view text) = 0;  // as written
  virtual void String(const std::string& value) = 0;
  virtual void StartObject() = 0;
  virtual void Key(const std::string& key) = 0;
  virtual void EndObject() = 0;
  // The cursor is behind the "["; the handler may read on by itself, up to
  // just before the "]" that belongs to it.
  virtual void StartArray(JsonCursor& cursor) = 0;
  virtual void EndArray() = 0;
  // Not JSON at the cursor: `reason` is one line; `cut_short`: the text ends
  // where more has to come. Must throw.
  [[noreturn]] virtual void Malformed(const std::string& reason, bool cut_short) = 0;
};

// Reads one JSON value, followed by nothing but white space, with nlohmann's
// parser. A single name, text or number is at most 16 MB, so that no memory
// is spent on a file's nonsense.
void ParseJson(JsonCursor& cursor, JsonEvents& events);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_JSON_EVENTS_H_
