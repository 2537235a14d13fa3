#include "analysis/discard.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace attnmap {
namespace {

constexpr int kDigitBits = 16;
constexpr uint32_t kDigits = 1U << kDigitBits;

using Histogram = std::vector<int64_t>;

// Ascending as the numbers are, for numbers that are not negative.
uint32_t Bits(float value) { return std::bit_cast<uint32_t>(value + 0.0F); }

// Counts the entries by digit_of(bits), negative: not counted.
template <typename DigitOf>
Histogram Count(FusedRows& matrix, ThreadPool& pool, DigitOf digit_of) {
  std::vector<Histogram> counts(static_cast<size_t>(pool.num_threads()), Histogram(kDigits));
  for (int64_t begin = 0; begin < matrix.num_tokens(); begin += matrix.rows_per_band()) {
    const MatrixView band = matrix.Band(begin, pool);
    pool.Run(band.rows, [&](int64_t i, int worker) {
      Histogram& histogram = counts[static_cast<size_t>(worker)];
      const float* row = band.row(i);
      for (int64_t j = 0; j < band.cols; ++j) {
        const int64_t digit = digit_of(Bits(row[j]));
        if (digit >= 0) ++histogram[static_cast<size_t>(digit)];
      }
    });
  }
  for (size_t worker = 1; worker < counts.size(); ++worker) {
    for (size_t digit = 0; digit < kDigits; ++digit) counts[0][digit] += counts[worker][digit];
  }
  return std::move(counts[0]);
}

// The digit that the count-th smallest entry has; `count` becomes how many of
// that digit are among the smallest.
uint32_t FindDigit(const Histogram& histogram, int64_t& count) {
  uint32_t digit = 0;
  while (digit + 1 < kDigits && count > histogram[digit]) count -= histogram[digit++];
  return digit;
}

}  // namespace

Smallest FindSmallest(FusedRows& matrix, int64_t count, ThreadPool& pool) {
  if (count == 0) return {};
  const Histogram high =
      Count(matrix, pool, [](uint32_t bits) { return static_cast<int64_t>(bits >> kDigitBits); });
  const uint32_t top = FindDigit(high, count);
  const Histogram low = Count(matrix, pool, [top](uint32_t bits) {
    return bits >> kDigitBits == top ? static_cast<int64_t>(bits & (kDigits - 1)) : -1;
  });
  const uint32_t bottom = FindDigit(low, count);
  return {std::bit_cast<float>(top << kDigitBits | bottom), count};
}

int64_t CountTies(const float* row, int64_t cols, float threshold) {
  int64_t ties = 0;
  for (int64_t j = 0; j < cols; ++j) ties += row[j] == threshold ? 1 : 0;
  return ties;
}

}  // namespace attnmap
