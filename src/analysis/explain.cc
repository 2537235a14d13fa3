#include "attnmap/analysis/explain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attnmap/core/error.h"

namespace attnmap {
namespace {

// Softmax of one row, with its intermediate steps.
struct Softmax {
  double max = 0;
  double sum = 0;
  std::vector<double> exponentials;

  double weight(size_t i) const { return exponentials[i] / sum; }
};

Softmax TakeSoftmax(const std::vector<double>& scaled) {
  Softmax result;
  result.max = *std::max_element(scaled.begin(), scaled.end());
  result.exponentials.reserve(scaled.size());
  for (double value : scaled) {
    result.exponentials.push_back(std::exp(value - result.max));
    result.sum += result.exponentials.back();
  }
  return result;
}

double SoftmaxEntropy(const Softmax& softmax) {
  double entropy = 0;
  for (size_t i = 0; i < softmax.exponentials.size(); ++i) {
    const double weight = softmax.weight(i);
    if (weight > 0) entropy -= weight * std::log(weight);
  }
  return entropy;
}

std::vector<double> Scores(const ExplainInput& input) {
  std::vector<double> scores(static_cast<size_t>(input.keys.rows));
  for (int64_t token = 0; token < input.keys.rows; ++token) {
    const float* key = input.keys.row(token);
    double sum = 0;
    for (size_t i = 0; i < input.query.size(); ++i) {
      sum += static_cast<double>(input.query[i]) * static_cast<double>(key[i]);
    }
    scores[static_cast<size_t>(token)] = sum;
  }
  return scores;
}

std::vector<double> Scaled(const std::vector<double>& scores, const ExplainInput& input,
                           double scale) {
  std::vector<double> scaled(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    scaled[i] = scores[i] * scale + (input.bias.empty() ? 0.0 : input.bias[i]);
    if (!std::isfinite(scaled[i])) {
      throw Error("attention of one query: the score of token " + std::to_string(i) +
                  " is not a finite number");
    }
  }
  return scaled;
}

std::vector<double> Blend(const Softmax& softmax, MatrixView values) {
  std::vector<double> blended(static_cast<size_t>(values.cols));
  for (int64_t token = 0; token < values.rows; ++token) {
    const double weight = softmax.weight(static_cast<size_t>(token));
    for (size_t i = 0; i < blended.size(); ++i) blended[i] += weight * values.row(token)[i];
  }
  return blended;
}

void Check(const ExplainInput& input) {
  const auto num_tokens = input.keys.rows;
  if (num_tokens < 1) throw Error("attention of one query: there is no key");
  if (input.keys.cols != static_cast<int64_t>(input.query.size()) ||
      input.values.rows != num_tokens ||
      (!input.bias.empty() && static_cast<int64_t>(input.bias.size()) != num_tokens)) {
    throw Error("attention of one query: a query of " + std::to_string(input.query.size()) +
                ", keys of " + ToString({num_tokens, input.keys.cols}) + ", values of " +
                ToString({input.values.rows, input.values.cols}) + " and a bias of " +
                std::to_string(input.bias.size()) + " do not fit each other");
  }
}

}  // namespace

RowExplanation ExplainRow(const ExplainInput& input) {
  Check(input);
  const std::vector<double> scores = Scores(input);
  const std::vector<double> scaled = Scaled(scores, input, input.scale);
  const Softmax softmax = TakeSoftmax(scaled);
  const Softmax unscaled = TakeSoftmax(Scaled(scores, input, 1));

  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto count = std::min(order.size(), static_cast<size_t>(std::max(input.num_strongest, 0)));
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
      [&](size_t a, size_t b) { return scaled[a] != scaled[b] ? scaled[a] > scaled[b] : a < b; });
  order.resize(count);

  RowExplanation result;
  result.scale = input.scale;
  result.max_scaled = softmax.max;
  result.sum = softmax.sum;
  for (size_t i : order) {
    result.strongest.push_back(
        {static_cast<int>(i), scores[i], scaled[i], softmax.exponentials[i], softmax.weight(i)});
  }
  result.blended = Blend(softmax, input.values);
  result.entropy = SoftmaxEntropy(softmax);
  result.top_weight = 1 / softmax.sum;  // the largest exponential is 1
  result.unscaled_entropy = SoftmaxEntropy(unscaled);
  result.unscaled_top_weight = 1 / unscaled.sum;
  result.max_entropy = std::log(static_cast<double>(scores.size()));
  return result;
}

}  // namespace attnmap
