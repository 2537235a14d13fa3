#include "attnmap/formats/dtype.h"

#include <bit>
#include <cstring>
#include <string>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

static_assert(std::endian::native == std::endian::little, "file bytes are read as they lie");

template <typename Bits>
Bits ReadBits(const uint8_t* at, bool swap) {
  Bits bits;
  std::memcpy(&bits, at, sizeof bits);
  if (!swap) return bits;
  Bits swapped = 0;
  for (size_t i = 0; i < sizeof bits; ++i) {
    swapped = static_cast<Bits>((static_cast<uint64_t>(swapped) << 8) | (bits & 0xFFU));
    bits = static_cast<Bits>(static_cast<uint64_t>(bits) >> 8);
  }
  return swapped;
}

// One struct a data type: how wide an element is and what number it stands for.
struct F64 {
  using Bits = uint64_t;
  static float Value(Bits bits) { return static_cast<float>(std::bit_cast<double>(bits)); }
};
struct F32 {
  using Bits = uint32_t;
  static float Value(Bits bits) { return std::bit_cast<float>(bits); }
};
struct F16 {
  using Bits = uint16_t;
  static float Value(Bits bits) {
    // Half's exponent is biased by 15, float's by 127.
    const uint32_t shifted = (bits & 0x7FFFU) << 13;
    const uint32_t exponent = shifted & 0x0F800000U;
    const uint32_t normal = shifted + ((127U - 15U) << 23);
    const uint32_t special = shifted + ((255U - 31U) << 23);
    // A denormal half: put its fraction under the exponent of 2^-14, take 2^-14 away.
    const float denormal =
        std::bit_cast<float>(shifted + (113U << 23)) - std::bit_cast<float>(113U << 23);
    uint32_t magnitude = exponent == 0 ? std::bit_cast<uint32_t>(denormal) : normal;
    magnitude = exponent == 0x0F800000U ? special : magnitude;
    return std::bit_cast<float>(magnitude | ((bits & 0x8000U) << 16));
  }
};
struct BF16 {
  using Bits = uint16_t;
  static float Value(Bits bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};
template <typename Int>
struct Integer {
  using Bits = std::make_unsigned_t<Int>;
  static float Value(Bits bits) { return static_cast<float>(static_cast<Int>(bits)); }
};
struct Boolean {
  using Bits = uint8_t;
  static float Value(Bits bits) { return bits != 0 ? 1.0F : 0.0F; }
};

// Calls body with the struct of a data type.
template <typename Body>
void WithType(DataType type, Body&& body) {
  switch (type) {
    case DataType::kF64:
      return body(F64{});
    case DataType::kF32:
      return body(F32{});
    case DataType::kF16:
      return body(F16{});
    case DataType::kBF16:
      return body(BF16{});
    case DataType::kI64:
      return body(Integer<int64_t>{});
    case DataType::kI32:
      return body(Integer<int32_t>{});
    case DataType::kI16:
      return body(Integer<int16_t>{});
    case DataType::kI8:
      return body(Integer<int8_t>{});
    case DataType::kU64:
      return body(Integer<uint64_t>{});
    case DataType::kU32:
      return body(Integer<uint32_t>{});
    case DataType::kU16:
      return body(Integer<uint16_t>{});
    case DataType::kU8:
      return body(Integer<uint8_t>{});
    case DataType::kBool:
      return body(Boolean{});
    case DataType::kOther:
      break;
  }
  throw Error("data of this type cannot be read as numbers");
}

// A row of elements `stride` apart.
template <typename Type, bool swap>
void ConvertRow(const uint8_t* bytes, int64_t stride, float* out, int64_t count) {
  constexpr int64_t kSize = sizeof(typename Type::Bits);
  for (int64_t i = 0; i < count; ++i) {
    out[i] = Type::Value(ReadBits<typename Type::Bits>(bytes + i * stride * kSize, swap));
  }
}

template <typename Type>
void ConvertRow(const uint8_t* bytes, int64_t stride, float* out, int64_t count, ByteOrder order) {
  if (order == ByteOrder::kBig) return ConvertRow<Type, true>(bytes, stride, out, count);
  // The constant stride lets the compiler use wide loads.
  if (stride == 1) return ConvertRow<Type, false>(bytes, 1, out, count);
  ConvertRow<Type, false>(bytes, stride, out, count);
}

}  // namespace

std::string_view DataTypeName(DataType type) {
  switch (type) {
    case DataType::kF64:
      return "f64";
    case DataType::kF32:
      return "f32";
    case DataType::kF16:
      return "f16";
    case DataType::kBF16:
      return "bf16";
    case DataType::kI64:
      return "i64";
    case DataType::kI32:
      return "i32";
    case DataType::kI16:
      return "i16";
    case DataType::kI8:
      return "i8";
    case DataType::kU64:
      return "u64";
    case DataType::kU32:
      return "u32";
    case DataType::kU16:
      return "u16";
    case DataType::kU8:
      return "u8";
    case DataType::kBool:
      return "bool";
    case DataType::kOther:
      break;
  }
  return "other";
}

int64_t DataTypeSize(DataType type) {
  if (type == DataType::kOther) return 0;
  int64_t size = 0;
  WithType(type, [&](auto t) { size = sizeof(typename decltype(t)::Bits); });
  return size;
}

float HalfToFloat(uint16_t bits) { return F16::Value(bits); }
float Bfloat16ToFloat(uint16_t bits) { return BF16::Value(bits); }

uint16_t FloatToHalf(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  const auto with_sign = [&](uint32_t half) { return static_cast<uint16_t>(sign | half); };
  if (magnitude > 0x7F800000U) return with_sign(0x7E00U | ((magnitude >> 13) & 0x3FFU));
  if (magnitude >= 0x47800000U) return with_sign(0x7C00U);  // 65536 and more
  if (magnitude < 0x33000000U) return with_sign(0);         // less than half the smallest
  uint32_t shift = 13;
  uint32_t fraction = magnitude - ((127U - 15U) << 23);
  if (magnitude < 0x38800000U) {  // a denormal half: the leading one becomes explicit
    shift = 126U - (magnitude >> 23);
    fraction = (magnitude & 0x007FFFFFU) | 0x00800000U;
  }
  // A carry out of the fraction raises the exponent, up to infinity, as it should.
  const uint32_t half = fraction >> shift;
  const uint32_t rest = fraction & ((1U << shift) - 1U);
  const uint32_t middle = 1U << (shift - 1U);
  const bool up = rest > middle || (rest == middle && (half & 1U) != 0);
  return with_sign(half + (up ? 1U : 0U));
}

uint16_t FloatToBfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<uint16_t>((bits >> 16) | 0x40U);
  return static_cast<uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

void ConvertToFloat(DataType type, std::span<const uint8_t> bytes, std::span<float> out,
                    ByteOrder order) {
  WithType(type, [&](auto t) {
    ConvertRow<decltype(t)>(bytes.data(), 1, out.data(), static_cast<int64_t>(out.size()), order);
  });
}

void GatherToFloat(const StridedSource& source, const Shape& shape, std::span<float> out) {
  if (out.empty()) return;
  if (shape.empty()) {
    const int64_t size = DataTypeSize(source.type);
    const auto element =
        source.bytes.subspan(static_cast<size_t>(source.offset * size), static_cast<size_t>(size));
    return ConvertToFloat(source.type, element, out, source.order);
  }
  const size_t last = shape.size() - 1;
  const int64_t cols = shape[last];
  Shape index(shape.size(), 0);
  WithType(source.type, [&](auto t) {
    using Type = decltype(t);
    constexpr int64_t kSize = sizeof(typename Type::Bits);
    float* row = out.data();
    const float* const end = out.data() + out.size();
    int64_t at = source.offset;
    while (true) {
      ConvertRow<Type>(source.bytes.data() + at * kSize, source.strides[last], row, cols,
                       source.order);
      row += cols;
      if (row == end) return;
      // The next row: count up the outer index like an odometer.
      for (size_t d = last; d-- > 0;) {
        at += source.strides[d];
        if (++index[d] < shape[d]) break;
        at -= shape[d] * source.strides[d];
        index[d] = 0;
      }
    }
  });
}

SharedTensor ViewOrConvert(const std::shared_ptr<const void>& owner, DataType type,
                           std::span<const uint8_t> bytes, Shape shape, ByteOrder order) {
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  if (type == DataType::kF32 && order == ByteOrder::kLittle && address % alignof(float) == 0 &&
      !bytes.empty()) {
    const auto* data = reinterpret_cast<const float*>(bytes.data());
    return {std::move(shape), std::shared_ptr<const float>(owner, data)};
  }
  Tensor tensor(std::move(shape));
  ConvertToFloat(type, bytes, tensor.values, order);
  return SharedTensor(std::move(tensor));
}

}  // namespace attnmap
