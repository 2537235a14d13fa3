#include "attnmap/formats/dtype.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "attnmap/core/error.h"
#include "support/catch.h"

namespace attnmap {
namespace {

// The definition, in arithmetic.
double HalfByFormula(uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  return sign * std::ldexp(1 + mantissa / 1024.0, exponent - 15);
}

bool IsSpecialHalf(uint16_t bits) { return ((bits >> 10) & 31) == 31; }

template <typename T>
std::vector<uint8_t> Bytes(std::vector<T> values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST_CASE("every half becomes the float of its formula") {
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const float value = HalfToFloat(bits);
    if (!IsSpecialHalf(bits)) {
      if (value != HalfByFormula(bits) || std::signbit(value) != (bits >= 0x8000)) {
        FAIL("half " << bits << " became " << value);
      }
    } else if ((bits & 1023) == 0) {
      REQUIRE(std::isinf(value));
      REQUIRE(std::signbit(value) == (bits >= 0x8000));
    } else if (!std::isnan(value)) {
      FAIL("half NaN " << bits << " became " << value);
    }
  }
}

TEST_CASE("every half and bfloat16 survives the way to float and back") {
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const bool nan = IsSpecialHalf(bits) && (bits & 1023) != 0;
    if (nan) {
      if (!std::isnan(HalfToFloat(FloatToHalf(HalfToFloat(bits))))) FAIL("half " << bits);
    } else if (FloatToHalf(HalfToFloat(bits)) != bits) {
      FAIL("half " << bits);
    }
    const float wide = Bfloat16ToFloat(bits);
    if (std::isnan(wide)) {
      if (!std::isnan(Bfloat16ToFloat(FloatToBfloat16(wide)))) FAIL("bfloat16 " << bits);
    } else if (FloatToBfloat16(wide) != bits) {
      FAIL("bfloat16 " << bits);
    }
  }
}

// Between two neighbouring halves: below the middle down, above up, at it to even.
TEST_CASE("floats round to the nearest half, ties to even") {
  for (uint16_t low = 0; low < 0x7BFF; ++low) {
    const double a = HalfByFormula(low);
    const double b = HalfByFormula(static_cast<uint16_t>(low + 1));
    const auto middle = static_cast<float>((a + b) / 2);  // exact: one bit more than a half has
    const uint16_t even = low % 2 == 0 ? low : static_cast<uint16_t>(low + 1);
    const bool right = FloatToHalf(middle) == even &&
                       FloatToHalf(std::nextafter(middle, 0.0F)) == low &&
                       FloatToHalf(std::nextafter(middle, 1e9F)) == low + 1 &&
                       FloatToHalf(-middle) == (even | 0x8000);
    if (!right) FAIL("around half " << low);
  }
  CHECK(FloatToHalf(65519.0F) == 0x7BFF);
  CHECK(FloatToHalf(65520.0F) == 0x7C00);
  CHECK(FloatToHalf(1e30F) == 0x7C00);
  CHECK(FloatToHalf(-std::numeric_limits<float>::infinity()) == 0xFC00);
  CHECK(FloatToHalf(0x1p-25F) == 0);
  CHECK(FloatToHalf(std::nextafter(0x1p-25F, 1.0F)) == 1);
  CHECK(FloatToHalf(1 + 0x1p-11F) == 0x3C00);
  CHECK(FloatToHalf(1 + 3 * 0x1p-11F) == 0x3C02);
  CHECK(FloatToHalf(std::numeric_limits<float>::denorm_min()) == 0);
}

TEST_CASE("floats round to the nearest bfloat16, ties to even") {
  CHECK(FloatToBfloat16(1 + 0x1p-8F) == 0x3F80);
  CHECK(FloatToBfloat16(1 + 3 * 0x1p-8F) == 0x3F82);
  CHECK(FloatToBfloat16(3.14159265F) == 0x4049);
  CHECK(FloatToBfloat16(std::numeric_limits<float>::max()) == 0x7F80);
  CHECK(Bfloat16ToFloat(0xC020) == -2.5F);
  CHECK(std::bit_cast<uint32_t>(Bfloat16ToFloat(1)) == 0x00010000U);
}

TEST_CASE("each data type converts, in either byte order") {
  std::vector<float> out(2);
  const auto check = [&](DataType type, const std::vector<uint8_t>& bytes, float a, float b) {
    INFO(DataTypeName(type));
    ConvertToFloat(type, bytes, out);
    CHECK(out == std::vector<float>{a, b});
    std::vector<uint8_t> big = bytes;
    const auto size = static_cast<ptrdiff_t>(DataTypeSize(type));
    REQUIRE(bytes.size() == static_cast<size_t>(2 * size));
    std::reverse(big.begin(), big.begin() + size);
    std::reverse(big.begin() + size, big.end());
    ConvertToFloat(type, big, out, ByteOrder::kBig);
    CHECK(out == std::vector<float>{a, b});
  };
  check(DataType::kF64, Bytes<double>({0.1, -1e-300}), 0.1F, -0.0F);
  check(DataType::kF32, Bytes<float>({1.5F, -2.25F}), 1.5F, -2.25F);
  check(DataType::kF16, Bytes<uint16_t>({0x3555, 0x03FF}), 0.333251953125F, 1023 * 0x1p-24F);
  check(DataType::kBF16, Bytes<uint16_t>({0x4049, 0xC020}), 3.140625F, -2.5F);
  // 2^53 + 2^29 + 1 is just over the middle between two floats.
  check(DataType::kI64, Bytes<int64_t>({-7, (int64_t{1} << 53) + (int64_t{1} << 29) + 1}), -7,
        0x1p53F + 0x1p30F);
  check(DataType::kI32, Bytes<int32_t>({-70000, 16777217}), -70000, 16777216);
  check(DataType::kI16, Bytes<int16_t>({-3, 300}), -3, 300);
  check(DataType::kI8, Bytes<int8_t>({-128, 127}), -128, 127);
  check(DataType::kU64, Bytes<uint64_t>({0, ~uint64_t{0}}), 0, 0x1p64F);
  check(DataType::kU32, Bytes<uint32_t>({1, 0xFFFFFFFFU}), 1, 0x1p32F);
  check(DataType::kU16, Bytes<uint16_t>({65535, 2}), 65535, 2);
  check(DataType::kU8, Bytes<uint8_t>({255, 0}), 255, 0);
  check(DataType::kBool, Bytes<uint8_t>({1, 0}), 1, 0);
  CHECK_THROWS_AS(ConvertToFloat(DataType::kOther, {}, out), Error);
}

TEST_CASE("a double beyond float32 becomes an infinity that is handed on") {
  std::vector<float> out(1);
  ConvertToFloat(DataType::kF64, Bytes<double>({1e39}), out);
  CHECK(std::isinf(out[0]));
}

TEST_CASE("strided arrays are gathered in row-major order") {
  const auto bytes = Bytes<float>({9, 0, 1, 2, 3, 4, 5});
  std::vector<float> out(6);
  // (2, 3) kept column by column, behind one element.
  GatherToFloat({DataType::kF32, bytes, ByteOrder::kLittle, 1, {1, 2}}, {2, 3}, out);
  CHECK(out == std::vector<float>{0, 2, 4, 1, 3, 5});
  // (3, 1, 2), rank 3; an expanded dimension has stride 0.
  GatherToFloat({DataType::kF32, bytes, ByteOrder::kLittle, 1, {2, 0, 1}}, {3, 1, 2}, out);
  CHECK(out == std::vector<float>{0, 1, 2, 3, 4, 5});
  GatherToFloat({DataType::kF32, bytes, ByteOrder::kLittle, 4, {0, 0, 1}}, {1, 2, 3}, out);
  CHECK(out == std::vector<float>{3, 4, 5, 3, 4, 5});
  std::vector<float> one(1);
  GatherToFloat({DataType::kF32, bytes, ByteOrder::kLittle, 0, {}}, {}, one);
  CHECK(one[0] == 9);
}

TEST_CASE("aligned float32 is viewed where it lies, anything else copied") {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  const std::span<const uint8_t> all(reinterpret_cast<const uint8_t*>(owner->data()), 12);
  const SharedTensor view = ViewOrConvert(owner, DataType::kF32, all, {3});
  CHECK(view.data() == owner->data());
  CHECK(owner.use_count() == 2);
  std::vector<uint8_t> shifted(13);
  std::memcpy(shifted.data() + 1, owner->data(), 12);
  const SharedTensor copy =
      ViewOrConvert(owner, DataType::kF32, std::span(shifted).subspan(1), {3, 1});
  CHECK(owner.use_count() == 2);
  CHECK(copy.values()[2] == 3);
  CHECK(copy.shape() == Shape{3, 1});
}

}  // namespace
}  // namespace attnmap
