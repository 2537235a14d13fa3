#include "formats/json_numbers.h"

#include <fast_float/fast_float.h>

#include <array>
#include <cmath>
#include <utility>

#include "attnmap/core/error.h"
#include "attnmap/core/number_text.h"
#include "formats/text.h"

namespace attnmap {
namespace {

constexpr ptrdiff_t kForgetEvery = ptrdiff_t{4} << 20;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// The end of the JSON number at `at`, or null where there is none. `value`
// becomes infinite where float32 is too small for it.
const char* ReadNumber(const char* at, const char* end, float& value) {
  // fast_float also takes what JSON does not: "nan", "01", ".5", "5.".
  const char* digits = at != end && *at == '-' ? at + 1 : at;
  if (digits == end || !IsDigit(*digits)) return nullptr;
  const auto result = fast_float::from_chars(at, end, value);
  const char* stop = result.ptr;
  const char* point = digits + 1;
  if (*digits == '0') {
    if (point != stop && IsDigit(*point)) return nullptr;
  } else {
    while (point != stop && IsDigit(*point)) ++point;
  }
  if (point != stop && *point == '.' && (point + 1 == stop || !IsDigit(point[1]))) return nullptr;
  return stop;
}

class Scanner {
 public:
  Scanner(JsonCursor& cursor, size_t max_rank, const MappedFile& file, FloatBuffer& numbers)
      : cursor_(cursor), max_rank_(max_rank), file_(file), numbers_(numbers), kept_(cursor.at) {}

  Shape Read() {
    counts_[1] = 0;
    bool first = true;  // behind a "[": a "]" may follow
    do {
      SkipSpace();
      const char next = Peek();
      if (next == '[') {
        Open();
        first = true;
        continue;
      }
      if (!(next == ']' && first)) ReadRow();
      first = false;
    } while (first || Close());
    return {dims_.begin() + 1, dims_.begin() + 1 + static_cast<ptrdiff_t>(rank_)};
  }

 private:
  char Peek() const {
    if (cursor_.at == cursor_.end) {
      throw NumbersError{Element(), "the file ends here, it is cut short"};
    }
    return *cursor_.at;
  }
  void SkipSpace() {
    while (cursor_.at != cursor_.end && IsSpace(*cursor_.at)) ++cursor_.at;
  }

  void Open();
  void ReadRow();
  bool Close();
  void CheckLength();
  void Forget();
  std::string Element(size_t depth) const;
  std::string Element() const { return Element(depth_); }
  [[noreturn]] void NoNumber() const;

  JsonCursor& cursor_;
  size_t max_rank_;
  const MappedFile& file_;
  FloatBuffer& numbers_;
  const char* kept_;  // pages before it were given back

  // Level 1 is the outermost array. A dimension is -1 until its first array closes.
  std::array<int64_t, kMaxJsonRank + 1> counts_{};
  std::array<int64_t, kMaxJsonRank + 1> dims_ = {-1, -1, -1, -1, -1, -1, -1, -1, -1};
  size_t depth_ = 1;
  size_t rank_ = 1;            // the deepest level so far
  bool numbers_seen_ = false;  // then they are at the level `rank_`
};

void Scanner::Open() {
  if (numbers_seen_ && depth_ == rank_) {
    throw NumbersError{Element(), "expected a number, found a list"};
  }
  if (depth_ == max_rank_) {
    throw NumbersError{Element(), max_rank_ == 1
                                      ? std::string("expected a number, found a list")
                                      : "more than " + std::to_string(max_rank_) + " dimensions"};
  }
  ++cursor_.at;
  ++depth_;
  counts_[depth_] = 0;
  rank_ = std::max(rank_, depth_);
}

// The numbers of an innermost array, up to its "]".
void Scanner::ReadRow() {
  if (depth_ != rank_) {
    float ignored = 0;
    if (ReadNumber(cursor_.at, cursor_.end, ignored) == nullptr) NoNumber();
    throw NumbersError{Element(), "expected a list as before it, found a number"};
  }
  while (true) {
    float value = 0;
    const char* stop = ReadNumber(cursor_.at, cursor_.end, value);
    if (stop == nullptr) NoNumber();
    if (!std::isfinite(value)) {
      throw NumbersError{Element(),
                         "the number " + Shown({cursor_.at, stop}) + " is too large for float32"};
    }
    const char* start = std::exchange(cursor_.at, stop);
    numbers_.Push(value);
    SkipSpace();
    const char next = Peek();
    if (next != ',' && next != ']') {
      cursor_.at = start;
      NoNumber();
    }
    ++counts_[depth_];
    if (cursor_.at - kept_ > kForgetEvery) Forget();
    if (next == ']') break;
    ++cursor_.at;
    SkipSpace();
    Peek();
  }
  numbers_seen_ = true;
}

// Behind the last element of an array, at its "]". Goes up until a "," says
// that there is more; false: the outermost array is done.
bool Scanner::Close() {
  while (true) {
    CheckLength();
    if (depth_ == 1) return false;
    ++cursor_.at;
    --depth_;
    ++counts_[depth_];
    SkipSpace();
    const char next = Peek();
    if (next == ',') break;
    if (next != ']') throw NumbersError{Element(), "expected ',' or ']' behind a list"};
  }
  ++cursor_.at;
  return true;
}

void Scanner::CheckLength() {
  int64_t& dim = dims_[depth_];
  if (dim < 0) dim = counts_[depth_];
  if (dim == counts_[depth_]) return;
  throw NumbersError{Element(depth_ - 1), "rows of different lengths: this one has " +
                                              Counted(counts_[depth_], "element") +
                                              ", those before it have " + std::to_string(dim)};
}

void Scanner::Forget() {
  file_.Forget(static_cast<size_t>(kept_ - cursor_.begin),
               static_cast<size_t>(cursor_.at - cursor_.begin));
  kept_ = cursor_.at;
}

std::string Scanner::Element(size_t depth) const {
  std::string text;
  for (size_t level = 1; level <= depth; ++level) {
    text += '[' + std::to_string(counts_[level]) + ']';
  }
  return text;
}

// Says what stands at the cursor instead of a number.
void Scanner::NoNumber() const {
  const char* stop = cursor_.at;
  while (stop != cursor_.end && stop - cursor_.at < 40 && !IsSpace(*stop) && *stop != ',' &&
         *stop != ']') {
    ++stop;
  }
  const std::string_view word(cursor_.at, static_cast<size_t>(stop - cursor_.at));
  const auto found = [&]() -> std::string {
    if (word.starts_with('"')) return "a text";
    if (word.starts_with('{')) return "an object";
    if (word.starts_with('[')) return "a list";
    if (word.empty()) return "nothing";
    if (word == "null" || word == "true" || word == "false") return std::string(word);
    if (word == "NaN" || word == "Infinity" || word == "-Infinity") {
      return std::string(word) + ", which is no number that can be computed with";
    }
    return Shown(word) + ", which is no JSON number";
  };
  throw NumbersError{Element(), "expected a number, found " + found()};
}

}  // namespace

Shape ReadJsonNumbers(JsonCursor& cursor, size_t max_rank, const MappedFile& file,
                      FloatBuffer& numbers) {
  return Scanner(cursor, max_rank, file, numbers).Read();
}

}  // namespace attnmap
