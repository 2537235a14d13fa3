#include "formats/json_events.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace attnmap {
namespace {

constexpr ptrdiff_t kTokenLimit = ptrdiff_t{16} << 20;

// What the two iterators given to nlohmann share: handlers move the cursor,
// and nlohmann goes on from there.
struct Feed {
  JsonCursor& cursor;
  JsonEvents& events;
  const char* token = nullptr;  // where the present token may not start before

  char Current() const {
    // nlohmann takes a zero byte for the end and would not look behind it.
    if (*cursor.at == '\0') events.Malformed("a zero byte", false);
    return *cursor.at;
  }
  void Next() {
    ++cursor.at;
    if (cursor.at - token > kTokenLimit) events.Malformed("a text of more than 16 MB", false);
  }
};

class FeedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  FeedIterator() = default;
  explicit FeedIterator(Feed* feed) : feed_(feed) {}
  char operator*() const { return feed_->Current(); }
  FeedIterator& operator++() {
    feed_->Next();
    return *this;
  }
  void operator++(int) { feed_->Next(); }
  // Only ever asked: is this the end?
  bool operator==(const FeedIterator& other) const {
    const Feed* feed = feed_ != nullptr ? feed_ : other.feed_;
    return feed->cursor.at == feed->cursor.end;
  }
  bool operator!=(const FeedIterator& other) const { return !(*this == other); }

 private:
  Feed* feed_ = nullptr;
};

// "[json.exception.parse_error.101] parse error at line 1, column 5: REASON;
// last read: 'TEXT'; expected THAT" without the position (the cursor knows it)
// and without the text, which may be anything.
std::string Reason(std::string what) {
  if (what.starts_with('[')) what.erase(0, what.find("] ") + 2);
  if (what.starts_with("parse error")) what.erase(0, what.find(": ") + 2);
  const size_t read = what.find("; last read: '");
  if (read == std::string::npos) return what.substr(0, 200);
  const size_t expected = what.rfind("'; expected ");
  std::string rest =
      expected != std::string::npos && expected > read ? what.substr(expected + 1) : "";
  return what.substr(0, read) + rest;
}

// Whether a reason given at the end of the text means that more had to come.
bool IsCutShort(const std::string& reason) {
  if (reason.ends_with("expected end of input")) return false;
  return reason.find("unexpected end of input") != std::string::npos ||
         reason.find("invalid") != std::string::npos;
}

// nlohmann's SAX interface to ours.
class Handler {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit Handler(Feed& feed) : feed_(feed) {}

  bool null() {
    feed_.events.Null();
    return Done();
  }
  bool boolean(bool value) {
    feed_.events.Boolean(value);
    return Done();
  }
  bool number_integer(number_integer_t value) {
    feed_.events.Integer(value);
    return Done();
  }
  bool number_unsigned(number_unsigned_t value) {
    feed_.events.Unsigned(value);
    return Done();
  }
  bool number_float(number_float_t /*value*/, const string_t& text) {
    feed_.events.Float(text);
    return Done();
  }
  bool string(string_t& value) {
    feed_.events.String(value);
    return Done();
  }
  bool binary(binary_t& /*value*/) { return false; }
  bool start_object(size_t /*size*/) {
    feed_.events.StartObject();
    return Done();
  }
  bool key(string_t& value) {
    feed_.events.Key(value);
    return Done();
  }
  bool end_object() {
    feed_.events.EndObject();
    return Done();
  }
  bool start_array(size_t /*size*/) {
    feed_.events.StartArray(feed_.cursor);
    return Done();
  }
  bool end_array() {
    feed_.events.EndArray();
    return Done();
  }
  bool parse_error(size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::json::exception& error) {
    const std::string reason = Reason(error.what());
    feed_.events.Malformed(reason, feed_.cursor.at == feed_.cursor.end && IsCutShort(reason));
    return false;  // not reached
  }

 private:
  bool Done() {
    feed_.token = feed_.cursor.at;
    return true;
  }

  Feed& feed_;
};

}  // namespace

std::string JsonCursor::LineColumn() const {
  const char* last = at > begin ? at - 1 : at;
  const auto line = std::count(begin, last, '\n') + 1;
  const char* start = last;
  while (start > begin && start[-1] != '\n') --start;
  return "line " + std::to_string(line) + ", column " + std::to_string(last - start + 1);
}

void ParseJson(JsonCursor& cursor, JsonEvents& events) {
  Feed feed{cursor, events, cursor.at};
  Handler handler(feed);
  nlohmann::json::sax_parse(FeedIterator(&feed), FeedIterator(), &handler);
}

}  // namespace attnmap
