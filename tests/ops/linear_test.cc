#include "attnmap/ops/linear.h"

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "attnmap/ops/bfloat16.h"
#include "ops/support.h"

namespace attnmap::ops {
namespace {

using test::ForEachInstructionSet;
using test::RandomMatrix;

// x . weight^T in double.
double Dot(const Matrix& x, int64_t i, const Matrix& weight, int64_t j) {
  double sum = 0;
  for (int64_t k = 0; k < x.cols(); ++k) sum += static_cast<double>(x.at(i, k)) * weight.at(j, k);
  return sum;
}

// What float32 sums of `depth` products of unit variance may be off by.
double Tolerance(int64_t depth) { return 4e-7 * static_cast<double>(depth) + 1e-6; }

struct Size {
  int64_t rows, depth, cols;
};

const Size kSizes[] = {{1, 1, 1},     {1, 64, 16},   {2, 7, 5},      {3, 3, 17},   {5, 24, 33},
                       {13, 96, 100}, {31, 65, 128}, {131, 40, 130}, {7, 769, 40}, {250, 1600, 47}};

TEST_CASE("a product agrees with double precision at every size, tails included") {
  for (const Size& size : kSizes) {
    const Matrix x = RandomMatrix(size.rows, size.depth, 1);
    const Matrix weight = RandomMatrix(size.cols, size.depth, 2);
    const std::vector<float> bias(RandomMatrix(1, size.cols, 3).values());
    const PackedMatrix packed(weight.view());
    ForEachInstructionSet([&] {
      INFO(size.rows << " x " << size.depth << " x " << size.cols);
      Matrix out(size.rows, size.cols);
      Linear(x.view(), packed.view(), bias.data(), {}, out.view());
      double worst = 0;
      for (int64_t i = 0; i < size.rows; ++i) {
        for (int64_t j = 0; j < size.cols; ++j) {
          const double expected = Dot(x, i, weight, j) + bias[static_cast<size_t>(j)];
          worst = std::max(worst, std::abs(out.at(i, j) - expected));
        }
      }
      CHECK(worst < Tolerance(size.depth));
    });
  }
}

TEST_CASE("plain and packed weights give the same bits") {
  for (const Size& size : kSizes) {
    const Matrix x = RandomMatrix(size.rows, size.depth, 1);
    const Matrix weight = RandomMatrix(size.cols, size.depth, 2);
    Matrix packed_out(size.rows, size.cols);
    Matrix plain_out(size.rows, size.cols);
    Linear(x.view(), PackedMatrix(weight.view()).view(), nullptr, {}, packed_out.view());
    Linear(x.view(), weight.view(), nullptr, {}, plain_out.view());
    CHECK(packed_out.values() == plain_out.values());
  }
}

TEST_CASE("the division of rows among calls changes no bit") {
  const Matrix x = RandomMatrix(200, 800, 1);
  const Matrix weight = RandomMatrix(90, 800, 2);
  const PackedMatrix packed(weight.view());
  ForEachInstructionSet([&] {
    Matrix whole(200, 90);
    Linear(x.view(), packed.view(), nullptr, {}, whole.view());
    Matrix parts(200, 90);
    int64_t row = 0;
    for (int64_t step = 1; row < 200; ++step) {
      const int64_t rows = std::min(step, 200 - row);
      Linear({x.view().row(row), rows, 800, 800}, packed.view(), nullptr, {},
             {parts.view().row(row), rows, 90, 90});
      row += rows;
    }
    CHECK(whole.values() == parts.values());
  });
}

TEST_CASE("the division of columns among calls changes no bit, and none is written twice") {
  const int64_t rows = 150;
  const int64_t depth = 1600;  // sums in more than one part
  const int64_t cols = 330;
  const Matrix x = RandomMatrix(rows, depth, 1);
  const Matrix weight = RandomMatrix(cols, depth, 2);
  const Matrix bias = RandomMatrix(1, cols, 3);
  const Matrix factor = RandomMatrix(rows, cols, 4);
  const Matrix scale = RandomMatrix(1, cols, 5);
  const Matrix residual = RandomMatrix(rows, cols, 6);
  for (const bool pairs : {false, true}) {
    const PackedMatrix packed(weight.view(), pairs);
    AlignedBuffer words;
    const MatrixView input = LinearInput(x.view(), packed.view(), words);
    ForEachInstructionSet([&] {
      const auto multiply = [&](std::initializer_list<ColumnRange> ranges) {
        Matrix out = residual;  // in place: what is written twice is wrong
        const Epilogue epilogue = {.activation = Activation::kGelu,
                                   .factor = factor.view(),
                                   .scale = scale.data(),
                                   .residual = out.view()};
        for (const ColumnRange& range : ranges) {
          LinearColumns(input, packed.view(), range, bias.data(), epilogue, out.view());
        }
        return out.values();
      };
      const std::vector<float> whole = multiply({{0, cols}});
      CHECK(multiply({{256, 74}, {0, 48}, {48, 208}}) == whole);
      CHECK(multiply({{0, 16}, {16, 144}, {160, 160}, {320, 10}, {320, 0}}) == whole);
    });
  }
}

TEST_CASE("the epilogue acts in its order: bias, activation, factor, scale, residual") {
  const int64_t rows = 9;
  const int64_t cols = 37;
  const Matrix x = RandomMatrix(rows, 20, 1);
  const Matrix weight = RandomMatrix(cols, 20, 2);
  const Matrix bias = RandomMatrix(1, cols, 3);
  const Matrix factor = RandomMatrix(rows, cols, 4);
  const Matrix scale = RandomMatrix(1, cols, 5);
  const Matrix residual = RandomMatrix(rows, cols, 6);
  ForEachInstructionSet([&] {
    Matrix out = residual;  // in place
    const Epilogue epilogue = {.activation = Activation::kSilu,
                               .factor = factor.view(),
                               .scale = scale.data(),
                               .residual = out.view()};
    Linear(x.view(), weight.view(), bias.data(), epilogue, out.view());
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < cols; ++j) {
        const double z = Dot(x, i, weight, j) + bias.at(0, j);
        const double silu = z / (1 + std::exp(-z));
        const double expected = residual.at(i, j) + scale.at(0, j) * factor.at(i, j) * silu;
        REQUIRE(out.at(i, j) == Approx(expected).margin(2e-5));
      }
    }
  });
}

TEST_CASE("a result within a wider matrix leaves its neighbours alone") {
  const Matrix x = RandomMatrix(5, 12, 1);
  const Matrix weight = RandomMatrix(10, 12, 2);
  ForEachInstructionSet([&] {
    Matrix wide(5, 30);
    for (float& v : wide.values()) v = 7;
    Linear(x.view(), weight.view(), nullptr, {}, {wide.data() + 3, 5, 10, 30});
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t j = 0; j < 30; ++j) {
        const bool inside = j >= 3 && j < 13;
        REQUIRE(wide.at(i, j) ==
                (inside ? Approx(Dot(x, i, weight, j - 3)).margin(1e-5) : Approx(7.0F).margin(0)));
      }
    }
  });
}

TEST_CASE("panels filled piece by piece equal those filled at once") {
  const Matrix keys = RandomMatrix(45, 24, 1);
  AlignedBuffer whole(PanelFloats(24, 45));
  AlignedBuffer pieces(PanelFloats(24, 45));
  PackColumns(keys.view(), 0, MakePanels(whole.data(), 24, 45));
  for (int64_t first : {30, 0, 13}) {
    const int64_t end = first == 0 ? 13 : first == 13 ? 30 : 45;
    PackColumns({keys.view().row(first), end - first, 24, 24}, first,
                MakePanels(pieces.data(), 24, 45));
  }
  CHECK(std::equal(whole.data(), whole.data() + whole.size(), pieces.data()));
}

TEST_CASE("weights times values, added up over parts of the depth") {
  const Matrix weights = RandomMatrix(11, 50, 1);
  const Matrix values = RandomMatrix(50, 20, 2);
  AlignedBuffer buffer(PanelFloats(50, 20));
  const MutablePanels panels = MakePanels(buffer.data(), 50, 20);
  PackRows(values.view(), 0, panels);
  const PanelView view = panels;
  ForEachInstructionSet([&] {
    Matrix out(11, 32);  // room for whole panels
    const MutableMatrixView to = {out.data(), 11, 20, 32};
    Multiply({weights.data(), 11, 30, 50}, view.Depth(0, 30), false, to);
    Multiply({weights.data() + 30, 11, 20, 50}, view.Depth(30, 20), true, to);
    for (int64_t i = 0; i < 11; ++i) {
      for (int64_t j = 0; j < 20; ++j) {
        double expected = 0;
        for (int64_t k = 0; k < 50; ++k) expected += double{weights.at(i, k)} * values.at(k, j);
        REQUIRE(out.at(i, j) == Approx(expected).margin(2e-5));
      }
    }
  });
}

TEST_CASE("dot products of random vectors have the variance d, and 1 when scaled by 1/sqrt(d)") {
  for (int64_t d : {4, 64, 256}) {
    const int64_t count = 600;
    const Matrix queries = RandomMatrix(count, d, 11);
    const Matrix keys = RandomMatrix(count, d, 12);
    Matrix scores(count, count);
    Linear(queries.view(), keys.view(), nullptr, {}, scores.view());
    double sum = 0;
    double squares = 0;
    for (float s : scores.values()) {
      sum += s;
      squares += static_cast<double>(s) * s;
    }
    const auto n = static_cast<double>(scores.values().size());
    const double variance = squares / n - (sum / n) * (sum / n);
    INFO("d = " << d);
    CHECK(variance == Approx(static_cast<double>(d)).epsilon(0.05));
    CHECK(variance / static_cast<double>(d) == Approx(1.0).epsilon(0.05));
  }
}

// x rounded to bfloat16 by the textbook: to the nearest, ties to even.
float Bfloat16(float x) {
  uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  const uint32_t rest = bits & 0xFFFF;
  bits -= rest;
  if (rest > 0x8000 || (rest == 0x8000 && (bits & 0x10000) != 0)) bits += 0x10000;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

std::pair<float, float> TermsOf(float word) {
  uint32_t bits = 0;
  std::memcpy(&bits, &word, sizeof bits);
  const uint32_t halves[2] = {bits << 16, bits & 0xFFFF0000};
  std::pair<float, float> terms;
  std::memcpy(&terms.first, &halves[0], sizeof(float));
  std::memcpy(&terms.second, &halves[1], sizeof(float));
  return terms;
}

TEST_CASE("pairs hold neighbouring terms, each rounded to the nearest bfloat16") {
  for (const int64_t depth : {1, 2, 7, 15, 32, 33, 100}) {
    Matrix rows = RandomMatrix(3, depth, 4);
    rows.values()[0] = 1.00390625F;                 // a tie, down to even
    if (depth > 1) rows.values()[1] = 1.01171875F;  // a tie, up to even
    ForEachInstructionSet([&] {
      Matrix words(3, PairCount(depth));
      ToPairs(rows.view(), words.view());
      for (int64_t i = 0; i < 3; ++i) {
        for (int64_t k = 0; k < depth; k += 2) {
          const auto [low, high] = TermsOf(words.at(i, k / 2));
          CHECK(low == Bfloat16(rows.at(i, k)));
          CHECK(high == (k + 1 < depth ? Bfloat16(rows.at(i, k + 1)) : 0.0F));
        }
      }
    });
  }
  Matrix nan(1, 2);
  nan.values() = {std::nanf(""), -std::numeric_limits<float>::infinity()};
  Matrix word(1, 1);
  ToPairs(nan.view(), word.view());
  CHECK(std::isnan(TermsOf(word.at(0, 0)).first));
  CHECK(TermsOf(word.at(0, 0)).second == nan.values()[1]);
}

TEST_CASE("a product of bfloat16 pairs is the product of the rounded numbers, summed in float32") {
  for (const Size& size : kSizes) {
    Matrix x = RandomMatrix(size.rows, size.depth, 1);
    Matrix weight = RandomMatrix(size.cols, size.depth, 2);
    const std::vector<float> bias(RandomMatrix(1, size.cols, 3).values());
    const PackedMatrix packed(weight.view(), true);
    std::vector<Matrix> results;
    ForEachInstructionSet([&] {
      results.emplace_back(size.rows, size.cols);
      Linear(x.view(), packed.view(), bias.data(), {}, results.back().view());
    });
    for (float& v : x.values()) v = Bfloat16(v);
    for (float& v : weight.values()) v = Bfloat16(v);
    INFO(size.rows << " x " << size.depth << " x " << size.cols);
    for (const Matrix& out : results) {
      double worst = 0;
      for (int64_t i = 0; i < size.rows; ++i) {
        for (int64_t j = 0; j < size.cols; ++j) {
          const double expected = Dot(x, i, weight, j) + bias[static_cast<size_t>(j)];
          worst = std::max(worst, std::abs(out.at(i, j) - expected));
        }
      }
      CHECK(worst < Tolerance(size.depth));
    }
  }
}

}  // namespace
}  // namespace attnmap::ops
