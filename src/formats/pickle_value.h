#ifndef ATTNMAP_FORMATS_PICKLE_VALUE_H_
#define ATTNMAP_FORMATS_PICKLE_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace attnmap {

enum class PickleKind : uint8_t {
  kNone,
  kBool,
  kInt,
  kBigInt,  // does not fit in 64 bits: `text` holds its little-endian bytes
  kFloat,
  kText,
  kBytes,
  kSymbol,      // the name of something in Python, "module.name"; only ever a name
  kTuple,       // items
  kList,        // items
  kSet,         // items
  kDict,        // items: key, value, key, value, ...
  kObject,      // whatever `callable` would have made of `args`; nothing is called
  kPersistent,  // `args` says what is meant
};

// What a pickle says, without doing any of it. Containers may contain
// themselves and each other; nodes belong to their arena.
struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  bool is_mapping = false;  // kObject: `items` are keys and values
  union {
    int64_t integer = 0;  // kBool, kInt
    double real;          // kFloat
  };
  std::string_view text;                  // kText, kBytes, kBigInt, kSymbol
  std::vector<const PickleValue*> items;  // in containers; set or appended on a kObject
  const PickleValue* callable = nullptr;  // kObject
  const PickleValue* args = nullptr;      // kObject, kPersistent
  const PickleValue* state = nullptr;     // what BUILD attached; null: nothing

  bool Is(PickleKind k) const { return kind == k; }
  bool IsSymbol(std::string_view name) const { return kind == PickleKind::kSymbol && text == name; }
  // A dict, or an object that items were set on.
  bool IsMapping() const { return kind == PickleKind::kDict || is_mapping; }
  // The value of a text key; null where there is none or this is no mapping.
  const PickleValue* Get(std::string_view key) const;
};

// Owns the values of one file's pickles, and bounds what they may take.
class PickleArena {
 public:
  PickleArena();
  PickleArena(const PickleArena&) = delete;
  PickleArena& operator=(const PickleArena&) = delete;

  // These throw Error where a file holds more than any checkpoint does.
  PickleValue* New(PickleKind kind);
  void AddItem(PickleValue* container, const PickleValue* item);
  std::string_view Keep(std::string text);

  PickleValue* none() { return &none_; }
  PickleValue* boolean(bool value) { return value ? &true_ : &false_; }
  PickleValue* Integer(int64_t value);  // small ones are shared
  const std::deque<PickleValue>& values() const { return values_; }

 private:
  static constexpr int64_t kSharedIntegers = 256;
  std::deque<PickleValue> values_;
  std::deque<std::string> texts_;
  std::vector<PickleValue> integers_;
  PickleValue none_;
  PickleValue true_;
  PickleValue false_;
  size_t num_items_ = 0;
  size_t text_bytes_ = 0;
};

// "a dict", "a torch.nn.Linear object", for messages.
std::string Describe(const PickleValue& value);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_PICKLE_VALUE_H_
