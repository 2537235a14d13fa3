#include "attnmap/ops/rotary.h"

#include <cmath>
#include <numbers>

namespace attnmap::ops {
namespace {

// Calls angle_of(patch row, patch column, m) for each patch and pair.
template <typename AngleOf>
RotaryTable MakeTable(RowsCols grid, int64_t half, RotaryTable::Pairs pairs,
                      const AngleOf& angle_of) {
  RotaryTable table{.pairs = pairs, .half = half, .cos = {}, .sin = {}};
  const size_t size =
      static_cast<size_t>(half) * static_cast<size_t>(grid.rows) * static_cast<size_t>(grid.cols);
  table.cos.reserve(size);
  table.sin.reserve(size);
  for (int row = 0; row < grid.rows; ++row) {
    for (int col = 0; col < grid.cols; ++col) {
      for (int64_t m = 0; m < half; ++m) {
        const double angle = angle_of(row, col, m);
        table.cos.push_back(static_cast<float>(std::cos(angle)));
        table.sin.push_back(static_cast<float>(std::sin(angle)));
      }
    }
  }
  return table;
}

}  // namespace

std::vector<float> RotaryPeriods(float theta, int64_t head_dim) {
  std::vector<float> periods;
  for (int64_t k = 0; k < head_dim / 4; ++k) {
    const double exponent = 4.0 * static_cast<double>(k) / static_cast<double>(head_dim);
    periods.push_back(static_cast<float>(std::pow(static_cast<double>(theta), exponent)));
  }
  return periods;
}

RotaryTable CenteredRotary(RowsCols grid, std::span<const float> periods) {
  const auto quarter = static_cast<int64_t>(periods.size());
  const auto centred = [](int i, int count) { return 2.0 * (i + 0.5) / count - 1.0; };
  return MakeTable(grid, 2 * quarter, RotaryTable::Pairs::kHalf, [&](int row, int col, int64_t m) {
    const bool is_row = m < quarter;
    const double at = is_row ? centred(row, grid.rows) : centred(col, grid.cols);
    const auto k = static_cast<size_t>(is_row ? m : m - quarter);
    return 2.0 * std::numbers::pi * at / static_cast<double>(periods[k]);
  });
}

RotaryTable ReferenceRotary(RowsCols grid, float theta, int64_t head_dim) {
  constexpr double kReference = 16.0;  // patches a side when it was trained
  const int64_t quarter = head_dim / 4;
  std::vector<double> bands;
  for (int64_t k = 0; k < quarter; ++k) {
    bands.push_back(std::pow(static_cast<double>(theta),
                             -static_cast<double>(k) / static_cast<double>(quarter)));
  }
  return MakeTable(
      grid, 2 * quarter, RotaryTable::Pairs::kInterleaved, [&](int row, int col, int64_t m) {
        const bool is_row = m < quarter;
        const double at = is_row ? kReference * row / grid.rows : kReference * col / grid.cols;
        return at * bands[static_cast<size_t>(is_row ? m : m - quarter)];
      });
}

void Rotate(const RotaryTable& table, int64_t patch, std::span<float> token) {
  const int64_t half = table.half;
  const float* cos = table.cos.data() + patch * half;
  const float* sin = table.sin.data() + patch * half;
  const bool halves = table.pairs == RotaryTable::Pairs::kHalf;
  const auto size = static_cast<int64_t>(token.size());
  for (int64_t head = 0; head + 2 * half <= size; head += 2 * half) {
    float* v = token.data() + head;
    for (int64_t m = 0; m < half; ++m) {
      float& first = halves ? v[m] : v[2 * m];
      float& second = halves ? v[m + half] : v[2 * m + 1];
      const float a = first;
      const float b = second;
      first = a * cos[m] - b * sin[m];
      second = b * cos[m] + a * sin[m];
    }
  }
}

}  // namespace attnmap::ops
