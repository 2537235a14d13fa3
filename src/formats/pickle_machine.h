#ifndef ATTNMAP_FORMATS_PICKLE_MACHINE_H_
#define ATTNMAP_FORMATS_PICKLE_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/pickle_value.h"

namespace attnmap {

// Reads a pickle as a description. A pickle is a program for a small stack
// machine that may import and call anything; this machine has the stack but
// neither import nor call: names stay names, calls become kObject values,
// containers become containers. Protocols 0 to 5.
class PickleMachine {
 public:
  // Values and text point into `arena` and `bytes`, which must outlive them.
  PickleMachine(PickleArena& arena, std::span<const uint8_t> bytes)
      : arena_(arena), bytes_(bytes) {}

  // Runs from `position` to STOP; returns what is then on top and moves
  // `position` behind it. Throws Error naming the operation and its place.
  const PickleValue* Run(size_t& position);

 private:
  struct Op {
    const char* name = nullptr;
    void (PickleMachine::*run)() = nullptr;
  };
  static const Op* OpTable();

  // ---- the bytes
  uint64_t Unsigned(size_t num_bytes);
  int64_t Signed(size_t num_bytes);
  std::string_view Take(uint64_t count);
  std::string_view Line();

  // ---- the stack: nothing below the last mark can be taken
  void Push(PickleValue* value);
  PickleValue* Pop();
  PickleValue* Top();
  // The values above the last mark, which goes; valid until the next call.
  std::span<PickleValue* const> PopToMark();
  void PushText(PickleKind kind, std::string_view text);
  PickleValue* NewContainer(PickleKind kind, std::span<PickleValue* const> items);

  // ---- operations with an argument each
  void PushTuple(size_t count);
  void Remember(uint64_t key);
  void Recall(uint64_t key);
  void PushSymbol(std::string_view module, std::string_view name);
  void PushObject(PickleValue* callable, PickleValue* args);
  void PushInteger(std::string_view little_endian);
  void SetPairs(PickleValue* target, std::span<PickleValue* const> pairs);
  void AppendTo(PickleValue* target, std::span<PickleValue* const> items);

  // ---- operations, by name
  void OpProto();
  void OpFrame() { Unsigned(8); }
  void OpStop() { stopped_ = true; }
  void OpMark();
  void OpPop();
  void OpPopMark() { PopToMark(); }
  void OpDup() { Push(Top()); }
  void OpNone() { Push(arena_.none()); }
  void OpTrue() { Push(arena_.boolean(true)); }
  void OpFalse() { Push(arena_.boolean(false)); }
  void OpInt1() { Push(arena_.Integer(Signed1())); }
  void OpInt2() { Push(arena_.Integer(static_cast<int64_t>(Unsigned(2)))); }
  void OpInt4() { Push(arena_.Integer(Signed(4))); }
  int64_t Signed1() { return static_cast<int64_t>(Unsigned(1)); }
  void OpLong1() { PushInteger(Take(Unsigned(1))); }
  void OpLong4();
  void OpFloat8();
  void OpUnicode1() { PushText(PickleKind::kText, Take(Unsigned(1))); }
  void OpUnicode4() { PushText(PickleKind::kText, Take(Unsigned(4))); }
  void OpUnicode8() { PushText(PickleKind::kText, Take(Unsigned(8))); }
  void OpString1() { PushText(PickleKind::kText, Take(Unsigned(1))); }
  void OpString4();
  void OpBytes1() { PushText(PickleKind::kBytes, Take(Unsigned(1))); }
  void OpBytes4() { PushText(PickleKind::kBytes, Take(Unsigned(4))); }
  void OpBytes8() { PushText(PickleKind::kBytes, Take(Unsigned(8))); }
  void OpIntLine();
  void OpLongLine();
  void OpFloatLine();
  void OpStringLine();
  void OpUnicodeLine() { PushText(PickleKind::kText, Line()); }
  void OpEmptyDict() { Push(arena_.New(PickleKind::kDict)); }
  void OpEmptyList() { Push(arena_.New(PickleKind::kList)); }
  void OpEmptyTuple() { Push(arena_.New(PickleKind::kTuple)); }
  void OpEmptySet() { Push(arena_.New(PickleKind::kSet)); }
  void OpTuple() { Push(NewContainer(PickleKind::kTuple, PopToMark())); }
  void OpTuple1() { PushTuple(1); }
  void OpTuple2() { PushTuple(2); }
  void OpTuple3() { PushTuple(3); }
  void OpList() { Push(NewContainer(PickleKind::kList, PopToMark())); }
  void OpDict();
  void OpFrozenSet() { Push(NewContainer(PickleKind::kSet, PopToMark())); }
  void OpSetItem();
  void OpSetItems();
  void OpAppend();
  void OpAppends();
  void OpPut1() { Remember(Unsigned(1)); }
  void OpPut4() { Remember(Unsigned(4)); }
  void OpPutLine();
  void OpMemoize() { Remember(memo_.size()); }
  void OpGet1() { Recall(Unsigned(1)); }
  void OpGet4() { Recall(Unsigned(4)); }
  void OpGetLine();
  void OpGlobal();
  void OpStackGlobal();
  void OpReduce();
  void OpNewObject();
  void OpNewObjectEx();
  void OpInst();
  void OpObject();
  void OpBuild();
  void OpPersistent();
  void OpPersistentLine();

  PickleArena& arena_;
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
  bool stopped_ = false;
  std::vector<PickleValue*> stack_;
  std::vector<size_t> marks_;
  std::vector<PickleValue*> popped_;
  std::unordered_map<uint64_t, PickleValue*> memo_;
};

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_PICKLE_MACHINE_H_
