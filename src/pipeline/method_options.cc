// The options of methods: words to choices, and which of them mean something.

#include <algorithm>
#include <array>
#include <span>

#include "attnmap/pipeline/options.h"
#include "pipeline/words.h"

namespace attnmap {
namespace {

constexpr Word<Method> kMethods[] = {{"attention", Method::kAttention},
                                     {"rollout", Method::kRollout},
                                     {"value-norm", Method::kValueNorm},
                                     {"similarity", Method::kSimilarity},
                                     {"pca", Method::kPca}};
constexpr Word<RolloutCompat> kCompats[] = {{"none", RolloutCompat::kNone},
                                            {"vit-explain", RolloutCompat::kVitExplain}};
constexpr Word<OutlierRule> kOutlierRules[] = {
    {"keep", OutlierRule::kKeep}, {"clip", OutlierRule::kClip}, {"exclude", OutlierRule::kExclude}};
constexpr Word<Features> kFeatures[] = {{"outputs", Features::kOutputs}, {"keys", Features::kKeys}};

// Which methods an option says something to.
struct MethodBound {
  std::string_view option;
  unsigned methods;
  bool of_selection = false;  // other words of dump's --what use it too
};

constexpr unsigned Bit(Method method) { return 1U << static_cast<unsigned>(method); }
constexpr unsigned kNotPca = ~Bit(Method::kPca);
constexpr unsigned kWithHeads = kNotPca & ~Bit(Method::kSimilarity);

constexpr MethodBound kMethodBounds[] = {{"--start-layer", Bit(Method::kRollout)},
                                         {"--discard-ratio", Bit(Method::kRollout)},
                                         {"--compat", Bit(Method::kRollout)},
                                         {"--features", Bit(Method::kSimilarity)},
                                         {"--foreground", Bit(Method::kPca)},
                                         {"--layer", kNotPca, true},
                                         {"--head", kWithHeads, true},
                                         {"--query", kNotPca, true},
                                         {"--colormap", kNotPca},
                                         {"--normalize", kNotPca},
                                         {"--shared-scale", kNotPca},
                                         {"--mass", kWithHeads},
                                         {"--contour", kWithHeads},
                                         {"--colorbar", kNotPca},
                                         {"--objects", kWithHeads}};

std::string MethodsOf(const MethodBound& bound) {
  std::string list;
  for (const Word<Method>& word : kMethods) {
    if ((bound.methods & Bit(word.value)) == 0) continue;
    list += (list.empty() ? "" : ", ") + std::string(word.text);
  }
  return list;
}

void CheckQuery(const SelectionOptions& selection) {
  using Kind = QueryChoice::Kind;
  const Kind kind = selection.query.kind;
  if (selection.method == Method::kSimilarity &&
      (kind == Kind::kDefault || kind == Kind::kMean || kind == Kind::kPool)) {
    throw UsageError(
        "--method similarity compares with one patch: name it with --query ROW,COL or px:X,Y");
  }
  const bool class_row = kind == Kind::kDefault || kind == Kind::kClass;
  if (selection.options.compat == RolloutCompat::kVitExplain && !class_row) {
    throw UsageError("--compat vit-explain reads the class token's row: leave --query out");
  }
  if (selection.method == Method::kValueNorm && kind == Kind::kPool) {
    throw UsageError("--method value-norm has no --query pool: use mean, ROW,COL or px:X,Y");
  }
}

void CheckStartLayer(const SelectionOptions& selection) {
  const int first = selection.options.start_layer;
  const LayerChoice& last = selection.layers;
  if (selection.method != Method::kRollout || !last.single) return;
  if ((first < 0) == (last.begin < 0) && first > last.begin) {
    throw UsageError("--start-layer " + std::to_string(first) + " lies behind --layer " +
                     std::to_string(last.begin) + ", the last one multiplied");
  }
}

void CheckOutliers(const SelectionOptions& selection) {
  const OutlierRule rule = selection.options.outliers;
  if (rule == OutlierRule::kKeep) return;
  const bool weights = selection.method != Method::kSimilarity && selection.method != Method::kPca;
  if (rule == OutlierRule::kClip && !weights) {
    throw UsageError("--outliers clip is for maps of weights; with --method " +
                     std::string(MethodName(selection.method)) + " use exclude");
  }
  if (selection.options.compat == RolloutCompat::kVitExplain) {
    throw UsageError("--outliers does not go with --compat vit-explain, which repeats that script");
  }
}

}  // namespace

Method ParseMethod(std::string_view text) { return Choose<Method>("--method", kMethods, text); }

RolloutCompat ParseCompat(std::string_view text) {
  return Choose<RolloutCompat>("--compat", kCompats, text);
}

OutlierRule ParseOutliers(std::string_view text) {
  return Choose<OutlierRule>("--outliers", kOutlierRules, text);
}

Features ParseFeatures(std::string_view text) {
  return Choose<Features>("--features", kFeatures, text);
}

Foreground ParseForeground(std::string_view text) {
  constexpr std::string_view kBelow = "below:";
  Foreground foreground;
  foreground.below = text.starts_with(kBelow);
  const auto number = ParseNumber<double>(foreground.below ? text.substr(kBelow.size()) : text);
  if (!number || *number < 0 || *number > 1) {
    Refuse("--foreground", text,
           "T (the first component above it) or below:T, T from 0 to 1, such as 0.4");
  }
  foreground.threshold = *number;
  return foreground;
}

double ParseDiscardRatio(std::string_view text) {
  const auto ratio = ParseNumber<double>(text);
  if (ratio && *ratio >= 0 && *ratio < 1) return *ratio;
  Refuse("--discard-ratio", text, "a share from 0 to below 1, such as 0.9");
}

std::vector<std::string> MethodBoundOptions() {
  std::vector<std::string> options;
  for (const MethodBound& bound : kMethodBounds) options.emplace_back(bound.option);
  return options;
}

void CheckMethod(const SelectionOptions& selection, bool only_maps) {
  for (const MethodBound& bound : kMethodBounds) {
    const auto& given = selection.given;
    if ((bound.methods & Bit(selection.method)) != 0 || (bound.of_selection && !only_maps) ||
        std::find(given.begin(), given.end(), bound.option) == given.end()) {
      continue;
    }
    throw UsageError(std::string(bound.option) + " does nothing with --method " +
                     std::string(MethodName(selection.method)) + ": it is for " + MethodsOf(bound));
  }
  CheckQuery(selection);
  CheckStartLayer(selection);
  CheckOutliers(selection);
}

std::string_view MethodName(Method method) { return NameOf<Method>(kMethods, method); }
std::string_view CompatName(RolloutCompat compat) {
  return NameOf<RolloutCompat>(kCompats, compat);
}
std::string_view OutlierRuleName(OutlierRule rule) {
  return NameOf<OutlierRule>(kOutlierRules, rule);
}
std::string_view FeaturesName(Features features) { return NameOf<Features>(kFeatures, features); }

}  // namespace attnmap
