#include "analysis/value_norm.h"

#include <algorithm>
#include <cmath>

#include "analysis/dot.h"
#include "attnmap/core/error.h"
#include "attnmap/ops/aligned_buffer.h"
#include "attnmap/ops/linear.h"

namespace attnmap {
namespace {

constexpr int64_t kTileTokens = 32;

// Some tokens' f_h, a head after the other: (heads, tokens, width).
class Transform {
 public:
  Transform(const Tensor& values, MatrixView output)
      : values_(values),
        output_(output),
        heads_(values.shape[0]),
        tokens_(values.shape[1]),
        value_dim_(values.shape[2]) {
    if (output.data != nullptr && output.cols != heads_ * value_dim_) {
      throw Error("value-norm: values of " + ToString(values.shape) +
                  " do not fit an output projection of " + ToString({output.rows, output.cols}));
    }
  }

  int64_t heads() const { return heads_; }
  int64_t tokens() const { return tokens_; }
  int64_t width() const { return output_.data != nullptr ? output_.rows : heads_ * value_dim_; }

  // NOLINTNEXTLINE(readability-non-const-parameter): written to through `to`
  void Fill(int64_t first, int64_t count, float* out) const {
    for (int64_t head = 0; head < heads_; ++head) {
      const float* from = values_.values.data() + (head * tokens_ + first) * value_dim_;
      const MatrixView values = {from, count, value_dim_, value_dim_};
      const MutableMatrixView to = {out + head * count * width(), count, width(), width()};
      if (output_.data != nullptr) {
        const MatrixView weight = {output_.data + head * value_dim_, output_.rows, value_dim_,
                                   output_.stride};
        ops::Linear(values, weight, nullptr, {}, to);
        continue;
      }
      for (int64_t i = 0; i < count; ++i) {
        std::fill_n(to.row(i), width(), 0.0F);
        std::copy_n(values.row(i), value_dim_, to.row(i) + head * value_dim_);
      }
    }
  }

 private:
  const Tensor& values_;
  MatrixView output_;
  int64_t heads_;
  int64_t tokens_;
  int64_t value_dim_;
};

}  // namespace

Tensor ValueGram(const Tensor& values, MatrixView output, ThreadPool& pool) {
  const Transform transform(values, output);
  const int64_t heads = transform.heads();
  const int64_t width = transform.width();
  Tensor gram({transform.tokens(), heads, heads});
  std::vector<ops::AlignedBuffer> scratch(static_cast<size_t>(pool.num_threads()));
  const int64_t tiles = (transform.tokens() + kTileTokens - 1) / kTileTokens;
  pool.Run(tiles, [&](int64_t tile, int worker) {
    const int64_t first = tile * kTileTokens;
    const int64_t count = std::min(kTileTokens, transform.tokens() - first);
    float* vectors = scratch[static_cast<size_t>(worker)].Reserve(heads * kTileTokens * width);
    transform.Fill(first, count, vectors);
    for (int64_t i = 0; i < count; ++i) {
      float* matrix = gram.values.data() + (first + i) * heads * heads;
      for (int64_t a = 0; a < heads; ++a) {
        for (int64_t b = a; b < heads; ++b) {
          const double dot =
              Dot(vectors + (a * count + i) * width, vectors + (b * count + i) * width, width);
          matrix[a * heads + b] = matrix[b * heads + a] = static_cast<float>(dot);
        }
      }
    }
  });
  return gram;
}

Matrix TransformedValues(const Tensor& values, MatrixView output, int64_t token) {
  const Transform transform(values, output);
  Matrix vectors(transform.heads(), transform.width());
  transform.Fill(token, 1, vectors.data());
  return vectors;
}

double FusedNorm(std::span<const float> weights, const float* gram) {
  const size_t heads = weights.size();
  double sum = 0;
  for (size_t a = 0; a < heads; ++a) {
    double row = 0;
    for (size_t b = 0; b < heads; ++b) row += static_cast<double>(gram[a * heads + b]) * weights[b];
    sum += row * weights[a];
  }
  return std::sqrt(std::max(sum, 0.0));
}

}  // namespace attnmap
