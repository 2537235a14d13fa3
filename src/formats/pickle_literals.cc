// The operations that carry their value with them, and the table of all.
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "attnmap/core/error.h"
#include "formats/pickle_machine.h"
#include "formats/text.h"

namespace attnmap {
namespace {

constexpr size_t kMaxIntegerBytes = 16;

// The whole of `text` as a number.
template <typename T>
T ParseNumber(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) {
    throw Error(Shown(text) + " is no number that fits in 64 bits");
  }
  return value;
}

}  // namespace

// ---- the bytes

std::string_view PickleMachine::Take(uint64_t count) {
  const size_t left = bytes_.size() - at_;
  if (count > left) {
    throw Error("needs " + std::to_string(count) + " bytes, " + std::to_string(left) + " are left");
  }
  const auto* begin = reinterpret_cast<const char*>(bytes_.data() + at_);
  at_ += count;
  return {begin, static_cast<size_t>(count)};
}

uint64_t PickleMachine::Unsigned(size_t num_bytes) {
  const std::string_view bytes = Take(num_bytes);
  uint64_t value = 0;
  for (size_t i = num_bytes; i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

int64_t PickleMachine::Signed(size_t num_bytes) {
  const size_t unused = 64 - 8 * num_bytes;
  return static_cast<int64_t>(Unsigned(num_bytes) << unused) >> unused;
}

std::string_view PickleMachine::Line() {
  const void* newline =
      at_ < bytes_.size() ? std::memchr(bytes_.data() + at_, '\n', bytes_.size() - at_) : nullptr;
  if (newline == nullptr) throw Error("a line without an end");
  const auto length = static_cast<const uint8_t*>(newline) - (bytes_.data() + at_);
  return Take(static_cast<uint64_t>(length) + 1).substr(0, static_cast<size_t>(length));
}

// ---- numbers

void PickleMachine::PushInteger(std::string_view little_endian) {
  const size_t size = little_endian.size();
  if (size > kMaxIntegerBytes) throw Error("an integer of " + std::to_string(size) + " bytes");
  if (size > 8) {
    PickleValue* big = arena_.New(PickleKind::kBigInt);
    big->text = little_endian;
    Push(big);
    return;
  }
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | static_cast<uint8_t>(little_endian[i]);
  const size_t unused = size == 0 ? 0 : 64 - 8 * size;
  Push(arena_.Integer(static_cast<int64_t>(value << unused) >> unused));
}

void PickleMachine::OpProto() {
  const uint64_t version = Unsigned(1);
  if (version < 2 || version > 5) {
    throw Error("protocol " + std::to_string(version) + ", expected 2 to 5");
  }
}

void PickleMachine::OpLong4() {
  const int64_t size = Signed(4);
  if (size < 0) throw Error("a negative length");
  PushInteger(Take(static_cast<uint64_t>(size)));
}

void PickleMachine::OpFloat8() {
  const std::string_view big_endian = Take(8);
  uint64_t bits = 0;
  for (const char byte : big_endian) bits = bits << 8 | static_cast<uint8_t>(byte);
  PickleValue* value = arena_.New(PickleKind::kFloat);
  value->real = std::bit_cast<double>(bits);
  Push(value);
}

void PickleMachine::OpIntLine() {
  const std::string_view line = Line();
  if (line == "00" || line == "01") {  // how protocol 0 writes booleans
    Push(arena_.boolean(line == "01"));
  } else {
    Push(arena_.Integer(ParseNumber<int64_t>(line)));
  }
}

void PickleMachine::OpLongLine() {
  std::string_view line = Line();
  if (line.ends_with('L')) line.remove_suffix(1);
  Push(arena_.Integer(ParseNumber<int64_t>(line)));
}

void PickleMachine::OpFloatLine() {
  PickleValue* value = arena_.New(PickleKind::kFloat);
  value->real = ParseNumber<double>(Line());
  Push(value);
}

// ---- strings

void PickleMachine::PushText(PickleKind kind, std::string_view text) {
  PickleValue* value = arena_.New(kind);
  value->text = text;
  Push(value);
}

void PickleMachine::OpString4() {
  const int64_t size = Signed(4);
  if (size < 0) throw Error("a negative length");
  PushText(PickleKind::kText, Take(static_cast<uint64_t>(size)));
}

// As Python shows it: quotes around it. Escapes stay as they are written.
void PickleMachine::OpStringLine() {
  const std::string_view line = Line();
  const bool quoted = line.size() >= 2 && line.front() == line.back() &&
                      (line.front() == '\'' || line.front() == '"');
  if (!quoted) throw Error("a string without quotes");
  PushText(PickleKind::kText, line.substr(1, line.size() - 2));
}

void PickleMachine::OpPutLine() { Remember(ParseNumber<uint64_t>(Line())); }
void PickleMachine::OpGetLine() { Recall(ParseNumber<uint64_t>(Line())); }

void PickleMachine::OpPersistentLine() {
  PushText(PickleKind::kText, Line());
  OpPersistent();
}

// ---- all operations, by their byte

const PickleMachine::Op* PickleMachine::OpTable() {
  using M = PickleMachine;
  static const std::array<Op, 256> kTable = [] {
    std::array<Op, 256> ops{};
    const auto set = [&](uint8_t code, const char* name, void (M::*run)()) {
      ops[code] = {name, run};
    };
    set(0x80, "PROTO", &M::OpProto);
    set(0x95, "FRAME", &M::OpFrame);
    set('.', "STOP", &M::OpStop);
    set('(', "MARK", &M::OpMark);
    set('0', "POP", &M::OpPop);
    set('1', "POP_MARK", &M::OpPopMark);
    set('2', "DUP", &M::OpDup);
    set('N', "NONE", &M::OpNone);
    set(0x88, "NEWTRUE", &M::OpTrue);
    set(0x89, "NEWFALSE", &M::OpFalse);
    set('K', "BININT1", &M::OpInt1);
    set('M', "BININT2", &M::OpInt2);
    set('J', "BININT", &M::OpInt4);
    set(0x8A, "LONG1", &M::OpLong1);
    set(0x8B, "LONG4", &M::OpLong4);
    set('G', "BINFLOAT", &M::OpFloat8);
    set('I', "INT", &M::OpIntLine);
    set('L', "LONG", &M::OpLongLine);
    set('F', "FLOAT", &M::OpFloatLine);
    set(0x8C, "SHORT_BINUNICODE", &M::OpUnicode1);
    set('X', "BINUNICODE", &M::OpUnicode4);
    set(0x8D, "BINUNICODE8", &M::OpUnicode8);
    set('U', "SHORT_BINSTRING", &M::OpString1);
    set('T', "BINSTRING", &M::OpString4);
    set('S', "STRING", &M::OpStringLine);
    set('V', "UNICODE", &M::OpUnicodeLine);
    set('C', "SHORT_BINBYTES", &M::OpBytes1);
    set('B', "BINBYTES", &M::OpBytes4);
    set(0x8E, "BINBYTES8", &M::OpBytes8);
    set(0x96, "BYTEARRAY8", &M::OpBytes8);
    set('}', "EMPTY_DICT", &M::OpEmptyDict);
    set(']', "EMPTY_LIST", &M::OpEmptyList);
    set(')', "EMPTY_TUPLE", &M::OpEmptyTuple);
    set(0x8F, "EMPTY_SET", &M::OpEmptySet);
    set('t', "TUPLE", &M::OpTuple);
    set(0x85, "TUPLE1", &M::OpTuple1);
    set(0x86, "TUPLE2", &M::OpTuple2);
    set(0x87, "TUPLE3", &M::OpTuple3);
    set('l', "LIST", &M::OpList);
    set('d', "DICT", &M::OpDict);
    set(0x91, "FROZENSET", &M::OpFrozenSet);
    set('s', "SETITEM", &M::OpSetItem);
    set('u', "SETITEMS", &M::OpSetItems);
    set('a', "APPEND", &M::OpAppend);
    set('e', "APPENDS", &M::OpAppends);
    set(0x90, "ADDITEMS", &M::OpAppends);
    set('q', "BINPUT", &M::OpPut1);
    set('r', "LONG_BINPUT", &M::OpPut4);
    set('p', "PUT", &M::OpPutLine);
    set(0x94, "MEMOIZE", &M::OpMemoize);
    set('h', "BINGET", &M::OpGet1);
    set('j', "LONG_BINGET", &M::OpGet4);
    set('g', "GET", &M::OpGetLine);
    set('c', "GLOBAL", &M::OpGlobal);
    set(0x93, "STACK_GLOBAL", &M::OpStackGlobal);
    set('R', "REDUCE", &M::OpReduce);
    set(0x81, "NEWOBJ", &M::OpNewObject);
    set(0x92, "NEWOBJ_EX", &M::OpNewObjectEx);
    set('i', "INST", &M::OpInst);
    set('o', "OBJ", &M::OpObject);
    set('b', "BUILD", &M::OpBuild);
    set('Q', "BINPERSID", &M::OpPersistent);
    set('P', "PERSID", &M::OpPersistentLine);
    return ops;
  }();
  return kTable.data();
}

}  // namespace attnmap
