#include <algorithm>
#include <cstring>
#include <string>

#include "attnmap/core/error.h"
#include "attnmap/formats/arrays.h"
#include "formats/archives.h"
#include "formats/npy_header.h"
#include "support/catch.h"
#include "support/shared.h"
#include "support/zip_writer.h"

namespace attnmap {
namespace {

using test::Has;
using test::NumpyArchiveBytes;
using test::TextBytes;
using test::Values;
using test::ZipBytes;
using test::ZipTestEntry;

std::unique_ptr<TensorArchive> OpenNpzBytes(std::vector<uint8_t> bytes) {
  return OpenNpz(MappedFile::FromBytes(std::move(bytes), "w.npz"));
}

// A file of one array with a header written by hand.
std::vector<uint8_t> Npy(const std::string& dict, std::vector<uint8_t> data, char version = 1) {
  std::string text = dict;
  std::string head("\x93NUMPY", 6);
  head += version;
  head += '\0';
  head += static_cast<char>(text.size() & 0xFF);
  head += static_cast<char>(text.size() >> 8);
  if (version > 1) head += std::string(2, '\0');
  std::vector<uint8_t> bytes = TextBytes(head + text);
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

std::string Dict(const std::string& descr, const std::string& shape,
                 const char* fortran = "False") {
  return "{'descr': " + descr + ", 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

std::vector<uint8_t> Npz(std::vector<uint8_t> npy, bool deflate = false) {
  ZipTestEntry entry;
  entry.name = "a/b.npy";
  entry.data = std::move(npy);
  entry.deflate = deflate;
  return ZipBytes(std::span(&entry, 1));
}

std::string NpzError(std::vector<uint8_t> bytes) {
  return test::ArchiveError("w.npz", [&] { return OpenNpzBytes(std::move(bytes)); });
}

std::vector<float> OnlyValues(std::vector<uint8_t> npy) {
  return Values(OpenNpzBytes(Npz(std::move(npy)))->Load(0));
}

TEST_CASE("npz: stored and deflated archives give the same arrays") {
  const std::vector<NamedTensor> tensors = {
      {"Transformer/encoderblock_0/kernel", SharedTensor(Tensor({2, 3}, {1, 2, 3, 4, 5, 6}))},
      {"cls", SharedTensor(Tensor({1}, {-7.5F}))},
      {"scalar", SharedTensor(Tensor({}, {3}))},
      {"nothing", SharedTensor(Tensor(Shape{0, 4}))}};
  const auto archive = OpenNpzBytes(NumpyArchiveBytes(tensors, GENERATE(false, true)));
  CHECK(archive->format() == "npz");
  REQUIRE(archive->tensors().size() == tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    CHECK(archive->tensors()[i].name == tensors[i].name);
    CHECK(archive->tensors()[i].shape == tensors[i].tensor.shape());
    CHECK(archive->tensors()[i].type == DataType::kF32);
    CHECK(archive->Load(i).shape() == tensors[i].tensor.shape());
    CHECK(Values(archive->Load(i)) == Values(tensors[i].tensor));
    CHECK(archive->Load(i).present());
  }
}

TEST_CASE("npz: types, byte orders and header versions") {
  CHECK(OnlyValues(Npy(Dict("'<f2'", "(2,)"), {0x00, 0x3C, 0x55, 0x35})) ==
        std::vector<float>{1.0F, 0.33325195F});
  CHECK(OnlyValues(Npy(Dict("'|V2'", "(2,)"), {0x80, 0x3F, 0x49, 0x40})) ==
        std::vector<float>{1.0F, 3.140625F});
  CHECK(OnlyValues(Npy(Dict("'>f4'", "(1,)"), {0xC0, 0x20, 0x00, 0x00})) ==
        std::vector<float>{-2.5F});
  CHECK(OnlyValues(Npy(Dict("'<f8'", "()"), {0, 0, 0, 0, 0, 0, 0xF0, 0x3F})) ==
        std::vector<float>{1.0F});
  CHECK(OnlyValues(Npy(Dict("'|u1'", "(3,)"), {0, 1, 255})) == std::vector<float>{0, 1, 255});
  CHECK(OnlyValues(Npy(Dict("'>i2'", "(1,)"), {0xFF, 0xFE})) == std::vector<float>{-2});
  CHECK(OnlyValues(Npy(Dict("'|b1'", "(2,)"), {1, 0})) == std::vector<float>{1, 0});
  CHECK(OnlyValues(Npy(Dict("\"<f4\"", "(1L,)"), {0, 0, 0x80, 0x3F}, 2)) ==
        std::vector<float>{1.0F});
  CHECK(OnlyValues(Npy(Dict("'=f4'", "(1)"), {0, 0, 0x80, 0x3F}, 3)) == std::vector<float>{1.0F});
}

TEST_CASE("npz: Fortran order becomes row-major") {
  CHECK(OnlyValues(Npy(Dict("'|u1'", "(2, 3)", "True"), {1, 4, 2, 5, 3, 6})) ==
        std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(OnlyValues(Npy(Dict("'|u1'", "(2, 2, 2)", "True"), {0, 4, 2, 6, 1, 5, 3, 7})) ==
        std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("npz: aligned float32 is viewed where it lies") {
  ZipTestEntry entry;
  entry.name = "w.npy";
  const std::vector<float> numbers = {1, 2, 3};
  entry.data = NpyBytes({3}, numbers);
  entry.torch_style = true;  // aligned
  const auto file = MappedFile::FromBytes(ZipBytes(std::span(&entry, 1)), "w.npz");
  const auto* begin = reinterpret_cast<const uint8_t*>(OpenNpz(file)->Load(0).data());
  CHECK(begin > file->bytes().data());
  CHECK(begin < file->bytes().data() + file->bytes().size());
}

TEST_CASE("npz: a view keeps the file when the archive is gone") {
  SharedTensor tensor;
  {
    const std::vector<NamedTensor> tensors = {{"a", SharedTensor(Tensor({2}, {5, 6}))}};
    tensor = OpenNpzBytes(NumpyArchiveBytes(tensors, GENERATE(false, true)))->Load(0);
  }
  CHECK(Values(tensor) == std::vector<float>{5, 6});
}

TEST_CASE("npz: arrays that are no numbers are listed and refused when loaded") {
  const std::string descr =
      GENERATE("'|O'", "'<U5'", "'<c8'", "[('x', '<f4'), ('y', '<i2', (2,))]");
  const auto archive = OpenNpzBytes(Npz(Npy(Dict(descr, "(2,)"), {1, 2, 3})));
  REQUIRE(archive->tensors().size() == 1);
  CHECK(archive->tensors()[0].type == DataType::kOther);
  CHECK_THROWS_AS(archive->Load(0), Error);
}

TEST_CASE("npz: headers that lie or are damaged are refused") {
  const std::vector<uint8_t> four = {0, 0, 0x80, 0x3F};
  Has(NpzError(Npz(Npy(Dict("'<f4'", "(2,)"), four))), "needs");
  Has(NpzError(Npz(Npy(Dict("'|u1'", "(3,)"), four))), "needs");
  Has(NpzError(Npz(Npy(Dict("'<f4'", "(2500000000,)"), four))), "needs 10000000");
  Has(NpzError(Npz(Npy(Dict("'<f4'", "(4611686018427387904, 16)"), four))), "too many elements");
  Has(NpzError(Npz(Npy(Dict("'<f4'", "(99999999999999999999,)"), four))), "whole number");
  Has(NpzError(Npz(Npy(Dict("'<f4'", "(-1,)"), four))), "whole number");
  Has(NpzError(Npz(Npy(Dict("'<f4'", "(1"), four))), "damaged npy header");
  Has(NpzError(Npz(Npy("{'descr': '<f4'}\n", four))), "without");
  Has(NpzError(Npz(Npy("{'descr': '<f4', 'descr': '<f4'}\n", four))), "unexpected key 'descr'");
  Has(NpzError(Npz(Npy("__import__('os').system('x')\n", four))), "damaged npy header");
  Has(NpzError(Npz(Npy(Dict(std::string(500, '[') + "'<f4'", "(1,)"), four))), "fewer brackets");
  Has(NpzError(Npz(Npy(Dict("'<f4'", "(1,)") + "x", four))), "the end of the header");
  Has(NpzError(Npz(Npy(Dict("'<f4'", "(1,)"), four, 9))), "npy version 9");
  Has(NpzError(Npz(TextBytes("no array at all"))), "does not start as one");
  Has(NpzError(Npz(TextBytes("\x93NUMPY"))), "does not start as one");
  std::string ones = "(";
  for (int i = 0; i < 33; ++i) ones += "1, ";
  Has(NpzError(Npz(Npy(Dict("'<f4'", ones + ")"), four))), "more than 32 dimensions");
}

TEST_CASE("npz: a header length beyond the entry is refused") {
  std::vector<uint8_t> npy = Npy(Dict("'<f4'", "(1,)"), {0, 0, 0x80, 0x3F});
  npy[8] = npy[9] = 0xFF;
  Has(NpzError(Npz(npy)), "cut short");
  Has(NpzError(Npz(npy, true)), "cut short");
  npy[6] = 2;
  npy[10] = npy[11] = 0xFF;
  Has(NpzError(Npz(npy)), "npy header of 4294967295 bytes");
}

TEST_CASE("npz: a damaged array is an error, not wrong numbers") {
  const std::vector<NamedTensor> tensors = {{"w", SharedTensor(Tensor({2}, {5, 6}))}};
  auto bytes = NumpyArchiveBytes(tensors, false);
  bytes[35 + 128] ^= 1;  // the first number
  Has(NpzError(bytes), "checksum");
}

TEST_CASE("npz: an archive without arrays is refused") {
  ZipTestEntry entry;
  entry.name = "readme.txt";
  Has(NpzError(ZipBytes(std::span(&entry, 1))), "not an npz file");
  Has(NpzError(TextBytes("text")), "no zip directory");
}

TEST_CASE("npz: files cut short at every 64th are refused") {
  std::vector<NamedTensor> tensors;
  for (int i = 0; i < 20; ++i) {
    tensors.push_back({"t" + std::to_string(i), SharedTensor(Tensor(Shape{50}))});
  }
  const auto bytes = NumpyArchiveBytes(tensors, GENERATE(false, true));
  for (size_t part = 0; part < 64; ++part) {
    const auto end = bytes.begin() + static_cast<ptrdiff_t>(bytes.size() * part / 64);
    CHECK(NpzError({bytes.begin(), end}) != "no error");
  }
}

TEST_CASE("npz: Google's checkpoints open, stored and deflated alike") {
  const auto golden = test::SharedFolder("golden");
  if (!golden) return;
  const auto stored = OpenNpz(MappedFile::Open(*golden / "google-npz/model/checkpoint.npz"));
  const auto deflated =
      OpenNpz(MappedFile::Open(*golden / "google-npz-deflated/model/checkpoint.npz"));
  REQUIRE(stored->tensors().size() == 56);
  REQUIRE(deflated->tensors().size() == 56);
  CHECK(stored->tensors()[0].name == "embedding/kernel");
  CHECK(stored->tensors()[0].shape == Shape{8, 8, 3, 64});
  CHECK(stored->tensors()[3].name == "Transformer/posembed_input/pos_embedding");
  for (size_t i = 0; i < 56; ++i) {
    CHECK(stored->tensors()[i].name == deflated->tensors()[i].name);
    CHECK(Values(stored->Load(i)) == Values(deflated->Load(i)));
  }
}

}  // namespace
}  // namespace attnmap
