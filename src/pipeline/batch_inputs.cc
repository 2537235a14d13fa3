#include "attnmap/pipeline/batch_inputs.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include "attnmap/core/error.h"
#include "attnmap/formats/file.h"

namespace attnmap {
namespace {

namespace fs = std::filesystem;

// A file found, the folder its output's structure starts at, and that folder's name.
struct Found {
  fs::path path;
  fs::path relative;  // below the root
  std::string root;   // the root's own name, for telling two roots apart
  std::string error;
};

std::string LowerExtension(const fs::path& path) {
  std::string text = path.extension().string();
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool LooksLikePicture(const fs::path& path) {
  static constexpr std::array<std::string_view, 18> kEndings = {
      ".jpg",  ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".bmp", ".dib", ".tif",
      ".tiff", ".pbm",  ".pgm", ".ppm",  ".pnm", ".jp2",  ".npy", ".sr",  ".ras"};
  const std::string ending = LowerExtension(path);
  return std::find(kEndings.begin(), kEndings.end(), ending) != kEndings.end();
}

bool IsEarlierResult(const fs::path& path) { return path.stem().extension() == ".attnmap"; }

bool IsList(const fs::path& path) {
  const std::string ending = LowerExtension(path);
  return ending == ".txt" || ending == ".lst" || ending == ".list";
}

bool HasWildcard(std::string_view text) {
  return text.find_first_of("*?[") != std::string_view::npos;
}

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::vector<std::string> Parts(const fs::path& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : path) parts.push_back(part.string());
  return parts;
}

// Part by part; `**` stands for any number of folders, none included.
bool MatchesGlob(const std::vector<std::string>& pattern, size_t p,
                 const std::vector<std::string>& path, size_t i) {
  if (p == pattern.size()) return i == path.size();
  if (pattern[p] == "**") {
    return MatchesGlob(pattern, p + 1, path, i) ||
           (i < path.size() && MatchesGlob(pattern, p, path, i + 1));
  }
  return i < path.size() && fnmatch(pattern[p].c_str(), path[i].c_str(), FNM_PERIOD) == 0 &&
         MatchesGlob(pattern, p + 1, path, i + 1);
}

class Collector {
 public:
  explicit Collector(const std::string& output_dir) {
    std::error_code error;
    skip_ = fs::weakly_canonical(output_dir, error);
  }

  void Add(const std::string& input) {
    std::error_code error;
    if (input == "-") {
      AddList(ReadFile("-"));
    } else if (fs::is_directory(input, error)) {
      AddFolder(input);
    } else if (!Exists(input) && HasWildcard(input)) {
      AddGlob(input);
    } else if (IsList(input) && Exists(input)) {
      AddList(ReadFile(input));
    } else {
      plain_.emplace_back(input);
    }
  }

  std::vector<Found> Finish() {
    AddPlain();
    return std::move(found_);
  }

 private:
  bool IsSkipped(const fs::path& folder) const {
    std::error_code error;
    return !skip_.empty() && fs::weakly_canonical(folder, error) == skip_;
  }

  // Files below a folder, sorted, so that runs and shards agree on the order.
  // A folder that cannot be read is one failed item, not the end of the batch.
  void Walk(const fs::path& folder, std::vector<fs::path>& files, std::set<fs::path>& visited,
            const fs::path& root) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (!error && !visited.insert(real).second) return;  // a link back up
    std::vector<fs::path> entries;
    fs::directory_iterator it(folder, error);
    if (error) {
      found_.push_back(
          {folder, fs::relative(folder, root), {}, "cannot read the folder: " + error.message()});
      return;
    }
    for (const fs::directory_iterator end; it != end; it.increment(error)) {
      entries.push_back(it->path());
      if (error) break;
    }
    std::sort(entries.begin(), entries.end());
    for (const fs::path& entry : entries) {
      if (fs::is_directory(entry, error)) {
        if (!IsSkipped(entry)) Walk(entry, files, visited, root);
      } else {
        files.push_back(entry);
      }
    }
  }

  void AddFolder(const fs::path& folder) {
    std::vector<fs::path> files;
    std::set<fs::path> visited;
    Walk(folder, files, visited, folder);
    const std::string root = RootName(folder);
    for (const fs::path& file : files) {
      if (!LooksLikePicture(file) || IsEarlierResult(file)) continue;
      found_.push_back({file, file.lexically_relative(folder), root, {}});
    }
  }

  // The pattern's folders without a wildcard are the root; `**` is any depth.
  void AddGlob(const std::string& pattern) {
    fs::path root;
    for (const fs::path& part : fs::path(pattern).parent_path()) {
      if (HasWildcard(part.string())) break;
      root /= part;
    }
    const fs::path base = root.empty() ? fs::path(".") : root;
    std::vector<fs::path> files;
    std::set<fs::path> visited;
    if (Exists(base)) Walk(base, files, visited, base);
    const std::vector<std::string> parts = Parts(pattern);
    size_t matches = 0;
    for (const fs::path& file : files) {
      const fs::path path = root.empty() ? file.lexically_relative(".") : file;
      if (IsEarlierResult(path) || !MatchesGlob(parts, 0, Parts(path), 0)) continue;
      found_.push_back({path, file.lexically_relative(base), RootName(base), {}});
      ++matches;
    }
    if (matches == 0) {
      found_.push_back({pattern, fs::path(pattern).filename(), {}, "no file matches this pattern"});
    }
  }

  void AddList(const std::vector<uint8_t>& bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const char separator = text.find('\0') != std::string_view::npos ? '\0' : '\n';
    for (size_t begin = 0; begin < text.size();) {
      size_t end = text.find(separator, begin);
      if (end == std::string_view::npos) end = text.size();
      std::string_view line = text.substr(begin, end - begin);
      if (separator == '\n' && line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty()) plain_.emplace_back(line);
      begin = end + 1;
    }
  }

  // Plain files keep what lies below their common folder.
  void AddPlain() {
    fs::path common;
    bool first = true;
    for (const fs::path& path : plain_) {
      const fs::path folder = path.lexically_normal().parent_path();
      if (first) {
        common = folder;
        first = false;
        continue;
      }
      fs::path shared;
      auto a = common.begin();
      auto b = folder.begin();
      for (; a != common.end() && b != folder.end() && *a == *b; ++a, ++b) shared /= *a;
      common = shared;
    }
    for (const fs::path& path : plain_) {
      const fs::path normal = path.lexically_normal();
      fs::path relative = common.empty() ? normal : normal.lexically_relative(common);
      if (relative.is_absolute()) relative = relative.relative_path();
      const bool climbs = relative.empty() || *relative.begin() == "..";
      found_.push_back({path, climbs ? path.filename() : relative, RootName(common), {}});
    }
  }

  static std::string RootName(const fs::path& folder) {
    std::error_code error;
    return fs::absolute(folder / ".", error).lexically_normal().parent_path().filename().string();
  }

  fs::path skip_;
  std::vector<fs::path> plain_;
  std::vector<Found> found_;
};

fs::path WithoutExtension(fs::path path) { return path.replace_extension(); }

// Names tried in turn for those that would be one file.
fs::path Candidate(const Found& found, int attempt) {
  const fs::path named = attempt == 0 ? WithoutExtension(found.relative) : found.relative;
  return attempt < 2 || found.root.empty() ? named : fs::path(found.root) / named;
}

}  // namespace

std::vector<BatchItem> CollectBatch(const std::vector<std::string>& inputs,
                                    const std::string& output_dir, const std::string& suffix) {
  Collector collector(output_dir);
  for (const std::string& input : inputs) collector.Add(input);
  std::vector<Found> all = collector.Finish();

  std::vector<Found> found;
  std::set<fs::path> seen;
  for (Found& item : all) {
    std::error_code error;
    const fs::path real = fs::weakly_canonical(item.path, error);
    if (seen.insert(error ? item.path : real).second) found.push_back(std::move(item));
  }

  std::vector<int> attempts(found.size(), 0);
  constexpr int kAttempts = 3;
  for (int round = 0; round + 1 < kAttempts; ++round) {
    std::map<fs::path, std::vector<size_t>> users;
    for (size_t i = 0; i < found.size(); ++i) {
      users[Candidate(found[i], attempts[i])].push_back(i);
    }
    for (const auto& [name, indices] : users) {
      if (indices.size() < 2) continue;
      for (size_t i : indices) attempts[i] = std::min(attempts[i] + 1, kAttempts - 1);
    }
  }

  std::vector<BatchItem> items;
  std::map<fs::path, std::string> taken;
  for (size_t i = 0; i < found.size(); ++i) {
    fs::path output = fs::path(output_dir) / Candidate(found[i], attempts[i]);
    output += suffix;
    BatchItem item{found[i].path.string(), output.string(), found[i].error};
    const auto [it, fresh] = taken.emplace(output, item.image);
    if (!fresh && item.error.empty()) {
      item.error = "its output " + item.output + " is already that of " + it->second;
    }
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace attnmap
