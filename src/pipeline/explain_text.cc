#include <cmath>
#include <nlohmann/json.hpp>

#include "attnmap/core/number_text.h"
#include "attnmap/pipeline/explain.h"
#include "pipeline/text_table.h"

namespace attnmap {
namespace {

using Json = nlohmann::ordered_json;

// The first few numbers of a vector, and how many there are.
template <typename Number>
std::string Vector(const std::vector<Number>& values) {
  constexpr size_t kShown = 8;
  std::string text = "[";
  for (size_t i = 0; i < values.size() && i < kShown; ++i) {
    text += (i == 0 ? "" : ", ") + Fixed(values[i], 4);
  }
  if (values.size() > kShown) text += ", ... " + std::to_string(values.size()) + " numbers";
  return text + "]";
}

std::string ScaleText(const ExplainedHead& head) {
  const double root = 1 / std::sqrt(static_cast<double>(head.head_dim));
  if (std::abs(head.row.scale - root) < 1e-7 * root) {
    return "1/√d_k = 1/√" + std::to_string(head.head_dim) + " = " + Fixed(root, 4);
  }
  return "factor " + Fixed(head.row.scale, 4) + " (1/√d_k would be " + Fixed(root, 4) + ")";
}

std::string Table(const ExplainedHead& head, const ExplainResult& result) {
  std::string text = "   " + Left("key", 16) + Right("q·k", 12) + Right("scaled", 11) +
                     Right("exp(s - max)", 14) + Right("weight", 10) + "\n";
  // "·" takes two bytes for one column.
  text.insert(text.find("q·k"), 1, ' ');
  for (const ExplainedKey& key : head.row.strongest) {
    text += "   " + Left(TokenName(key.token, result.tokens, result.grid), 16) +
            Right(Fixed(key.score, 4), 12) + Right(Fixed(key.scaled, 4), 11) +
            Right(Fixed(key.exponential, 4), 14) + Right(Fixed(key.weight, 4), 10) + "\n";
  }
  return text;
}

std::string HeadText(const ExplainedHead& head, const ExplainResult& result) {
  const RowExplanation& row = head.row;
  const int num_tokens = result.tokens.num_tokens(result.grid);
  double shown = 0;
  for (const ExplainedKey& key : row.strongest) shown += key.weight;
  const auto entropy = [&](double value) {
    return Fixed(value, 4) + " of at most ln " + std::to_string(num_tokens) + " = " +
           Fixed(row.max_entropy, 4);
  };
  std::string text = "layer " + std::to_string(head.layer) + ", head " + std::to_string(head.head) +
                     ": how the " + result.query.label + " token listens to " +
                     std::to_string(num_tokens) + " tokens\n\n";
  text += "1. its query, d_k = " + std::to_string(head.head_dim) +
          ":\n   q = " + Vector(head.query) + "\n\n";
  text += "2. q·k with every key, times " + ScaleText(head) + ", then softmax; the strongest " +
          std::to_string(row.strongest.size()) + ":\n\n" + Table(head, result) + "\n";
  text += "   largest scaled score (subtracted so that exp cannot overflow): " +
          Fixed(row.max_scaled, 4) + "\n";
  text += "   sum of all " + std::to_string(num_tokens) + " exponentials: " + Fixed(row.sum, 4) +
          "; weight = exp / sum\n";
  text += "   weights shown: " + Fixed(shown, 4) + ", all others: " + Fixed(1 - shown, 4) +
          ", together 1\n\n";
  text += "3. what it hears, the values blended by these weights (A·V):\n   " +
          Vector(row.blended) + "\n\n";
  text += "4. why the scaling is there:\n";
  text += "   " + Left("", 16) + Left("top weight", 14) + "entropy (nats)\n";
  text += "   " + Left("as above", 16) + Left(Fixed(row.top_weight, 4), 14) + entropy(row.entropy) +
          "\n";
  text += "   " + Left("without scaling", 16) + Left(Fixed(row.unscaled_top_weight, 4), 14) +
          entropy(row.unscaled_entropy) + "\n";
  return text;
}

}  // namespace

std::string ExplainText(const ExplainResult& result) {
  std::string text;
  for (const ExplainedHead& head : result.heads) {
    if (!text.empty()) text += "\n";
    text += HeadText(head, result);
  }
  return text;
}

std::string ExplainJson(const ExplainResult& result) {
  std::string text;
  for (const ExplainedHead& head : result.heads) {
    const RowExplanation& row = head.row;
    Json keys = Json::array();
    for (const ExplainedKey& key : row.strongest) {
      keys.push_back({{"token", key.token},
                      {"name", TokenName(key.token, result.tokens, result.grid)},
                      {"score", key.score},
                      {"scaled", key.scaled},
                      {"exponential", key.exponential},
                      {"weight", key.weight}});
    }
    const Json record = {
        {"image", result.image},
        {"model", result.model},
        {"layer", head.layer},
        {"head", head.head},
        {"query", result.query.label},
        {"query_token", result.query.token},
        {"grid", {result.grid.rows, result.grid.cols}},
        {"head_dim", head.head_dim},
        {"scale", row.scale},
        {"query_vector", head.query},
        {"strongest", std::move(keys)},
        {"max_scaled", row.max_scaled},
        {"sum", row.sum},
        {"output", row.blended},
        {"entropy", row.entropy},
        {"top_weight", row.top_weight},
        {"entropy_unscaled", row.unscaled_entropy},
        {"top_weight_unscaled", row.unscaled_top_weight},
        {"entropy_max", row.max_entropy},
    };
    text += record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return text;
}

}  // namespace attnmap
