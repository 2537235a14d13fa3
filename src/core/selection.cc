#include "attnmap/core/selection.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "attnmap/core/error.h"
#include "attnmap/core/number_text.h"

namespace attnmap {
namespace {

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

// Two numbers around a separator.
template <typename Number>
std::optional<std::pair<Number, Number>> ParsePair(std::string_view text, char separator) {
  const size_t at = text.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  const auto first = ParseNumber<Number>(text.substr(0, at));
  const auto second = ParseNumber<Number>(text.substr(at + 1));
  if (!first || !second) return std::nullopt;
  return std::pair{*first, *second};
}

std::string Shown(double value) { return Significant(value, 6); }

std::string Range(int count) {
  return count == 1 ? std::string("only 0") : "0 to " + std::to_string(count - 1);
}

}  // namespace

LayerChoice ParseLayerChoice(std::string_view text) {
  if (text == "last") return {};
  if (text == "all") return {.begin = 0, .end = 0, .open_end = true, .single = false};
  if (const auto layer = ParseNumber<int>(text)) {
    return {.begin = *layer, .end = 0, .open_end = true, .single = true};
  }
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    LayerChoice choice{.begin = 0, .end = 0, .open_end = true, .single = false};
    const std::string_view first = text.substr(0, colon);
    const std::string_view second = text.substr(colon + 1);
    const auto begin = ParseNumber<int>(first);
    const auto end = ParseNumber<int>(second);
    if ((first.empty() || begin) && (second.empty() || end)) {
      choice.begin = begin.value_or(0);
      choice.open_end = second.empty();
      choice.end = end.value_or(0);
      const bool same_side = begin && end && (*begin < 0) == (*end < 0);
      if (same_side && *begin >= *end) {
        throw UsageError("--layer " + Quoted(text) + " chooses nothing: B is excluded and has to " +
                         "lie beyond A");
      }
      return choice;
    }
  }
  throw UsageError("--layer " + Quoted(text) +
                   " is not a choice of layers: use last, N, -N, A:B (B excluded) or all");
}

HeadChoice ParseHeadChoice(std::string_view text) {
  const HeadFusion fusions[] = {HeadFusion::kMean, HeadFusion::kMax, HeadFusion::kMin};
  for (HeadFusion fusion : fusions) {
    if (text == FusionName(fusion)) return {HeadChoice::Kind::kFused, fusion, {}};
  }
  if (text == "all") return {HeadChoice::Kind::kAll, HeadFusion::kMean, {}};
  HeadChoice choice{HeadChoice::Kind::kList, HeadFusion::kMean, {}};
  std::string_view rest = text;
  for (;;) {
    const size_t comma = rest.find(',');
    const auto head = ParseNumber<int>(rest.substr(0, comma));
    const bool again =
        head && std::find(choice.heads.begin(), choice.heads.end(), *head) != choice.heads.end();
    if (!head || *head < 0 || again) {
      throw UsageError("--head " + Quoted(text) +
                       " is not a choice of heads: use mean, max, min, all, N or a list of "
                       "different numbers such as 0,3,5");
    }
    choice.heads.push_back(*head);
    if (comma == std::string_view::npos) return choice;
    rest.remove_prefix(comma + 1);
  }
}

QueryChoice ParseQueryChoice(std::string_view text) {
  using Kind = QueryChoice::Kind;
  struct Word {
    std::string_view word;
    Kind kind;
  };
  constexpr Word kWords[] = {
      {"class", Kind::kClass}, {"pool", Kind::kPool}, {"mean", Kind::kMean}, {"all", Kind::kAll}};
  QueryChoice choice;
  for (const Word& word : kWords) {
    if (text == word.word) {
      choice.kind = word.kind;
      return choice;
    }
  }
  if (text.starts_with("px:")) {
    const auto pixel = ParsePair<double>(text.substr(3), ',');
    if (pixel && std::isfinite(pixel->first) && std::isfinite(pixel->second)) {
      choice.kind = Kind::kPixel;
      choice.x = pixel->first;
      choice.y = pixel->second;
      return choice;
    }
  } else if (text.starts_with("token:")) {
    if (const auto token = ParseNumber<int>(text.substr(6)); token && *token >= 0) {
      choice.kind = Kind::kToken;
      choice.token = *token;
      return choice;
    }
  } else if (const auto patch = ParsePair<int>(text, ',');
             patch && patch->first >= 0 && patch->second >= 0) {
    choice.kind = Kind::kPatch;
    choice.row = patch->first;
    choice.col = patch->second;
    return choice;
  }
  throw UsageError("--query " + Quoted(text) +
                   " is not a query: use class, pool, mean, ROW,COL (a patch), px:X,Y (a pixel of "
                   "the picture), token:N, or (dump only) all");
}

std::vector<int> ResolveLayers(const LayerChoice& choice, int num_layers) {
  const auto from_start = [&](int index) { return index < 0 ? index + num_layers : index; };
  const int begin = from_start(choice.begin);
  std::vector<int> layers;
  if (choice.single) {
    if (begin < 0 || begin >= num_layers) {
      throw Error("layer " + std::to_string(choice.begin) + " does not exist: this model has " +
                  std::to_string(num_layers) + " (" + Range(num_layers) + ")");
    }
    return {begin};
  }
  const int end = choice.open_end ? num_layers : from_start(choice.end);
  if (begin < 0 || end > num_layers || begin >= end) {
    throw Error("layers " + std::to_string(choice.begin) + ":" +
                (choice.open_end ? std::string() : std::to_string(choice.end)) +
                " choose nothing or too much: this model has " + std::to_string(num_layers) + " (" +
                Range(num_layers) + ")");
  }
  for (int layer = begin; layer < end; ++layer) layers.push_back(layer);
  return layers;
}

std::vector<int> ResolveHeads(const HeadChoice& choice, int num_heads) {
  std::vector<int> heads;
  if (choice.kind == HeadChoice::Kind::kAll) {
    for (int head = 0; head < num_heads; ++head) heads.push_back(head);
  } else if (choice.kind == HeadChoice::Kind::kList) {
    for (int head : choice.heads) {
      if (head >= num_heads) {
        throw Error("head " + std::to_string(head) + " does not exist: this model has " +
                    std::to_string(num_heads) + " (" + Range(num_heads) + ")");
      }
    }
    heads = choice.heads;
  }
  return heads;
}

ResolvedQuery ResolveQuery(const QueryChoice& choice, const TokenLayout& layout,
                           const PatchGrid& grid, const ImageGeometry& geometry,
                           bool has_pool_head) {
  using Choice = QueryChoice::Kind;
  using Kind = ResolvedQuery::Kind;
  const auto patch = [&](RowsCols at) {
    const int index = grid.PatchIndex(at.rows, at.cols);
    return ResolvedQuery{Kind::kToken, layout.PatchToken(index),
                         "patch " + std::to_string(at.rows) + "," + std::to_string(at.cols)};
  };
  switch (choice.kind) {
    case Choice::kDefault:
      if (layout.has_class_token) return {Kind::kToken, layout.class_token(), "class"};
      if (has_pool_head) return {Kind::kPool, 0, "pool"};
      return {Kind::kMean, 0, "mean"};
    case Choice::kClass:
      if (!layout.has_class_token) {
        throw Error("this model has no class token: use --query " +
                    std::string(has_pool_head ? "pool, " : "") + "mean, ROW,COL or px:X,Y");
      }
      return {Kind::kToken, layout.class_token(), "class"};
    case Choice::kPool:
      if (!has_pool_head) throw Error("this model has no attention-pooling head for --query pool");
      return {Kind::kPool, 0, "pool"};
    case Choice::kMean:
      return {Kind::kMean, 0, "mean"};
    case Choice::kAll:
      return {Kind::kAll, 0, "all"};
    case Choice::kPatch:
      if (choice.row >= grid.rows || choice.col >= grid.cols) {
        throw Error("patch " + std::to_string(choice.row) + "," + std::to_string(choice.col) +
                    " does not exist: the grid has " + std::to_string(grid.rows) + " rows and " +
                    std::to_string(grid.cols) + " columns, counted from 0");
      }
      return patch({choice.row, choice.col});
    case Choice::kPixel: {
      const auto at = geometry.PatchUnder(grid, choice.x, choice.y);
      if (!at) {
        const Rect seen = geometry.SeenRect();
        throw Error("pixel " + Shown(choice.x) + "," + Shown(choice.y) +
                    " lies outside what the model saw: x from " + Shown(seen.left) + " to below " +
                    Shown(seen.right) + ", y from " + Shown(seen.top) + " to below " +
                    Shown(seen.bottom));
      }
      return patch(*at);
    }
    case Choice::kToken:
      if (choice.token >= layout.num_tokens(grid)) {
        throw Error("token " + std::to_string(choice.token) + " does not exist: there are " +
                    std::to_string(layout.num_tokens(grid)) + ", counted from 0");
      }
      return {Kind::kToken, choice.token, "token " + std::to_string(choice.token)};
  }
  throw Error("unknown kind of query");
}

std::string_view FusionName(HeadFusion fusion) {
  switch (fusion) {
    case HeadFusion::kMean:
      return "mean";
    case HeadFusion::kMax:
      return "max";
    case HeadFusion::kMin:
      return "min";
  }
  return "unknown";
}

}  // namespace attnmap
