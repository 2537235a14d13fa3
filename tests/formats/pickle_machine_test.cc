#include "formats/pickle_machine.h"

#include <string>

#include "attnmap/core/error.h"
#include "formats/archives.h"
#include "support/catch.h"
#include "support/torch_writer.h"

namespace attnmap {
namespace {

using test::Has;
using test::PickleWriter;

// A pickle, read, with what its values point into.
struct PickleRead {
  explicit PickleRead(std::vector<uint8_t> source) : bytes(std::move(source)) {
    root = PickleMachine(arena, bytes).Run(end);
  }
  explicit PickleRead(const PickleWriter& writer) : PickleRead(writer.bytes()) {}
  explicit PickleRead(std::string_view text)
      : PickleRead(std::vector<uint8_t>(text.begin(), text.end())) {}

  std::vector<uint8_t> bytes;
  PickleArena arena;
  const PickleValue* root = nullptr;
  size_t end = 0;
};

template <typename Source>
std::string PickleError(Source source) {
  try {
    const PickleRead read(source);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string_view operator""_s(const char* text, size_t size) { return {text, size}; }

TEST_CASE("pickle: numbers of every size and sign") {
  CHECK(PickleRead("\x80\x02K\xFF."_s).root->integer == 255);
  CHECK(PickleRead("\x80\x02M\xFF\xFF."_s).root->integer == 65535);
  CHECK(PickleRead("\x80\x02J\xFF\xFF\xFF\xFF."_s).root->integer == -1);
  CHECK(PickleRead("\x80\x02\x8A\x00."_s).root->integer == 0);
  CHECK(PickleRead("\x80\x02\x8A\x01\x80."_s).root->integer == -128);
  CHECK(PickleRead("\x80\x02\x8A\x05\x00\x00\x00\x00\x01."_s).root->integer == int64_t{1} << 32);
  CHECK(PickleRead("\x80\x02\x8B\x02\x00\x00\x00\xFF\x7F."_s).root->integer == 32767);
  CHECK(PickleRead("\x80\x02G\xC0\x04\x00\x00\x00\x00\x00\x00."_s).root->real == -2.5);
  CHECK(PickleRead("I-17\n."_s).root->integer == -17);
  CHECK(PickleRead("L9000000000L\n."_s).root->integer == 9'000'000'000);
  CHECK(PickleRead("F1.5e3\n."_s).root->real == 1500);
  CHECK(PickleRead("I01\n."_s).root->Is(PickleKind::kBool));
  CHECK(PickleRead("\x80\x02\x88."_s).root->integer == 1);
  CHECK(PickleRead("\x80\x02N."_s).root->Is(PickleKind::kNone));
}

TEST_CASE("pickle: integers beyond 64 bits are kept as bytes, to 16 of them") {
  const PickleRead nine("\x80\x02\x8A\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01."_s);
  CHECK(nine.root->Is(PickleKind::kBigInt));
  CHECK(nine.root->text.size() == 9);
  Has(PickleError("\x80\x02\x8A\x11" + std::string(17, '\0') + "."), "integer of 17 bytes");
  Has(PickleError("\x80\x02\x8B\xFF\xFF\xFF\xFF."_s), "negative length");
  Has(PickleError("\x80\x02\x8B\xFF\xFF\xFF\x7F."_s), "needs 2147483647 bytes, 1 are left");
}

TEST_CASE("pickle: strings and bytes in all their forms") {
  CHECK(PickleRead("X\x02\x00\x00\x00hi."_s).root->text == "hi");
  CHECK(PickleRead("\x8C\x02hi."_s).root->text == "hi");
  CHECK(PickleRead("\x8D\x02\x00\x00\x00\x00\x00\x00\x00hi."_s).root->text == "hi");
  CHECK(PickleRead("U\x02hi."_s).root->text == "hi");
  CHECK(PickleRead("T\x02\x00\x00\x00hi."_s).root->text == "hi");
  CHECK(PickleRead("S'hi'\n."_s).root->text == "hi");
  CHECK(PickleRead("Vhi\n."_s).root->text == "hi");
  CHECK(PickleRead("C\x02hi."_s).root->Is(PickleKind::kBytes));
  CHECK(PickleRead("\x96\x02\x00\x00\x00\x00\x00\x00\x00hi."_s).root->Is(PickleKind::kBytes));
  Has(PickleError("X\xFF\xFF\xFF\xFFhi."_s), "BINUNICODE at byte 0: needs 4294967295 bytes");
  Has(PickleError("\x8E\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFhi."_s), "BINBYTES8 at byte 0: needs");
  Has(PickleError("Vhi"_s), "a line without an end");
}

TEST_CASE("pickle: containers, nested and shared by reference") {
  const PickleRead read(PickleWriter()
                            .Proto()
                            .Op('}')
                            .Put(300)
                            .Op('(')
                            .Text("list")
                            .Op(']')
                            .Put(1)
                            .Op('(')
                            .Int(1)
                            .Int(2)
                            .Op('e')
                            .Int(3)
                            .Op('a')
                            .Text("tuple")
                            .Int(7)
                            .Get(1)
                            .Op(uint8_t{0x86})
                            .Op('u')
                            .Text("self")
                            .Get(300)
                            .Op('s')
                            .Op('.'));
  const PickleValue& dict = *read.root;
  REQUIRE(dict.Is(PickleKind::kDict));
  CHECK(dict.Get("list")->items.size() == 3);
  CHECK(dict.Get("tuple")->items[1] == dict.Get("list"));
  CHECK(dict.Get("self") == &dict);
  CHECK(dict.Get("other") == nullptr);
}

TEST_CASE("pickle: protocol 4, as Python writes it, with frames and memoize") {
  // pickle.dumps({'a': [1, 2.5]}, 4)
  const PickleRead read(
      "\x80\x04\x95\x19\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01"
      "a\x94]\x94(K\x01G@\x04\x00\x00\x00\x00\x00\x00"
      "es."_s);
  REQUIRE(read.root->Get("a") != nullptr);
  CHECK(read.root->Get("a")->items[1]->real == 2.5);
  CHECK(read.end == read.bytes.size());
}

TEST_CASE("pickle: what would import and call becomes a description") {
  const PickleRead read(PickleWriter()
                            .Proto()
                            .Global("os", "system")
                            .Text("rm -rf /")
                            .Op(uint8_t{0x85})
                            .Op('R')
                            .Op('.'));
  REQUIRE(read.root->Is(PickleKind::kObject));
  CHECK(read.root->callable->IsSymbol("os.system"));
  CHECK(read.root->args->items[0]->text == "rm -rf /");
  // The same in the other ways a pickle can call.
  CHECK(PickleRead("(S'id'\nios\nsystem\n."_s).root->callable->IsSymbol("os.system"));
  CHECK(PickleRead("(cos\nsystem\nS'id'\no."_s).root->callable->IsSymbol("os.system"));
  CHECK(PickleRead("\x80\x02"
                   "cos\nsystem\n)\x81."_s)
            .root->Is(PickleKind::kObject));
  CHECK(PickleRead("\x80\x04\x8C\x02os\x8C\x06system\x93)}\x92."_s)
            .root->callable->IsSymbol("os.system"));
}

TEST_CASE("pickle: BUILD attaches, and does not touch what is shared") {
  const PickleRead read(PickleWriter()
                            .Proto()
                            .Global("argparse", "Namespace")
                            .Op(')')
                            .Op(uint8_t{0x81})
                            .Op('}')
                            .Text("arch")
                            .Text("vit")
                            .Op('s')
                            .Op('b')
                            .Op('.'));
  CHECK(read.root->state->Get("arch")->text == "vit");
  const PickleRead number(PickleWriter().Proto().Int(5).Op('}').Op('b').Op('.'));
  CHECK(number.root->state == nullptr);
}

TEST_CASE("pickle: containers by name") {
  CHECK(PickleRead(PickleWriter().Proto().OrderedDict().Op('.')).root->Is(PickleKind::kDict));
  const PickleRead pairs(PickleWriter()
                             .Proto()
                             .Global("collections", "OrderedDict")
                             .Op(']')
                             .Text("k")
                             .Int(1)
                             .Op(uint8_t{0x86})
                             .Op('a')
                             .Op(uint8_t{0x85})
                             .Op('R')
                             .Op('.'));
  CHECK(pairs.root->Get("k")->integer == 1);
  const Shape size = {2, 3};
  CHECK(PickleRead(PickleWriter()
                       .Proto()
                       .Global("torch", "Size")
                       .Tuple(size)
                       .Op(uint8_t{0x85})
                       .Op('R')
                       .Op('.'))
            .root->items.size() == 2);
  CHECK(PickleRead(PickleWriter()
                       .Proto()
                       .Global("builtins", "set")
                       .Op(']')
                       .Op(uint8_t{0x85})
                       .Op('R')
                       .Op('.'))
            .root->Is(PickleKind::kSet));
}

TEST_CASE("pickle: a memo that was never filled, an empty stack, a mark too few") {
  Has(PickleError(PickleWriter().Proto().Get(7).Op('.')),
      "LONG_BINGET at byte 2: nothing was remembered as 7");
  Has(PickleError("."_s), "the stack is empty");
  Has(PickleError("0."_s), "the stack is empty");
  Has(PickleError("t."_s), "no mark");
  Has(PickleError("K\x01(\x85."_s), "the stack is empty");
  Has(PickleError("}K\x01(u."_s), "sets an item of an integer");
}

TEST_CASE("pickle: operations that do not exist or may not be used") {
  Has(PickleError("\x80\x09."_s), "protocol 9");
  Has(PickleError("\x80\x01."_s), "protocol 1");
  Has(PickleError("\x82\x01."_s), "operation 130 is not supported");
  Has(PickleError("\x97."_s), "operation 151 is not supported");
  Has(PickleError("\xFF."_s), "operation 255 is not supported");
  Has(PickleError("K\x01]a."_s), "appends to an integer");
  Has(PickleError("]K\x01K\x02s."_s), "sets an item of a list");
  Has(PickleError("}(K\x01u."_s), "a key without a value");
}

TEST_CASE("pickle: cut short anywhere it ends in an error") {
  const std::vector<uint8_t> bytes = PickleWriter()
                                         .Proto()
                                         .OrderedDict()
                                         .Op('(')
                                         .Text("key")
                                         .Int(1000)
                                         .Int(-1)
                                         .Text("x")
                                         .Op('u')
                                         .Op('.')
                                         .bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    CHECK(PickleError(std::vector<uint8_t>(
              bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size))) != "no error");
  }
}

TEST_CASE("pickle: memory stays bounded whatever a pickle repeats") {
  const auto repeat = [](std::string_view head, std::string_view part, size_t times) {
    std::string text(head);
    for (size_t i = 0; i < times; ++i) text += part;
    return text + ".";
  };
  Has(PickleError(repeat("", ")0", 3'000'000)), "more than 2000000 values");
  Has(PickleError(repeat("", "N", 200'000)), "the stack grows beyond");
  Has(PickleError(repeat("", "(", 200'000)), "too many marks");
  Has(PickleError(repeat("]", "Na", 9'000'000)), "more than 8000000 items");
  Has(PickleError(repeat("", "ca\nb\n0", 2'000'000)), "bytes of names");
  Has(PickleError(repeat("N", "\x94", 3'000'000)), "more than 2000000 values");
  Has(PickleError(repeat("N", "20", 30'000'000)), "too many operations");
}

TEST_CASE("pickle: doubling by reference does not double in memory") {
  // x0 = (1, 1), x1 = (x0, x0), ...: 2^1000 numbers if anyone copied.
  PickleWriter writer;
  writer.Proto().Int(1);
  for (int i = 0; i < 1000; ++i) writer.Op('2').Op(uint8_t{0x86});
  const PickleRead read(writer.Op('.'));
  CHECK(read.root->items[0] == read.root->items[1]);
  CHECK(read.arena.values().size() == 1000);
}

}  // namespace
}  // namespace attnmap
