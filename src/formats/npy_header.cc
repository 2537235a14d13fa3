#include "formats/npy_header.h"

#include <charconv>
#include <cstring>
#include <string_view>

#include "attnmap/core/error.h"
#include "formats/text.h"

namespace attnmap {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr uint64_t kMaxNpyHeader = uint64_t{64} << 10;
constexpr size_t kMaxNpyRank = 32;
constexpr int kMaxNpyDepth = 16;

// The part of Python's literals that a header may use.
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  // {'descr': ..., 'fortran_order': ..., 'shape': ...}, in any order.
  void ReadHeader(NpyHeader& header) {
    bool has_descr = false;
    bool has_order = false;
    bool has_shape = false;
    Expect('{');
    while (!Accept('}')) {
      const std::string_view key = String();
      Expect(':');
      if (key == "descr" && !has_descr) {
        has_descr = true;
        header.descr = Descr();
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        header.fortran_order = Boolean();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        header.shape = Tuple();
      } else {
        throw Error("an npy header with an unexpected key " + Shown(key));
      }
      if (Accept('}')) break;
      Expect(',');
    }
    SkipSpace();
    if (at_ != text_.size()) Fail("the end of the header");
    if (!has_descr || !has_order || !has_shape) {
      throw Error("an npy header without descr, fortran_order or shape");
    }
  }

 private:
  [[noreturn]] void Fail(const char* expected) const {
    throw Error("a damaged npy header: expected " + std::string(expected) + " at " +
                Shown(text_.substr(at_, 16)));
  }

  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  bool Accept(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void Expect(char c) {
    const char expected[] = {'\'', c, '\'', '\0'};
    if (!Accept(c)) Fail(expected);
  }

  std::string_view String() {
    const char quote = Accept('\'') ? '\'' : Accept('"') ? '"' : '\0';
    if (quote == '\0') Fail("a string");
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) Fail("a closing quote");
    const std::string_view string = text_.substr(at_, end - at_);
    at_ = end + 1;
    return string;
  }

  bool Word(std::string_view word) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool Boolean() {
    if (Word("True")) return true;
    if (!Word("False")) Fail("True or False");
    return false;
  }

  int64_t Integer() {
    SkipSpace();
    int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto result = std::from_chars(begin, text_.data() + text_.size(), value);
    if (result.ec != std::errc() || value < 0) Fail("a whole number");
    at_ += static_cast<size_t>(result.ptr - begin);
    Word("L");  // as Python 2 wrote long ones
    return value;
  }

  Shape Tuple() {
    Shape shape;
    Expect('(');
    while (!Accept(')')) {
      shape.push_back(Integer());
      if (shape.size() > kMaxNpyRank) throw Error("an npy array of more than 32 dimensions");
      if (Accept(')')) break;
      Expect(',');
    }
    return shape;
  }

  // A string; for the list of a structured type, its text.
  std::string Descr() {
    SkipSpace();
    const size_t begin = at_;
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) {
      SkipNested(0);
      return std::string(text_.substr(begin, at_ - begin));
    }
    return std::string(String());
  }

  void SkipNested(int depth) {
    if (depth > kMaxNpyDepth) Fail("fewer brackets");
    const char close = Accept('[') ? ']' : Accept('(') ? ')' : '\0';
    if (close == '\0') {
      if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) {
        String();
      } else {
        Integer();
      }
      return;
    }
    while (!Accept(close)) {
      SkipNested(depth + 1);
      if (Accept(close)) break;
      Expect(',');
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

struct NamedType {
  std::string_view name;
  DataType type;
};
constexpr NamedType kTypes[] = {
    {"f8", DataType::kF64},  {"f4", DataType::kF32}, {"f2", DataType::kF16},
    {"V2", DataType::kBF16},  // what JAX's writers make of bfloat16
    {"i8", DataType::kI64},  {"i4", DataType::kI32}, {"i2", DataType::kI16},
    {"i1", DataType::kI8},   {"u8", DataType::kU64}, {"u4", DataType::kU32},
    {"u2", DataType::kU16},  {"u1", DataType::kU8},  {"b1", DataType::kBool},
};

void SetType(NpyHeader& header) {
  std::string_view name = header.descr;
  if (!name.empty() && std::string_view("<>|=").find(name[0]) != std::string_view::npos) {
    if (name[0] == '>') header.order = ByteOrder::kBig;
    name.remove_prefix(1);
  }
  for (const NamedType& type : kTypes) {
    if (type.name == name) header.type = type.type;
  }
}

uint64_t LittleEndian(std::span<const uint8_t> bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

}  // namespace

uint64_t NpyHeader::data_size() const {
  const auto count = static_cast<uint64_t>(NumElements(shape));
  const auto item = static_cast<uint64_t>(DataTypeSize(type));
  if (item != 0 && count > UINT64_MAX / item) {
    throw Error("an npy array too large: " + ToString(shape));
  }
  return count * item;
}

size_t NpyHeaderSize(std::span<const uint8_t> bytes) {
  if (bytes.size() < kNpyPreamble ||
      std::memcmp(bytes.data(), kNpyMagic.data(), kNpyMagic.size()) != 0) {
    throw Error("not an npy array: it does not start as one");
  }
  const int major = bytes[6];
  if (major < 1 || major > 3) {
    throw Error("npy version " + std::to_string(major) + ", expected 1 to 3");
  }
  const size_t length_size = major == 1 ? 2 : 4;
  const uint64_t length = LittleEndian(bytes.subspan(8, length_size));
  if (length > kMaxNpyHeader) throw Error("an npy header of " + std::to_string(length) + " bytes");
  return 8 + length_size + static_cast<size_t>(length);
}

NpyHeader ParseNpyHeader(std::span<const uint8_t> bytes) {
  NpyHeader header;
  header.data_begin = NpyHeaderSize(bytes);
  if (header.data_begin > bytes.size()) throw Error("an npy header cut short");
  const size_t begin = bytes[6] == 1 ? 10 : 12;
  Literal({reinterpret_cast<const char*>(bytes.data()) + begin, header.data_begin - begin})
      .ReadHeader(header);
  SetType(header);
  header.data_size();  // throws where it overflows
  return header;
}

SharedTensor LoadNpyData(const NpyHeader& header, const std::shared_ptr<const void>& owner,
                         std::span<const uint8_t> data) {
  if (header.type == DataType::kOther) {
    throw Error("numpy's type " + Shown(header.descr) +
                " is not read, expected floats, bfloat16 or whole numbers");
  }
  const uint64_t size = header.data_size();
  if (data.size() < size) {
    throw Error(std::to_string(data.size()) + " bytes of numbers, its shape " +
                ToString(header.shape) + " needs " + std::to_string(size));
  }
  data = data.first(static_cast<size_t>(size));
  if (!header.fortran_order || header.shape.size() < 2) {
    return ViewOrConvert(owner, header.type, data, header.shape, header.order);
  }
  StridedSource source{header.type, data, header.order, 0, {}};
  int64_t stride = 1;
  for (const int64_t dim : header.shape) {
    source.strides.push_back(stride);
    stride *= dim;
  }
  Tensor tensor(header.shape);
  GatherToFloat(source, header.shape, tensor.values);
  return SharedTensor(std::move(tensor));
}

}  // namespace attnmap
