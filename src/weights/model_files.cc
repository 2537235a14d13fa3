#include <algorithm>
#include <filesystem>

#include "attnmap/core/error.h"
#include "attnmap/weights/weight_source.h"
#include "weights/archive_source.h"
#include "weights/folder.h"

namespace attnmap {
namespace {

namespace fs = std::filesystem;

bool IsSame(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

fs::path FolderOf(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

}  // namespace

bool IsPartOfModel(const std::string& model, const std::string& file) {
  std::error_code error;
  if (!fs::exists(file, error)) return false;
  fs::path weights = model;
  if (fs::is_directory(weights, error)) {
    try {
      weights = FindWeightsInFolder(model);
    } catch (const Error&) {
      return false;  // it cannot be opened, and that will be said
    }
  }
  if (IsSame(weights, file)) return true;
  if (!IsSame(FolderOf(weights), FolderOf(file))) return false;
  const std::string name = fs::path(file).filename().string();
  if (IsSideFile(name)) return true;
  const bool sharded = weights.string().ends_with(".index.json");
  return sharded && fs::path(file).extension() == weights.stem().stem().extension();
}

}  // namespace attnmap
