#include "attnmap/analysis/rollout.h"

#include <algorithm>
#include <vector>

#include "analysis/discard.h"
#include "analysis/dot.h"
#include "analysis/roll_layer.h"

namespace attnmap {
namespace {

constexpr int64_t kRowBlock = 8;      // rows that a row of weights is read for at once
constexpr int64_t kColBlock = 512;    // columns of a thread's share: they stay in cache
constexpr int64_t kZeroingRows = 16;  // rows of a thread's share while discarding

// One layer at work.
class LayerRoll {
 public:
  LayerRoll(FusedRows& layer, const RolloutRule& rule, ThreadPool& pool, std::span<double> rows)
      : layer_(layer),
        rule_(rule),
        pool_(pool),
        rows_(rows),
        num_tokens_(layer.num_tokens()),
        num_rows_(static_cast<int64_t>(rows.size()) / num_tokens_),
        sums_(rows.size()),
        norm_(static_cast<size_t>(num_tokens_)) {}

  void Run() {
    const auto square = static_cast<double>(num_tokens_) * static_cast<double>(num_tokens_);
    const auto count = static_cast<int64_t>(square * rule_.discard_ratio);
    discards_ = count > 0;
    if (discards_) smallest_ = FindSmallest(layer_, count, pool_);
    for (int64_t begin = 0; begin < num_tokens_; begin += layer_.rows_per_band()) {
      const int64_t end = std::min(begin + layer_.rows_per_band(), num_tokens_);
      if (!Matters(begin, end)) continue;
      MatrixView band = layer_.Band(begin, pool_);
      if (discards_) band = Discard(begin, band);
      AddBand(begin, band);
    }
    if (columns_normed()) NormColumns();
    std::copy(sums_.begin(), sums_.end(), rows_.begin());
  }

 private:
  bool columns_normed() const { return rule_.compat == RolloutCompat::kVitExplain; }

  // Whether a band's rows change anything: at the start most factors are 0.
  bool Matters(int64_t begin, int64_t end) const {
    if (discards_ || columns_normed()) return true;
    for (int64_t r = 0; r < num_rows_; ++r) {
      const auto first = rows_.begin() + r * num_tokens_;
      if (std::any_of(first + begin, first + end, [](double v) { return v != 0; })) return true;
    }
    return false;
  }

  MatrixView Discard(int64_t begin, MatrixView band);
  void ZeroRow(int64_t token, int64_t ties, float* row) const;
  void AddBand(int64_t begin, MatrixView band);
  void AddBlock(int64_t begin, MatrixView band, int64_t item);
  void NormColumns();

  FusedRows& layer_;
  const RolloutRule& rule_;
  ThreadPool& pool_;
  std::span<double> rows_;
  int64_t num_tokens_;
  int64_t num_rows_;
  std::vector<double> sums_;  // (asked rows, tokens)
  std::vector<double> norm_;  // (tokens): 1 / (sum of the row + 1)
  bool discards_ = false;
  Smallest smallest_;
  Matrix zeroed_;  // a band without what is discarded
};

// Entries spared count all the same; ties go in the order of their places.
void LayerRoll::ZeroRow(int64_t token, int64_t ties, float* row) const {
  const bool script = rule_.compat == RolloutCompat::kVitExplain;
  const int64_t spared = !script ? rule_.class_token : token == 0 ? 0 : -1;
  for (int64_t j = 0; j < num_tokens_; ++j) {
    const bool tie = row[j] == smallest_.threshold && ties-- > 0;
    if ((tie || row[j] < smallest_.threshold) && j != spared) row[j] = 0;
  }
}

MatrixView LayerRoll::Discard(int64_t begin, MatrixView band) {
  if (zeroed_.rows() < band.rows) zeroed_ = Matrix(band.rows, band.cols);
  std::vector<int64_t> ties(static_cast<size_t>(band.rows));
  const auto share = [&](const auto& work) {
    pool_.Run((band.rows + kZeroingRows - 1) / kZeroingRows, [&](int64_t item, int) {
      const int64_t end = std::min((item + 1) * kZeroingRows, band.rows);
      for (int64_t i = item * kZeroingRows; i < end; ++i) work(i);
    });
  };
  share([&](int64_t i) {
    ties[static_cast<size_t>(i)] = CountTies(band.row(i), band.cols, smallest_.threshold);
  });
  int64_t left = smallest_.ties;  // what later rows may still discard
  for (int64_t& count : ties) {
    const int64_t here = std::min(count, left);
    left -= here;
    count = here;
  }
  smallest_.ties = left;
  share([&](int64_t i) {
    float* row = zeroed_.view().row(i);
    std::copy_n(band.row(i), band.cols, row);
    ZeroRow(begin + i, ties[static_cast<size_t>(i)], row);
  });
  return {zeroed_.data(), band.rows, band.cols, band.cols};
}

void LayerRoll::AddBand(int64_t begin, MatrixView band) {
  pool_.Run((band.rows + kZeroingRows - 1) / kZeroingRows, [&](int64_t item, int) {
    const int64_t end = std::min((item + 1) * kZeroingRows, band.rows);
    for (int64_t i = item * kZeroingRows; i < end; ++i) {
      norm_[static_cast<size_t>(begin + i)] = 1 / (Sum(band.row(i), band.cols) + 1);
    }
  });
  const int64_t blocks = (num_rows_ + kRowBlock - 1) / kRowBlock;
  const int64_t shares = (num_tokens_ + kColBlock - 1) / kColBlock;
  pool_.Run(blocks * shares, [&](int64_t item, int) { AddBlock(begin, band, item); });
}

// Some of the asked rows and some columns: what the band's rows add to them.
void LayerRoll::AddBlock(int64_t begin, MatrixView band, int64_t item) {
  const int64_t blocks = (num_rows_ + kRowBlock - 1) / kRowBlock;
  const int64_t first_row = item % blocks * kRowBlock;
  const int64_t end_row = std::min(first_row + kRowBlock, num_rows_);
  const int64_t first_col = item / blocks * kColBlock;
  const int64_t end_col = std::min(first_col + kColBlock, num_tokens_);
  for (int64_t i = 0; i < band.rows; ++i) {
    const int64_t token = begin + i;
    const float* weights = band.row(i);
    const double norm = columns_normed() ? 1 : norm_[static_cast<size_t>(token)];
    for (int64_t r = first_row; r < end_row; ++r) {
      const double factor = rows_[static_cast<size_t>(r * num_tokens_ + token)] * norm;
      if (factor == 0) continue;
      double* sums = sums_.data() + r * num_tokens_;
      if (token >= first_col && token < end_col) sums[token] += factor;  // the identity
      for (int64_t j = first_col; j < end_col; ++j) sums[j] += factor * weights[j];
    }
  }
}

void LayerRoll::NormColumns() {
  for (int64_t r = 0; r < num_rows_; ++r) {
    double* sums = sums_.data() + r * num_tokens_;
    for (int64_t j = 0; j < num_tokens_; ++j) sums[j] *= norm_[static_cast<size_t>(j)];
  }
}

}  // namespace

void RollLayer(FusedRows& layer, const RolloutRule& rule, ThreadPool& pool,
               std::span<double> rows) {
  LayerRoll(layer, rule, pool, rows).Run();
}

void RollOut(std::span<double> rows, std::span<const MatrixView> layers, const RolloutRule& rule) {
  ThreadPool alone(1);
  for (size_t i = layers.size(); i-- > 0;) {
    KeptRows layer(layers[i]);
    RollLayer(layer, rule, alone, rows);
  }
}

}  // namespace attnmap
