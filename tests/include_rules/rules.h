#ifndef ATTNMAP_TESTS_INCLUDE_RULES_RULES_H_
#define ATTNMAP_TESTS_INCLUDE_RULES_RULES_H_

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace attnmap::test {

// Where below src/ a header may be included that is neither ours nor C++'s own.
struct OutsideHeader {
  std::string prefix;            // "opencv2/", or a whole name: "png.h"
  std::set<std::string> places;  // rooms, or folders of one: "image/codecs"
  int max_files = 0;             // 0: any number
};

// The tables of docs/architecture.md, which are the rules that hold.
struct Rules {
  std::map<std::string, std::set<std::string>> rooms;  // room → rooms it may include
  std::vector<OutsideHeader> outside;
};

// Throws std::runtime_error where the document has no such tables.
Rules ReadRules(const std::filesystem::path& architecture_md);

// Every broken rule below include/ and src/ of `root`, a line each: file:line: what is wrong.
std::vector<std::string> FindViolations(const std::filesystem::path& root, const Rules& rules);

// Files below tests/ and bench/ that include Catch2 themselves instead of
// "support/catch.h", which works with versions 2 and 3.
std::vector<std::string> FindDirectCatchIncludes(const std::filesystem::path& root);

}  // namespace attnmap::test

#endif  // ATTNMAP_TESTS_INCLUDE_RULES_RULES_H_
