// The innermost loops of a product, for each instruction set. Include guard as
// Highway's per-target headers have it.
#if defined(ATTNMAP_OPS_KERNEL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTNMAP_OPS_KERNEL_INL_H_
#undef ATTNMAP_OPS_KERNEL_INL_H_
#else
#define ATTNMAP_OPS_KERNEL_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <utility>

#include "attnmap/ops/bfloat16.h"
#include "attnmap/ops/panels.h"
#include "ops/kernel.h"
#include "ops/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attnmap::ops::HWY_NAMESPACE {

// The block of the result a kernel keeps in registers: kRows rows of kPanels
// panels. Both factors as large as the registers allow: 16 of them up to AVX2,
// 32 for AVX-512 and Arm.
#if HWY_TARGET <= HWY_AVX3
inline constexpr int kRows = 12;
inline constexpr int kPanels = 2;
#elif HWY_TARGET == HWY_AVX2
inline constexpr int kRows = 6;
inline constexpr int kPanels = 1;
#elif HWY_TARGET == HWY_NEON
inline constexpr int kRows = 6;
inline constexpr int kPanels = 1;
#else
inline constexpr int kRows = 2;
inline constexpr int kPanels = 1;
#endif
inline constexpr int kVectorsPerPanel = static_cast<int>(kPanelCols) / static_cast<int>(kLanes);

// sum + x . b, or with pairs of bfloat16 in each lane, sum + x0 . b0 + x1 . b1.
template <bool kPairs>
HWY_INLINE Floats AddProduct(Floats x, Floats b, Floats sum) {
  if constexpr (kPairs) {
    const FloatTag d;
    const hn::RebindToUnsigned<FloatTag> du;
    const auto low = [&](Floats v)
                         HWY_ATTR { return hn::BitCast(d, hn::ShiftLeft<16>(hn::BitCast(du, v))); };
    const auto high = [&](Floats v) HWY_ATTR {
      return hn::BitCast(d, hn::And(hn::BitCast(du, v), hn::Set(du, 0xFFFF0000)));
    };
    sum = hn::MulAdd(high(x), high(b), sum);
    return hn::MulAdd(low(x), low(b), sum);
  } else {
    return hn::MulAdd(x, b, sum);
  }
}

// c (+)= a . b, a block of kR rows and kP panels kept in registers.
template <int kR, int kP, bool kPairs>
HWY_NOINLINE void Kernel(const Operands& o) {
  constexpr int kVectors = kP * kVectorsPerPanel;
  const FloatTag d;
  // Not read again where results are stored, which might overwrite them.
  float* const c = o.c;
  const int64_t ldc = o.ldc;
  Floats sum[kR][kVectors];
  HWY_UNROLL(32)
  for (int i = 0; i < kR; ++i) {
    HWY_UNROLL(32)
    for (int j = 0; j < kVectors; ++j) {
      sum[i][j] = o.accumulate ? hn::LoadU(d, c + i * ldc + j * int64_t{kLanes}) : hn::Zero(d);
    }
  }
  const float* HWY_RESTRICT b = o.b;
  const int64_t lda = o.lda;
  const int64_t b_stride = o.b_stride;
  const int64_t depth = o.depth;
  const float* ahead = o.ahead.data;
  // From one pointer, the offsets of twelve rows would not fit into registers.
  constexpr int kHalf = kR > 6 ? (kR + 1) / 2 : kR;
  const float* const halves[] = {o.a, kHalf < kR ? o.a + kHalf * lda : nullptr};
  const auto add = [&](int64_t k) HWY_ATTR {
    Floats row[kVectors];
    HWY_UNROLL(32)
    for (int j = 0; j < kVectors; ++j) {
      const int64_t panel = j / kVectorsPerPanel;
      const int64_t lane = j % kVectorsPerPanel * int64_t{kLanes};
      row[j] = hn::LoadU(d, b + panel * b_stride + k * kPanelCols + lane);
    }
    HWY_UNROLL(32)
    for (int i = 0; i < kR; ++i) {
      const Floats x = hn::Set(d, halves[i / kHalf][i % kHalf * lda + k]);
      HWY_UNROLL(32)
      for (int j = 0; j < kVectors; ++j) sum[i][j] = AddProduct<kPairs>(x, row[j], sum[i][j]);
    }
  };
  for (int64_t step = 0; step < depth; step += kStepDepth) {
    for (int64_t line = 0; line < o.ahead.lines_per_step; ++line, ahead += kPanelCols) {
      __builtin_prefetch(ahead, 0, 2);
    }
    // Whole steps with a count the compiler knows: it unrolls them without moving
    // sums about, and where a core is shared, instructions are what there is
    // too little of.
    if (step + kStepDepth <= depth) {
      HWY_UNROLL(8)
      for (int64_t k = 0; k < kStepDepth; ++k) add(step + k);
    } else {
      for (int64_t k = step; k < depth; ++k) add(k);
    }
  }
  HWY_UNROLL(32)
  for (int i = 0; i < kR; ++i) {
    HWY_UNROLL(32)
    for (int j = 0; j < kVectors; ++j) {
      hn::StoreU(sum[i][j], d, c + i * ldc + j * int64_t{kLanes});
    }
  }
}

// The kernels for 1 to kRows rows.
template <int kP, bool kPairs, int... kLess>
constexpr std::array<KernelFunction, sizeof...(kLess)> KernelTable(
    std::integer_sequence<int, kLess...> /*rows*/) {
  return {&Kernel<kLess + 1, kP, kPairs>...};
}

template <bool kPairs>
KernelFunction KernelFor(int64_t rows, int64_t panels) {
  using Rows = std::make_integer_sequence<int, kRows>;
  static constexpr auto kFull = KernelTable<kPanels, kPairs>(Rows());
  static constexpr auto kSingle = KernelTable<1, kPairs>(Rows());
  return (panels == kPanels ? kFull : kSingle)[static_cast<size_t>(rows - 1)];
}

inline void RunKernel(const Operands& o, int64_t rows, int64_t panels, bool pairs) {
  if (!pairs) return KernelFor<false>(rows, panels)(o);
#if HWY_TARGET <= HWY_AVX3
  static_assert(kRows <= kPairRows && kPanels <= kPairPanels);
  static const bool kNative = MultipliesBfloat16();
  if (kNative) return PairKernel(rows, panels)(o);
#endif
  KernelFor<true>(rows, panels)(o);
}

// How many of the `rows` rows left the next kernel takes: all kernels about as
// many, because a kernel of one or two rows waits for its own additions.
inline int64_t NextRows(int64_t rows) {
  const int64_t kernels = (rows + kRows - 1) / kRows;
  return (rows + kernels - 1) / kernels;
}

}  // namespace attnmap::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
