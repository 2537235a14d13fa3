#include <bit>
#include <cstring>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "formats/archives.h"
#include "support/catch.h"

namespace attnmap {
namespace {

using Catch::Matchers::Contains;

std::vector<uint8_t> File(const std::string& header, std::vector<uint8_t> data) {
  std::vector<uint8_t> bytes(8);
  const uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

std::unique_ptr<TensorArchive> OpenSafetensorsBytes(std::vector<uint8_t> bytes) {
  return OpenSafetensors(MappedFile::FromBytes(std::move(bytes), "m.safetensors"));
}
std::unique_ptr<TensorArchive> OpenSafetensorsBytes(const std::string& header, size_t data_bytes) {
  return OpenSafetensorsBytes(File(header, std::vector<uint8_t>(data_bytes)));
}

std::string SafetensorsError(const std::string& header, size_t data_bytes) {
  return test::ArchiveError("m.safetensors",
                            [&] { return OpenSafetensorsBytes(header, data_bytes); });
}

std::string Entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

TEST_CASE("safetensors: the example of the specification reads") {
  const auto archive = OpenSafetensorsBytes(File(
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[],"data_offsets":[8,10]}})"
      "    ",
      {0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0x20, 0xc0, 0x49, 0x40}));
  CHECK(archive->format() == "safetensors");
  REQUIRE(archive->tensors().size() == 2);
  CHECK(archive->tensors()[0].name == "a");
  CHECK(archive->tensors()[0].shape == Shape{2});
  CHECK(archive->tensors()[1].type == DataType::kBF16);
  CHECK(archive->Load(0).values()[0] == 1.0F);
  CHECK(archive->Load(0).values()[1] == -2.5F);
  CHECK(archive->Load(1).shape().empty());
  CHECK(archive->Load(1).values()[0] == 3.140625F);
}

TEST_CASE("safetensors: float32 is viewed in the file where it lies aligned, else copied") {
  const std::string header = R"({"a":)" + Entry("F32", "[1]", "[0,4]") + "}";
  const std::string aligned = header + std::string(4 - header.size() % 4, ' ');
  const auto file = MappedFile::FromBytes(File(aligned, {0, 0, 0x80, 0x3f}), "m");
  const auto archive = OpenSafetensors(file);
  const auto tensor = archive->Load(0);
  CHECK(static_cast<const void*>(tensor.data()) == file->bytes().data() + 8 + aligned.size());

  const auto other = MappedFile::FromBytes(File(aligned + " ", {0, 0, 0x80, 0x3f}), "m");
  const auto copy = OpenSafetensors(other)->Load(0);
  CHECK(copy.values()[0] == 1.0F);
}

TEST_CASE("safetensors: a tensor outlives its archive") {
  SharedTensor tensor;
  {
    const auto archive =
        OpenSafetensorsBytes(R"({"a":)" + Entry("F32", "[1]", "[0,4]") + "}   ", 4);
    tensor = archive->Load(0);
  }
  CHECK(tensor.values()[0] == 0.0F);
}

TEST_CASE("safetensors: order in the header does not matter, empty tensors are legal") {
  const auto archive = OpenSafetensorsBytes(R"({"late":)" + Entry("I64", "[1]", "[2,10]") +
                                                R"(,"none":)" + Entry("F32", "[3,0]", "[2,2]") +
                                                R"(,"early":)" + Entry("I8", "[2]", "[0,2]") + "}",
                                            10);
  CHECK(archive->Load(0).values()[0] == 0);
  CHECK(archive->Load(1).size() == 0);
  CHECK(archive->Load(1).present());
  CHECK(archive->Load(2).size() == 2);
}

TEST_CASE("safetensors: names may hold anything JSON can say") {
  const auto archive =
      OpenSafetensorsBytes(R"({"\u00e9 \"x\"\n":)" + Entry("U8", "[]", "[0,1]") + "}", 1);
  CHECK(archive->tensors()[0].name == "\xc3\xa9 \"x\"\n");
}

TEST_CASE("safetensors: metadata is text by key") {
  const auto archive =
      OpenSafetensorsBytes(R"({"__metadata__":{"format":"pt","attnmap.json":"{}"}})", 0);
  CHECK(archive->Text("metadata:format") == "pt");
  CHECK(archive->Text("config") == "{}");
  CHECK(!archive->Text("metadata:other"));
  CHECK(!archive->Text("other"));
}

TEST_CASE("safetensors: a type that is not read is an error only when it is asked for") {
  const auto archive = OpenSafetensorsBytes(R"({"q":)" + Entry("F8_E4M3", "[2]", "[0,2]") +
                                                R"(,"new":)" + Entry("F7_NEW", "[5]", "[2,4]") +
                                                R"(,"four":)" + Entry("F4", "[2]", "[4,5]") + "}",
                                            5);
  CHECK(archive->tensors()[0].type == DataType::kOther);
  CHECK_THROWS_WITH(archive->Load(0), Contains("'q'") && Contains("F8_E4M3"));
  CHECK_THROWS_WITH(archive->Load(1), Contains("'new'") && Contains("F7_NEW"));
}

TEST_CASE("safetensors: check 1, the file holds its header") {
  CHECK_THROWS_WITH(OpenSafetensorsBytes(std::vector<uint8_t>{}), Contains("0 bytes"));
  CHECK_THROWS_WITH(OpenSafetensorsBytes(std::vector<uint8_t>{1, 0, 0}), Contains("3 bytes"));
  std::vector<uint8_t> huge(16, 0xFF);
  CHECK_THROWS_WITH(OpenSafetensorsBytes(huge), Contains("18446744073709551615 bytes"));
  CHECK_THROWS_WITH(OpenSafetensorsBytes({0x01, 0xE1, 0xF5, 0x05, 0, 0, 0, 0, '{'}),
                    Contains("100000001"));
  CHECK_THROWS_WITH(OpenSafetensorsBytes({200, 0, 0, 0, 0, 0, 0, 0, '{', '}'}),
                    Contains("10 bytes") && Contains("208 bytes") && Contains("incomplete"));
  CHECK_THAT(SafetensorsError("", 0), Contains("does not start with '{'"));
}

TEST_CASE("safetensors: check 2, the header is UTF-8 and JSON and starts with a brace") {
  CHECK_THAT(SafetensorsError(" {}", 0), Contains("does not start with '{'"));
  CHECK_THAT(SafetensorsError("[]", 0), Contains("does not start with '{'"));
  CHECK_THAT(SafetensorsError("{", 0), Contains("not JSON") && Contains("ends too early"));
  CHECK_THAT(SafetensorsError("{\"\xff\":1}", 0), Contains("UTF-8"));
  CHECK_THAT(SafetensorsError("{}x", 0), Contains("not JSON"));
  CHECK_THAT(SafetensorsError(std::string("{}\0x", 4), 0), Contains("zero byte"));
  CHECK(SafetensorsError("{} \n", 0) == "no error");
}

TEST_CASE("safetensors: check 3, no name or key is there twice") {
  const std::string a = R"("a":)" + Entry("U8", "[]", "[0,1]");
  CHECK_THAT(SafetensorsError("{" + a + "," + a + "}", 1), Contains("'a' is there twice"));
  CHECK_THAT(
      SafetensorsError(R"({"a":{"dtype":"U8","dtype":"I8","shape":[],"data_offsets":[0,1]}})", 1),
      Contains("'a'") && Contains("'dtype' is there twice"));
  CHECK_THAT(
      SafetensorsError(R"({"a":{"dtype":"U8","shape":[],"shape":[],"data_offsets":[0,1]}})", 1),
      Contains("'shape' is there twice"));
  CHECK_THAT(SafetensorsError(R"({"__metadata__":{"k":"1","k":"2"}})", 0),
             Contains("'k' is there twice"));
  CHECK_THAT(SafetensorsError(R"({"__metadata__":{},"__metadata__":{}})", 0),
             Contains("'__metadata__' is there twice"));
}

TEST_CASE("safetensors: check 4, sizes are those of type and shape") {
  const auto one = [](const std::string& dtype, const std::string& shape,
                      const std::string& offsets) {
    return SafetensorsError(R"({"w":)" + Entry(dtype, shape, offsets) + "}", 8);
  };
  CHECK_THAT(one("F32", "[3]", "[0,8]"),
             Contains("'w'") && Contains("12 bytes") && Contains("hold 8"));
  CHECK_THAT(one("F32", "[2]", "[8,0]"), Contains("begin 8 lies behind"));
  CHECK_THAT(one("F4", "[15]", "[0,7]"), Contains("and a part"));
  CHECK_THAT(one("F32", "[4611686018427387904,4]", "[0,8]"), Contains("too many elements"));
  CHECK_THAT(one("F64", "[2305843009213693953,2]", "[0,8]"), Contains("too many elements"));
  CHECK_THAT(one("F64", "[4611686018427387904]", "[0,0]"), Contains("too many elements"));
}

TEST_CASE("safetensors: check 5, tensors fill the file without gap or overlap") {
  const auto two = [](const std::string& a, const std::string& b, size_t data) {
    return SafetensorsError(
        R"({"a":)" + Entry("U8", "[4]", a) + R"(,"b":)" + Entry("U8", "[4]", b) + "}", data);
  };
  CHECK(two("[0,4]", "[4,8]", 8) == "no error");
  CHECK_THAT(two("[0,4]", "[5,9]", 9), Contains("'b'") && Contains("gap"));
  CHECK_THAT(two("[0,4]", "[3,7]", 7), Contains("'b'") && Contains("overlap"));
  CHECK_THAT(two("[1,5]", "[5,9]", 9), Contains("'a'") && Contains("gap"));
  CHECK_THAT(two("[0,4]", "[4,8]", 9), Contains("behind its end"));
  const std::string cut = two("[0,4]", "[4,8]", 5);
  CHECK_THAT(cut, Contains("incomplete"));
  // "file is N bytes, header promises M", exactly.
  const auto header =
      R"({"a":)" + Entry("U8", "[4]", "[0,4]") + R"(,"b":)" + Entry("U8", "[4]", "[4,8]") + "}";
  CHECK_THAT(cut, Contains("has " + std::to_string(8 + header.size() + 5) + " bytes") &&
                      Contains("promises " + std::to_string(8 + header.size() + 8) + " bytes"));
  CHECK_THAT(
      SafetensorsError(R"({"a":)" + Entry("F7_NEW", "[4]", "[0,9223372036854775807]") + "}", 8),
      Contains("incomplete"));
}

TEST_CASE("safetensors: check 6, metadata is text") {
  CHECK_THAT(SafetensorsError(R"({"__metadata__":{"k":1}})", 0),
             Contains("__metadata__") && Contains("'k'"));
  CHECK_THAT(SafetensorsError(R"({"__metadata__":{"k":{}}})", 0), Contains("an object"));
  CHECK_THAT(SafetensorsError(R"({"__metadata__":{"k":null}})", 0), Contains("null"));
  CHECK_THAT(SafetensorsError(R"({"__metadata__":"k"})", 0), Contains("__metadata__"));
}

TEST_CASE("safetensors: numbers are plain, lists flat, nothing nests deeper") {
  const auto shape = [](const std::string& text) {
    return SafetensorsError(R"({"w":)" + Entry("U8", text, "[0,1]") + "}", 1);
  };
  CHECK_THAT(shape("[1e0]"), Contains("'1e0'"));
  CHECK_THAT(shape("[1.0]"), Contains("'1.0'"));
  CHECK_THAT(shape("[-0]"), Contains("negative"));
  CHECK_THAT(shape("[-1]"), Contains("negative"));
  CHECK_THAT(shape("[9223372036854775808]"), Contains("9223372036854775808"));
  CHECK_THAT(shape("[99999999999999999999]"), Contains("found"));
  CHECK_THAT(shape("[[1]]"), Contains("a list"));
  CHECK_THAT(shape("1"), Contains("found the number 1"));
  CHECK_THAT(shape("[1,1,1,1,1,1,1,1,1]"), Contains("8 dimensions"));
  CHECK_THAT(SafetensorsError(R"({"w":)" + Entry("U8", "[]", "[0,1,1]") + "}", 1),
             Contains("data_offsets"));
  CHECK_THAT(SafetensorsError(R"({"w":)" + Entry("U8", "[]", "[0]") + "}", 1),
             Contains("data_offsets"));
  CHECK_THAT(SafetensorsError(R"({"w":{"dtype":"U8","shape":[]}})", 1),
             Contains("missing key 'data_offsets'"));
  CHECK_THAT(SafetensorsError(R"({"w":{"dtype":"U8","data_offsets":[0,1]}})", 1),
             Contains("missing key 'shape'"));
  CHECK_THAT(SafetensorsError(R"({"w":{"shape":[],"data_offsets":[0,1]}})", 1),
             Contains("missing key 'dtype'"));
  CHECK_THAT(SafetensorsError(R"({"w":{"dtype":["U8"],"shape":[],"data_offsets":[0,1]}})", 1),
             Contains("a list"));
  CHECK_THAT(SafetensorsError(R"({"w":{"more":1}})", 1), Contains("unknown key 'more'"));
  CHECK_THAT(SafetensorsError(R"({"w":[]})", 1), Contains("expected an object for 'w'"));
  CHECK_THAT(SafetensorsError(R"({"w":{"dtype":{}}})", 1), Contains("an object"));
  CHECK_THAT(SafetensorsError(R"({")" + std::string(5000, 'n') + R"(":{}})", 0),
             Contains("4096 bytes"));
  std::string deep = R"({"w":)";
  for (int i = 0; i < 100000; ++i) deep += '[';
  CHECK_THAT(SafetensorsError(deep, 0), Contains("found a list"));
}

TEST_CASE("safetensors: cut anywhere, a file is refused in one line") {
  const auto whole =
      File(R"({"a":)" + Entry("F32", "[4]", "[0,16]") + "}", std::vector<uint8_t>(16));
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<uint8_t> part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    CHECK_THROWS_AS(OpenSafetensorsBytes(part), Error);
  }
}

}  // namespace
}  // namespace attnmap
