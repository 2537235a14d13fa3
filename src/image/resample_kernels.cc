#include "image/resample_kernels.h"

#include <algorithm>
#include <cstring>

// Arrays of vectors, below, need vectors of a size known to the compiler; 16
// bytes are all that a target without them loses here.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#endif
// Compiled once for each instruction set; the best one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/resample_kernels.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attnmap {  // NOLINT(modernize-concat-nested-namespaces)
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

uint8_t Clip(int32_t sum) { return static_cast<uint8_t>(std::clamp(sum >> kWeightBits, 0, 255)); }

// N * kVectors bytes of the row from x on, sums kept in registers.
template <int kVectors>
HWY_INLINE void RowBlock(const VerticalRow& row, size_t x) {
  static_assert(kVectors == 1 || kVectors == 4);
  const hn::ScalableTag<int32_t> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t n = hn::Lanes(d);
  auto sum0 = hn::Set(d, kHalf);
  auto sum1 = sum0;
  auto sum2 = sum0;
  auto sum3 = sum0;
  const uint8_t* in = row.in + x;
  for (int j = 0; j < row.num_taps; ++j, in += row.stride) {
    const auto weight = hn::Set(d, row.weights[j]);
    const auto pixels = [&](size_t at) { return hn::PromoteTo(d, hn::LoadU(d8, in + at)); };
    sum0 = hn::Add(sum0, hn::Mul(pixels(0), weight));
    if constexpr (kVectors == 4) {
      sum1 = hn::Add(sum1, hn::Mul(pixels(n), weight));
      sum2 = hn::Add(sum2, hn::Mul(pixels(2 * n), weight));
      sum3 = hn::Add(sum3, hn::Mul(pixels(3 * n), weight));
    }
  }
  const auto store = [&](auto sum, size_t at) {
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<kWeightBits>(sum)), d8, row.out + x + at);
  };
  store(sum0, 0);
  if constexpr (kVectors == 4) {
    store(sum1, n);
    store(sum2, 2 * n);
    store(sum3, 3 * n);
  }
}

void ResampleRowImpl(const VerticalRow& row) {
  const size_t n = hn::Lanes(hn::ScalableTag<int32_t>());
  size_t x = 0;
  for (; x + 4 * n <= row.num_bytes; x += 4 * n) RowBlock<4>(row, x);
  for (; x + n <= row.num_bytes; x += n) RowBlock<1>(row, x);
  for (; x < row.num_bytes; ++x) {
    int32_t sum = kHalf;
    for (int j = 0; j < row.num_taps; ++j) {
      sum += row.weights[j] * row.in[static_cast<size_t>(j) * row.stride + x];
    }
    row.out[x] = Clip(sum);
  }
}

// The three channels of one output column, for all rows of the strip.
HWY_INLINE void StripColumn(const uint8_t* HWY_RESTRICT in, const int32_t* HWY_RESTRICT weights,
                            int num_taps, uint8_t* HWY_RESTRICT out) {
  const hn::CappedTag<int32_t, kStripRows> d;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  const size_t n = hn::Lanes(d);
  for (size_t r = 0; r < kStripRows; r += n) {
    auto red = hn::Set(d, kHalf);
    auto green = red;
    auto blue = red;
    const uint8_t* at = in + r;
    for (int j = 0; j < num_taps; ++j, at += int64_t{3} * kStripRows) {
      const auto weight = hn::Set(d, weights[j]);
      const auto pixels = [&](size_t channel) {
        return hn::PromoteTo(d, hn::LoadU(d8, at + channel * kStripRows));
      };
      red = hn::Add(red, hn::Mul(pixels(0), weight));
      green = hn::Add(green, hn::Mul(pixels(1), weight));
      blue = hn::Add(blue, hn::Mul(pixels(2), weight));
    }
    const auto store = [&](auto sum, size_t channel) {
      hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<kWeightBits>(sum)), d8,
                 out + channel * kStripRows + r);
    };
    store(red, 0);
    store(green, 1);
    store(blue, 2);
  }
}

void ResampleStripImpl(const uint8_t* in, int first_col, const AxisWeights<int32_t>& weights,
                       uint8_t* out) {
  constexpr size_t kColumn = size_t{3} * kStripRows;
  for (size_t i = 0; i < weights.first.size(); ++i) {
    const auto skip = static_cast<size_t>(weights.first[i] - first_col);
    StripColumn(in + skip * kColumn, weights.at(i), weights.count(i), out + i * kColumn);
  }
}

void ResampleFloatRowsImpl(const FloatRows& rows, const AxisWeights<float>& weights) {
  static_assert(kFloatRows == 4);
  constexpr size_t kLanes = 4;
  const hn::CappedTag<float, kLanes> d;
  const size_t stride = rows.in_stride;
  for (size_t i = 0; i < weights.first.size(); ++i) {
    const float* weight = weights.at(i);
    const int num_taps = weights.count(i);
    for (size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
      const float* from = rows.in + static_cast<size_t>(weights.first[i]) * kLanes + lane;
      auto sum0 = hn::Zero(d);
      auto sum1 = sum0;
      auto sum2 = sum0;
      auto sum3 = sum0;
      for (int j = 0; j < num_taps; ++j, from += kLanes) {
        const auto w = hn::Set(d, weight[j]);
        sum0 = hn::Add(sum0, hn::Mul(w, hn::LoadU(d, from)));
        sum1 = hn::Add(sum1, hn::Mul(w, hn::LoadU(d, from + stride)));
        sum2 = hn::Add(sum2, hn::Mul(w, hn::LoadU(d, from + 2 * stride)));
        sum3 = hn::Add(sum3, hn::Mul(w, hn::LoadU(d, from + 3 * stride)));
      }
      float* out = rows.out + i * kLanes + lane;
      hn::StoreU(sum0, d, out);
      hn::StoreU(sum1, d, out + rows.out_stride);
      hn::StoreU(sum2, d, out + 2 * rows.out_stride);
      hn::StoreU(sum3, d, out + 3 * rows.out_stride);
    }
  }
}

#if HWY_TARGET == HWY_SCALAR

void RowsToStripImpl(const uint8_t* const* rows, size_t num_bytes, uint8_t* strip) {
  for (size_t r = 0; r < kStripRows; ++r) {
    for (size_t b = 0; b < num_bytes; ++b) strip[b * kStripRows + r] = rows[r][b];
  }
}

void StripToRowsImpl(const uint8_t* strip, size_t num_bytes, uint8_t* const* rows, int num_rows) {
  for (size_t r = 0; r < static_cast<size_t>(num_rows); ++r) {
    for (size_t b = 0; b < num_bytes; ++b) rows[r][b] = strip[b * kStripRows + r];
  }
}

#else

// 16 x 16 bytes, rows to columns: rows are zipped in pairs until what was a
// row index has become a byte index.
using D16 = hn::FixedTag<uint8_t, 16>;
using V16 = hn::Vec<D16>;
constexpr size_t kBlock = 16;
static_assert(kBlock == kStripRows);

HWY_INLINE void Zip(const V16* HWY_RESTRICT from, V16* HWY_RESTRICT to) {
  const D16 d;
  for (size_t r = 0; r < kBlock / 2; ++r) {
    to[2 * r] = hn::InterleaveLower(d, from[r], from[r + kBlock / 2]);
    to[2 * r + 1] = hn::InterleaveUpper(d, from[r], from[r + kBlock / 2]);
  }
}

HWY_INLINE void Transpose(V16* block) {
  V16 other[kBlock];
  Zip(block, other);
  Zip(other, block);
  Zip(block, other);
  Zip(other, block);
}

void RowsToStripImpl(const uint8_t* const* rows, size_t num_bytes, uint8_t* strip) {
  const D16 d;
  V16 block[kBlock];
  for (size_t b = 0; b < num_bytes; b += kBlock, strip += kBlock * kBlock) {
    if (b + kBlock <= num_bytes) {
      for (size_t r = 0; r < kBlock; ++r) block[r] = hn::LoadU(d, rows[r] + b);
    } else {
      uint8_t tail[kBlock] = {};
      for (size_t r = 0; r < kBlock; ++r) {
        std::memcpy(tail, rows[r] + b, num_bytes - b);
        block[r] = hn::LoadU(d, tail);
      }
    }
    Transpose(block);
    for (size_t r = 0; r < kBlock; ++r) hn::StoreU(block[r], d, strip + r * kBlock);
  }
}

void StripToRowsImpl(const uint8_t* strip, size_t num_bytes, uint8_t* const* rows, int num_rows) {
  const D16 d;
  V16 block[kBlock];
  const auto used = static_cast<size_t>(num_rows);
  for (size_t b = 0; b < num_bytes; b += kBlock, strip += kBlock * kBlock) {
    for (size_t r = 0; r < kBlock; ++r) block[r] = hn::LoadU(d, strip + r * kBlock);
    Transpose(block);
    if (b + kBlock <= num_bytes) {
      for (size_t r = 0; r < used; ++r) hn::StoreU(block[r], d, rows[r] + b);
    } else {
      uint8_t tail[kBlock];
      for (size_t r = 0; r < used; ++r) {
        hn::StoreU(block[r], d, tail);
        std::memcpy(rows[r] + b, tail, num_bytes - b);
      }
    }
  }
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace attnmap
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attnmap {

HWY_EXPORT(ResampleRowImpl);
HWY_EXPORT(ResampleStripImpl);
HWY_EXPORT(ResampleFloatRowsImpl);
HWY_EXPORT(RowsToStripImpl);
HWY_EXPORT(StripToRowsImpl);

void ResampleRow(const VerticalRow& row) { HWY_DYNAMIC_DISPATCH(ResampleRowImpl)(row); }

void ResampleStrip(const uint8_t* in, int first_col, const AxisWeights<int32_t>& weights,
                   uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(ResampleStripImpl)(in, first_col, weights, out);
}

void ResampleFloatRows(const FloatRows& rows, const AxisWeights<float>& weights) {
  HWY_DYNAMIC_DISPATCH(ResampleFloatRowsImpl)(rows, weights);
}

void RowsToStrip(const uint8_t* const* rows, size_t num_bytes, uint8_t* strip) {
  HWY_DYNAMIC_DISPATCH(RowsToStripImpl)(rows, num_bytes, strip);
}

void StripToRows(const uint8_t* strip, size_t num_bytes, uint8_t* const* rows, int num_rows) {
  HWY_DYNAMIC_DISPATCH(StripToRowsImpl)(strip, num_bytes, rows, num_rows);
}

}  // namespace attnmap
#endif  // HWY_ONCE
