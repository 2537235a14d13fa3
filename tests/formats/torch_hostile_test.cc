// Checkpoints that lie, call, repeat or stop short: each ends in one sentence.
#include <algorithm>
#include <filesystem>
#include <random>
#include <string>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "formats/archives.h"
#include "support/catch.h"
#include "support/peak_memory.h"
#include "support/torch_writer.h"
#include "support/zip_writer.h"

namespace attnmap {
namespace {

using test::Has;
using test::NumberBytes;
using test::PickleWriter;
using test::StorageBytes;
using test::TorchLegacyOf;
using test::TorchZipOf;

// Opens and loads everything; what was said about it, or "no error".
std::string TorchError(std::vector<uint8_t> bytes) {
  return test::ArchiveError(
      "w.pth", [&] { return OpenTorch(MappedFile::FromBytes(std::move(bytes), "w.pth")); });
}

std::vector<StorageBytes> FourNumbers() {
  return {{"0", NumberBytes(std::vector<float>{1, 2, 3, 4}, DataType::kF32)}};
}

std::string ZipErrorOf(const PickleWriter& pickle) {
  return TorchError(TorchZipOf(pickle.bytes(), FourNumbers()));
}

void PutVector(PickleWriter& p, std::string_view key) {
  p.Text(key).RebuildTensor({"FloatStorage", "0", 4}, {0, {4}, {1}}).Op('s');
}

std::string ViewErrorOf(const PickleWriter::Storage& storage, const PickleWriter::View& view) {
  PickleWriter p;
  p.Proto().Op('}').Text("w").RebuildTensor(storage, view).Op('s').Op('.');
  return ZipErrorOf(p);
}

std::string ViewErrorOf(const PickleWriter::View& view) {
  return ViewErrorOf({"FloatStorage", "0", 4}, view);
}

// {"a": {"b": ...}} `depth` deep around a tensor.
std::vector<uint8_t> Nested(int depth) {
  PickleWriter p;
  p.Proto().Op('}');
  for (int i = 0; i < depth; ++i) p.Text("a").Op('}');
  PutVector(p, "w");
  for (int i = 0; i < depth; ++i) p.Op('s');
  return p.Op('.').bytes();
}

TEST_CASE("torch: a pickle that would call os.system calls nothing") {
  const auto marker = std::filesystem::temp_directory_path() / "attnmap-was-called";
  std::filesystem::remove(marker);
  const std::string command = "touch " + marker.string();
  PickleWriter call;
  call.Global("os", "system").Text(command).Op(uint8_t{0x85}).Op('R');

  PickleWriter beside;
  beside.Proto().Op('}').Text("evil").Raw(call.bytes()).Op('s');
  PutVector(beside, "w");
  CHECK(ZipErrorOf(beside.Op('.')) == "no error");
  PickleWriter root;
  Has(ZipErrorOf(root.Proto().Raw(call.bytes()).Op('.')),
      "no tensors: the file holds an object of 'os.system'");
  // As the function of a tensor, and as a part of one.
  PickleWriter part;
  part.Proto().Op('}').Text("w").Global("torch._utils", "_rebuild_tensor_v2").Op('(');
  part.Raw(call.bytes()).Int(0).Tuple(Shape{4}).Tuple(Shape{1}).Op('t').Op('R').Op('s').Op('.');
  Has(ZipErrorOf(part), "where a storage's id should be");
  CHECK_FALSE(std::filesystem::exists(marker));
}

TEST_CASE("torch: containers that contain themselves end in a sentence") {
  PickleWriter p;
  p.Proto().Op('}').Put(1);
  PutVector(p, "w");
  Has(ZipErrorOf(p.Text("self").Get(1).Op('s').Op('.')), "contains itself");

  PickleWriter module;  // a module that is its own child
  module.Proto().Global("m", "M").Op(')').Op(uint8_t{0x81}).Put(1).Op('}').Text("_modules").Op('}');
  module.Text("child").Get(1).Op('s');
  PutVector(module, "w");
  Has(ZipErrorOf(module.Op('s').Op('b').Op('.')), "contains itself");

  PickleWriter model;  // {"model": itself}
  model.Proto().Op('}').Put(1);
  PutVector(model, "w");
  CHECK(ZipErrorOf(model.Text("model").Get(1).Op('s').Op('.')) != "no error");
}

TEST_CASE("torch: nesting is followed as deep as models are, no deeper") {
  CHECK(TorchError(TorchZipOf(Nested(50), FourNumbers())) == "no error");
  CHECK(TorchError(TorchZipOf(Nested(200), FourNumbers())) != "no error");
  CHECK(TorchError(TorchZipOf(Nested(20'000), FourNumbers())) != "no error");
}

TEST_CASE("torch: shared dictionaries that unfold without end are refused") {
  PickleWriter p;  // d1 = {a: d0, b: d0}, d2 = {a: d1, b: d1}, ...
  p.Proto().Op('}');
  PutVector(p, "w");
  p.Put(0);
  for (uint32_t i = 0; i < 40; ++i) {
    p.Op('}').Text("a").Get(i).Op('s').Text("b").Get(i).Op('s').Put(i + 1);
  }
  const std::string error = ZipErrorOf(p.Op('.'));
  CHECK(error != "no error");
  CHECK(error.size() < 400);
}

TEST_CASE("torch: shapes, strides and offsets that lie are refused by name") {
  Has(ViewErrorOf({0, {5}, {1}}), "tensor 'w': its last element is number 4 of a storage of 4");
  Has(ViewErrorOf({1, {4}, {1}}), "last element is number 4");
  Has(ViewErrorOf({4, {}, {}}), "last element is number 4");
  Has(ViewErrorOf({0, {2, 2}, {1}}), "its shape has 2 dimensions, its strides 1");
  Has(ViewErrorOf({-1, {4}, {1}}), "its offset is -1");
  Has(ViewErrorOf({0, {-4}, {1}}), "its shape is -4");
  Has(ViewErrorOf({0, {2}, {-1}}), "its strides is -1");
  Has(ViewErrorOf({INT64_MAX, {2}, {1}}), "overflows");
  Has(ViewErrorOf({0, {3, 3}, {INT64_MAX / 2, INT64_MAX / 2}}), "overflows");
  Has(ViewErrorOf({0, {INT64_MAX, INT64_MAX}, {0, 0}}), "too many elements");
  Has(ViewErrorOf({0, Shape(9, 1), Shape(9, 1)}), "9 dimensions, at most 8");
}

TEST_CASE("torch: ten gigabytes out of sixteen bytes are refused before they are made") {
  Has(ViewErrorOf({0, {2'500'000'000}, {0}}), "2500000000 elements bring the file's");
  // Many of them that are small enough each.
  PickleWriter p;
  p.Proto().Op('}');
  for (int i = 0; i < 100; ++i) {
    p.Text("w" + std::to_string(i));
    p.RebuildTensor({"FloatStorage", "0", 4}, {0, {1'000'000}, {0}}).Op('s');
  }
  Has(ZipErrorOf(p.Op('.')), "in memory");
}

TEST_CASE("torch: storages that are not what the pickle says are refused") {
  const PickleWriter::View view = {0, {4}, {1}};
  Has(ViewErrorOf({"FloatStorage", "1", 4}, view), "storage '1' is not in the file");
  Has(ViewErrorOf({"FloatStorage", "0", 5}, view), "storage '0' has 16 bytes, expected 20");
  Has(ViewErrorOf({"FloatStorage", "0", 2'500'000'000}, view), "expected 10000000000");
  Has(ViewErrorOf({"DoubleStorage", "0", INT64_MAX}, view), "overflows");
  Has(ViewErrorOf({"FloatStorage", "0", -4}, view), "a storage's size is -4");
  Has(ViewErrorOf({"FloatStorage", "../0", 4}, view), "no plain name");
  Has(ViewErrorOf({"FloatStorage", "", 4}, view), "no plain name");
  Has(ViewErrorOf({"SpecialStorage", "0", 4}, view), "unknown type 'torch.SpecialStorage'");
  // More bytes than are needed are fine.
  CHECK(ViewErrorOf({"FloatStorage", "0", 3}, {0, {3}, {1}}) == "no error");
}

TEST_CASE("torch: tensors made of the wrong things are refused") {
  const auto rebuild = [](const PickleWriter& args) {
    PickleWriter p;
    p.Proto().Op('}').Text("w").Global("torch._utils", "_rebuild_tensor_v2").Raw(args.bytes());
    return ZipErrorOf(p.Op('R').Op('s').Op('.'));
  };
  Has(rebuild(PickleWriter().Op(')')), "made of 0 arguments");
  Has(rebuild(PickleWriter().Op('N')), "made of 0 arguments");
  const PickleWriter::Storage storage = {"FloatStorage", "0", 4};
  PickleWriter text;
  text.Op('(').Persistent(storage).Text("0").Tuple(Shape{4}).Tuple(Shape{1}).Op('t');
  Has(rebuild(text), "its offset is a string, expected an integer");
  PickleWriter number;
  number.Op('(').Persistent(storage).Int(0).Int(4).Tuple(Shape{1}).Op('t');
  Has(rebuild(number), "its shape is an integer, expected a tuple");
  PickleWriter pid;
  pid.Op('(').Text("storage").Op(uint8_t{0x85}).Op('Q').Int(0).Tuple(Shape{4}).Tuple(Shape{1});
  Has(rebuild(pid.Op('t')), "a tuple where a storage's id should be");
  PickleWriter v3;
  v3.Proto().Op('}').Text("w").Global("torch._utils", "_rebuild_tensor_v3").Op('(');
  v3.Persistent(storage).Int(0).Tuple(Shape{4}).Tuple(Shape{1}).Op('N').Op('N');
  v3.Global("os", "system").Op('t').Op('R').Op('s').Op('.');
  Has(ZipErrorOf(v3), "its type is the name 'os.system'");
}

TEST_CASE("torch: names that are doubled, endless or no text are refused") {
  PickleWriter twice;
  twice.Proto().Op('}');
  PutVector(twice, "a.w");
  twice.Text("a").Op('}');
  PutVector(twice, "w");
  Has(ZipErrorOf(twice.Op('s').Op('.')), "'a.w' occurs twice");
  for (const std::string& name :
       {std::string("\xFF\xFE"), std::string("a\nb"), std::string(1, '\0')}) {
    PickleWriter p;
    p.Proto().Op('}');
    PutVector(p, name);
    Has(ZipErrorOf(p.Op('.')), "no plain text");
  }
  PickleWriter endless;
  endless.Proto().Op('}');
  PutVector(endless, std::string(5000, 'x'));
  Has(ZipErrorOf(endless.Op('.')), "more than 4096 bytes");
}

TEST_CASE("torch: files that are something else are refused with what they are") {
  Has(TorchError({}), "not a PyTorch checkpoint");
  Has(TorchError(test::TextBytes("\x80\x04N.")), "a bare pickle");
  std::vector<uint8_t> tar(600);
  std::copy_n("ustar", 5, tar.begin() + 257);
  Has(TorchError(tar), "tar");
  std::vector<test::ZipTestEntry> entries(2);
  entries[0].name = "a/readme";
  entries[1].name = "b/data.pkl";
  Has(TorchError(test::ZipBytes(std::span(entries).first(1))), "without data.pkl");
  entries[0].name = "a/data.pkl";
  Has(TorchError(test::ZipBytes(entries)), "two pickles");
  Has(ZipErrorOf(PickleWriter().Proto().Op('}').Op('.')), "no tensors: the file holds a dict");
  Has(ZipErrorOf(PickleWriter().Proto().Get(9).Op('.')), "nothing was remembered as 9");
}

TEST_CASE("torch: both forms cut short at every 64th are refused") {
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < 12; ++i) {
    tensors.push_back({"blocks." + std::to_string(i) + ".w", SharedTensor(Tensor(Shape{30, 7}))});
  }
  const bool legacy = GENERATE(false, true);
  const auto bytes = legacy ? test::TorchLegacyBytes(tensors) : test::TorchZipBytes(tensors);
  CHECK(TorchError(bytes) == "no error");
  for (size_t part = 0; part < 64; ++part) {
    const auto end = bytes.begin() + static_cast<ptrdiff_t>(bytes.size() * part / 64);
    CHECK(TorchError({bytes.begin(), end}) != "no error");
  }
}

// An old-form file of one storage "0" whose list and counts are given.
std::string LegacyErrorOf(const std::vector<std::string>& keys, int64_t count,
                          size_t num_bytes = 16) {
  PickleWriter p;
  p.Proto().Op('}').Text("w");
  p.RebuildTensor({"FloatStorage", "0", 4, true}, {0, {4}, {1}}).Op('s').Op('.');
  PickleWriter rest;
  rest.Proto().Op(']');
  for (const std::string& key : keys) rest.Text(key).Op('a');
  rest.Op('.');
  for (size_t i = 0; i < keys.size(); ++i) {
    for (int shift = 0; shift < 64; shift += 8) rest.Op(static_cast<uint8_t>(count >> shift));
    rest.Raw(std::string(num_bytes, '\0'));
  }
  return TorchError(TorchLegacyOf(p.bytes(), rest.bytes()));
}

TEST_CASE("torch: old files whose counts and lists lie are refused") {
  CHECK(LegacyErrorOf({"0"}, 4) == "no error");
  Has(LegacyErrorOf({"0"}, 5), "has 5 elements, the pickle says 4");
  Has(LegacyErrorOf({"0"}, -4), "has -4 elements");
  Has(LegacyErrorOf({"0"}, INT64_MAX), "the pickle says 4");
  Has(LegacyErrorOf({"0"}, 4, 15), "needs 16 bytes, 15 are left");
  Has(LegacyErrorOf({}, 4), "storage '0' is not in the file");
  Has(LegacyErrorOf({"0", "0"}, 4), "listed twice");
  Has(LegacyErrorOf({"0", "7"}, 4), "no tensor uses: '7'");
}

TEST_CASE("torch: an old file that describes a storage in two ways is refused") {
  PickleWriter p;
  p.Proto().Op('}').Text("a").RebuildTensor({"FloatStorage", "0", 4, true}, {0, {4}, {1}}).Op('s');
  p.Text("b").RebuildTensor({"DoubleStorage", "0", 4, true}, {0, {4}, {1}}).Op('s').Op('.');
  PickleWriter rest;
  rest.Proto().Op(']').Text("0").Op('a').Op('.');
  Has(TorchError(TorchLegacyOf(p.bytes(), rest.bytes())), "described in two ways");
}

TEST_CASE("torch: single damaged bytes never do more than end in a sentence") {
  const std::vector<NamedTensor> tensors = {{"a.w", SharedTensor(Tensor({2, 2}, {1, 2, 3, 4}))},
                                            {"a.b", SharedTensor(Tensor({2}, {5, 6}))}};
  const bool legacy = GENERATE(false, true);
  const auto bytes = legacy ? test::TorchLegacyBytes(tensors) : test::TorchZipBytes(tensors);
  std::mt19937 random(7);
  size_t refused = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] ^= static_cast<uint8_t>(1 + random() % 255);
    refused += TorchError(std::move(damaged)) != "no error" ? 1 : 0;
  }
  CHECK(refused > bytes.size() / 8);
}

TEST_CASE("torch: no hostile file takes more than 512 MB") {
  // The worst that the bounds of the pickle reader let through: many values,
  // each in a container and remembered.
  PickleWriter p;
  p.Proto().Op(']');
  for (uint32_t i = 0; i < 1'900'000; ++i) p.Op('}').Put(i).Op('N').Op('N').Op('s').Op('a');
  p.Op('.');
  Has(ZipErrorOf(p), "no tensors");
  const auto rise = test::PeakRise([&] { ZipErrorOf(p); });
  if (rise) CHECK(*rise < int64_t{512} << 20);
}

}  // namespace
}  // namespace attnmap
