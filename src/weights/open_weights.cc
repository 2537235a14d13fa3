#include <filesystem>
#include <utility>

#include "attnmap/formats/file.h"
#include "attnmap/weights/weight_source.h"
#include "weights/archive_source.h"
#include "weights/folder.h"

namespace attnmap {

std::unique_ptr<WeightSource> OpenWeights(const std::string& path,
                                          const OpenWeightsOptions& options) {
  std::error_code ignored;
  const std::string file =
      std::filesystem::is_directory(path, ignored) ? FindWeightsInFolder(path) : path;
  auto mapped = MappedFile::Open(file);
  if (SniffFile(mapped).format == FileFormat::kShardIndex) {
    return MakeShardedSource(file, ReadShardIndex(*mapped), options);
  }
  return MakeArchiveSource(file, OpenArchive(std::move(mapped), options));
}

}  // namespace attnmap
