#include "model/tower.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include "attnmap/core/error.h"
#include "model/limits.h"

namespace attnmap {
namespace {

using CleanNames = std::map<std::string, std::string, std::less<>>;  // cleaned -> the file's

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void RemoveComponent(std::string& name, std::string_view component) {
  const std::string text = std::string(component) + ".";
  size_t at = 0;
  while ((at = name.find(text, at)) != std::string::npos) {
    if (at == 0 || name[at - 1] == '.') {
      name.erase(at, text.size());
    } else {
      at += 1;
    }
  }
}

// What stands in front of the anchor where the name ends with it.
std::optional<std::string> PrefixBefore(std::string_view name, std::string_view anchor) {
  if (!name.ends_with(anchor)) return std::nullopt;
  const std::string_view prefix = name.substr(0, name.size() - anchor.size());
  if (!prefix.empty() && prefix.back() != '.' && prefix.back() != '/') return std::nullopt;
  return std::string(prefix);
}

struct Candidate {
  const Layout* layout;
  std::string prefix;
};

bool HasSiblings(const CleanNames& names, const Candidate& candidate) {
  bool all = true;
  ForEachAlias(candidate.layout->siblings, [&](Aliases sibling) {
    all = all && names.contains(candidate.prefix + std::string(sibling));
  });
  return all;
}

std::vector<Candidate> FindCandidates(const CleanNames& names) {
  std::vector<Candidate> candidates;
  for (const Layout* layout : Layouts()) {
    ForEachAlias(layout->anchor, [&](Aliases anchor) {
      for (const auto& [name, original] : names) {
        if (const auto prefix = PrefixBefore(name, anchor)) {
          const Candidate candidate = {layout, *prefix};
          if (HasSiblings(names, candidate)) candidates.push_back(candidate);
        }
      }
    });
  }
  return candidates;
}

bool HasWord(std::string_view prefix, std::string_view word) {
  size_t begin = 0;
  while (begin < prefix.size()) {
    const size_t end = std::min(prefix.find_first_of("._/", begin), prefix.size());
    if (prefix.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

// Lower is better.
std::tuple<int, size_t, std::string> Rank(const Candidate& candidate) {
  const std::string& prefix = candidate.prefix;
  int kind = 3;
  if (HasWord(prefix, "teacher")) {
    kind = 0;
  } else if (HasWord(prefix, "ema")) {
    kind = 1;
  } else if (prefix.find("target_encoder") != std::string::npos) {
    kind = 2;
  } else if (HasWord(prefix, "student")) {
    kind = 4;
  }
  return {kind, prefix.size(), prefix};
}

// "a.b." -> "a.".
std::string ParentPrefix(std::string_view prefix) {
  if (prefix.empty()) return "";
  const size_t end = prefix.find_last_of("./", prefix.size() - 2);
  return end == std::string_view::npos ? "" : std::string(prefix.substr(0, end + 1));
}

// DINOv2's training files: "blocks.CHUNK.LAYER." -> "blocks.LAYER.".
std::string WithoutChunk(const std::string& name) {
  constexpr std::string_view kBlocks = "blocks.";
  if (!name.starts_with(kBlocks)) return name;
  const size_t first = name.find('.', kBlocks.size());
  if (first == std::string::npos) return name;
  const size_t second = name.find('.', first + 1);
  if (second == std::string::npos) return name;
  if (!IsDigits(std::string_view(name).substr(kBlocks.size(), first - kBlocks.size())) ||
      !IsDigits(std::string_view(name).substr(first + 1, second - first - 1))) {
    return name;
  }
  return std::string(kBlocks) + name.substr(first + 1);
}

void CollectNames(const CleanNames& names, Tower& tower) {
  const std::string parent = ParentPrefix(tower.prefix);
  for (const auto& [name, original] : names) {
    const bool inside = name.starts_with(tower.prefix);
    if (inside) tower.names.emplace(WithoutChunk(name.substr(tower.prefix.size())), original);
    if (name.starts_with(parent) && (!inside || tower.prefix.empty())) {
      tower.names.emplace("^" + name.substr(parent.size()), original);
    }
  }
}

// The number of blocks whose names start with `block`; 0 where there is no block 0.
int CountBlocks(const Tower& tower, std::string_view block) {
  const std::string_view before = block.substr(0, block.find("{}"));
  const std::string_view after = block.substr(block.find("{}") + 2);
  int count = 0;
  bool has_first = false;
  for (auto it = tower.names.lower_bound(before);
       it != tower.names.end() && it->first.starts_with(before); ++it) {
    const std::string_view rest = std::string_view(it->first).substr(before.size());
    int number = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || number < 0) continue;
    if (!rest.substr(static_cast<size_t>(end - rest.data())).starts_with(after)) continue;
    has_first = has_first || number == 0;
    count = std::max(count, std::min(number, kMaxLayers) + 1);
  }
  return has_first ? count : 0;
}

}  // namespace

std::string WithoutWrappers(std::string_view name) {
  std::string result(name);
  for (std::string_view component :
       {"_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"}) {
    RemoveComponent(result, component);
  }
  while (result.starts_with("module.")) result.erase(0, 7);
  return result;
}

Tower FindTower(const WeightSource& source) {
  CleanNames names;
  for (const TensorInfo& info : source.tensors()) {
    names.emplace(WithoutWrappers(info.name), info.name);
  }
  std::vector<Candidate> candidates = FindCandidates(names);
  Tower tower;
  if (candidates.empty()) return tower;
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return Rank(a) < Rank(b); });
  tower.layout = candidates[0].layout;
  tower.prefix = candidates[0].prefix;
  for (const Candidate& other : candidates) {
    if (other.prefix != tower.prefix) tower.passed_over.push_back(other.prefix);
  }
  CollectNames(names, tower);
  ForEachAlias(tower.layout->block, [&](Aliases block) {
    if (tower.num_layers > 0) return;
    tower.num_layers = CountBlocks(tower, block);
    tower.block = block;
  });
  if (tower.num_layers > kMaxLayers) {
    throw Error(source.path() + ": more than " + std::to_string(kMaxLayers) + " blocks");
  }
  return tower;
}

}  // namespace attnmap
