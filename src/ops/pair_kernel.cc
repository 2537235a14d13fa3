// The product of bfloat16 pairs in AVX512_BF16, an instruction set Highway does
// not know yet. Sums are float32.

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "attnmap/core/error.h"
#include "attnmap/ops/bfloat16.h"
#include "attnmap/ops/panels.h"
#include "ops/kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define ATTNMAP_PAIR_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))
#endif

namespace attnmap::ops {

#ifdef ATTNMAP_PAIR_TARGET
namespace {

template <int kR, int kP>
ATTNMAP_PAIR_TARGET __attribute__((noinline)) void Kernel(const Operands& o) {
  float* const c = o.c;
  const int64_t ldc = o.ldc;
  __m512 sum[kR][kP];
#pragma GCC unroll 32
  for (int i = 0; i < kR; ++i) {
#pragma GCC unroll 32
    for (int j = 0; j < kP; ++j) {
      sum[i][j] =
          o.accumulate ? _mm512_loadu_ps(c + i * ldc + j * kPanelCols) : _mm512_setzero_ps();
    }
  }
  const float* ahead = o.ahead.data;
  for (int64_t step = 0; step < o.depth; step += kStepDepth) {
    for (int64_t line = 0; line < o.ahead.lines_per_step; ++line, ahead += kPanelCols) {
      __builtin_prefetch(ahead, 0, 2);
    }
    const int64_t end = std::min(step + kStepDepth, o.depth);
    for (int64_t k = step; k < end; ++k) {
      __m512bh row[kP];
#pragma GCC unroll 32
      for (int j = 0; j < kP; ++j) {
        row[j] = (__m512bh)_mm512_loadu_ps(o.b + j * o.b_stride + k * kPanelCols);
      }
#pragma GCC unroll 32
      for (int i = 0; i < kR; ++i) {
        const auto x = (__m512bh)_mm512_set1_ps(o.a[i * o.lda + k]);
#pragma GCC unroll 32
        for (int j = 0; j < kP; ++j) sum[i][j] = _mm512_dpbf16_ps(sum[i][j], x, row[j]);
      }
    }
  }
#pragma GCC unroll 32
  for (int i = 0; i < kR; ++i) {
#pragma GCC unroll 32
    for (int j = 0; j < kP; ++j) _mm512_storeu_ps(c + i * ldc + j * kPanelCols, sum[i][j]);
  }
}

ATTNMAP_PAIR_TARGET __attribute__((noinline)) float Sums(int64_t rounds) {
  constexpr int kSums = 10;
  __m512 sum[kSums];
  for (int i = 0; i < kSums; ++i) sum[i] = _mm512_set1_ps(static_cast<float>(i));
  const auto ones = (__m512bh)_mm512_set1_epi32(0x3F803F80);
  const auto tiny = (__m512bh)_mm512_set1_epi32(0x38003800);
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 10
    for (__m512& each : sum) each = _mm512_dpbf16_ps(each, ones, tiny);
  }
  __m512 all = sum[0];
  for (int i = 1; i < kSums; ++i) all = _mm512_add_ps(all, sum[i]);
  float lanes[16];
  _mm512_storeu_ps(lanes, all);
  return std::accumulate(lanes, lanes + 16, 0.0F);
}

template <int kP, int... kLess>
constexpr std::array<KernelFunction, sizeof...(kLess)> Table(
    std::integer_sequence<int, kLess...> /*rows*/) {
  return {&Kernel<kLess + 1, kP>...};
}

}  // namespace

bool MultipliesBfloat16() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bf16");
}

KernelFunction PairKernel(int64_t rows, int64_t panels) {
  using Rows = std::make_integer_sequence<int, kPairRows>;
  static constexpr auto kTwo = Table<2>(Rows());
  static constexpr auto kOne = Table<1>(Rows());
  return (panels == 2 ? kTwo : kOne)[static_cast<size_t>(rows - 1)];
}

double PairMultiplyAdd(int64_t rounds) {
  constexpr int64_t kPerRound = 2;
  constexpr double kOperations = 4.0 * 16 * 10;  // two products a lane, ten sums
  return Sums(rounds * kPerRound) < 1e30F ? kOperations * kPerRound * static_cast<double>(rounds)
                                          : 0;
}

#else

bool MultipliesBfloat16() { return false; }

double PairMultiplyAdd(int64_t /*rounds*/) { return 0; }

KernelFunction PairKernel(int64_t /*rows*/, int64_t /*panels*/) {
  throw Error("this processor multiplies no bfloat16");
}

#endif

}  // namespace attnmap::ops
