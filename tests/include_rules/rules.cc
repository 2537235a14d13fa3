#include "include_rules/rules.h"

#include <algorithm>
#include <fstream>
#include <regex>
#include <stdexcept>

namespace attnmap::test {
namespace {

namespace fs = std::filesystem;

// The words in back quotes: "`a`, `b`" gives a and b.
std::vector<std::string> Quoted(const std::string& cell) {
  static const std::regex word("`([^`]+)`");
  std::vector<std::string> words;
  for (std::sregex_iterator it(cell.begin(), cell.end(), word), end; it != end; ++it) {
    words.push_back((*it)[1]);
  }
  return words;
}

std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  size_t begin = 1;
  for (size_t bar = line.find('|', begin); bar != std::string::npos; bar = line.find('|', begin)) {
    cells.push_back(line.substr(begin, bar - begin));
    begin = bar + 1;
  }
  return cells;
}

// The rows of the table whose header line begins with `head`, without header and rule.
std::vector<std::vector<std::string>> Table(const fs::path& file, const std::string& head) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line) && line.rfind(head, 0) != 0) continue;
  std::getline(in, line);  // |---|---|
  std::vector<std::vector<std::string>> rows;
  while (std::getline(in, line) && line.rfind('|', 0) == 0) rows.push_back(Cells(line));
  if (rows.empty()) throw std::runtime_error(file.string() + ": no table \"" + head + "\"");
  return rows;
}

std::set<std::string> AllowedRooms(const std::string& cell, const std::set<std::string>& above) {
  if (cell.find("all of the above") != std::string::npos) return above;
  std::set<std::string> allowed;
  for (const std::string& room : Quoted(cell)) allowed.insert(room);
  return allowed;
}

struct Include {
  int line = 0;
  std::string name;
  bool quoted = false;
};

std::vector<Include> ReadIncludes(const fs::path& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*(["<])([^">]+)[">])");
  std::vector<Include> includes;
  std::ifstream in(file);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    std::smatch match;
    if (std::regex_search(line, match, pattern)) {
      includes.push_back({number, match[2], match[1] == "\""});
    }
  }
  return includes;
}

std::vector<fs::path> SourceFiles(const fs::path& folder) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto extension = entry.path().extension();
    if (extension == ".h" || extension == ".cc") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool IsStandard(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9');
  });
}

class Checker {
 public:
  Checker(fs::path root, const Rules& rules) : root_(std::move(root)), rules_(rules) {}

  std::vector<std::string> Run() {
    for (const fs::path& file : SourceFiles(root_ / "include" / "attnmap")) {
      CheckFile(file, file.lexically_relative(root_ / "include" / "attnmap"), true);
    }
    for (const fs::path& file : SourceFiles(root_ / "src")) {
      CheckFile(file, file.lexically_relative(root_ / "src"), false);
    }
    CheckCounts();
    return std::move(violations_);
  }

 private:
  void CheckFile(const fs::path& file, const fs::path& inside, bool is_public) {
    const std::string room = inside.begin()->string();
    if (rules_.rooms.count(room) == 0) {
      violations_.push_back(file.lexically_relative(root_).string() + ": no room \"" + room +
                            "\" in docs/architecture.md");
      return;
    }
    for (const Include& include : ReadIncludes(file)) {
      const std::string problem = include.quoted ? OwnProblem(room, include.name, is_public)
                                                 : OutsideProblem(inside, include.name, is_public);
      if (problem.empty()) continue;
      violations_.push_back(file.lexically_relative(root_).string() + ":" +
                            std::to_string(include.line) + ": " + problem);
    }
  }

  // What is wrong with room `from` including our header `name`; empty: nothing.
  std::string OwnProblem(const std::string& from, const std::string& name, bool is_public) const {
    const std::string prefix = "attnmap/";
    const bool of_public = name.rfind(prefix, 0) == 0;
    if (is_public && !of_public) return "a public header includes the private \"" + name + "\"";
    const size_t begin = of_public ? prefix.size() : 0;
    const size_t slash = name.find('/', begin);
    if (slash == std::string::npos) return "\"" + name + "\" does not name its room";
    const std::string to = name.substr(begin, slash - begin);
    if (rules_.rooms.count(to) == 0) return "no room \"" + to + "\" for \"" + name + "\"";
    if (to == from) return "";
    if (!of_public) return "\"" + name + "\" is private to " + to;
    if (rules_.rooms.at(from).count(to) == 0) return from + " may not include " + to;
    return "";
  }

  std::string OutsideProblem(const fs::path& inside, const std::string& name, bool is_public) {
    for (const OutsideHeader& rule : rules_.outside) {
      if (name.rfind(rule.prefix, 0) != 0) continue;
      if (is_public) return "<" + name + "> in a public header";
      const std::string path = inside.string();
      const bool allowed =
          std::any_of(rule.places.begin(), rule.places.end(),
                      [&](const std::string& place) { return path.rfind(place + "/", 0) == 0; });
      if (!allowed) return "<" + name + "> does not belong here";
      users_[rule.prefix].insert("src/" + path);
      return "";
    }
    return IsStandard(name) ? "" : "<" + name + "> is not in the table of outside headers";
  }

  void CheckCounts() {
    for (const OutsideHeader& rule : rules_.outside) {
      const std::set<std::string>& users = users_[rule.prefix];
      if (rule.max_files == 0 || static_cast<int>(users.size()) <= rule.max_files) continue;
      std::string names;
      for (const std::string& user : users) names += " " + user;
      violations_.push_back("<" + rule.prefix + "> is for " + std::to_string(rule.max_files) +
                            " file, included by" + names);
    }
  }

  fs::path root_;
  const Rules& rules_;
  std::vector<std::string> violations_;
  std::map<std::string, std::set<std::string>> users_;
};

}  // namespace

Rules ReadRules(const fs::path& architecture_md) {
  Rules rules;
  std::set<std::string> above;
  for (const auto& cells : Table(architecture_md, "| room |")) {
    const std::string room = Quoted(cells.at(0)).at(0);
    rules.rooms[room] = AllowedRooms(cells.at(2), above);
    above.insert(room);
  }
  for (const auto& cells : Table(architecture_md, "| outside header |")) {
    const std::vector<std::string> rooms = Quoted(cells.at(1));
    const int max_files = cells.at(1).find("one file") != std::string::npos ? 1 : 0;
    for (const std::string& prefix : Quoted(cells.at(0))) {
      rules.outside.push_back({prefix, {rooms.begin(), rooms.end()}, max_files});
    }
  }
  return rules;
}

std::vector<std::string> FindViolations(const fs::path& root, const Rules& rules) {
  return Checker(root, rules).Run();
}

std::vector<std::string> FindDirectCatchIncludes(const fs::path& root) {
  std::vector<std::string> found;
  for (const char* folder : {"tests", "bench"}) {
    for (const fs::path& file : SourceFiles(root / folder)) {
      const std::string relative = file.lexically_relative(root).string();
      if (relative.rfind("tests/support/", 0) == 0) continue;
      for (const Include& include : ReadIncludes(file)) {
        if (include.name.rfind("catch2/", 0) == 0) {
          found.push_back(relative + ":" + std::to_string(include.line));
        }
      }
    }
  }
  return found;
}

}  // namespace attnmap::test
