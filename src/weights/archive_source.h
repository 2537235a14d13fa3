#ifndef ATTNMAP_WEIGHTS_ARCHIVE_SOURCE_H_
#define ATTNMAP_WEIGHTS_ARCHIVE_SOURCE_H_

#include <memory>
#include <string>

#include "attnmap/formats/archive.h"
#include "attnmap/formats/sniff.h"
#include "attnmap/weights/weight_source.h"

namespace attnmap {

// A configuration file beside `weights`, if it is one of those that are read.
bool IsSideFile(std::string_view name);
std::optional<std::string> SideFile(const std::string& weights, std::string_view name);

// The reader that the file's content asks for. Throws Error for what is no
// weights file.
std::unique_ptr<TensorArchive> OpenArchive(std::shared_ptr<const MappedFile> file,
                                           const OpenWeightsOptions& options);

// One file as a source.
std::unique_ptr<WeightSource> MakeArchiveSource(std::string path,
                                                std::unique_ptr<TensorArchive> archive);

// The files an index names as one source.
std::unique_ptr<WeightSource> MakeShardedSource(const std::string& path, const ShardIndex& index,
                                                const OpenWeightsOptions& options);

}  // namespace attnmap

#endif  // ATTNMAP_WEIGHTS_ARCHIVE_SOURCE_H_
