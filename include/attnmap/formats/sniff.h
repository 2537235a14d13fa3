#ifndef ATTNMAP_FORMATS_SNIFF_H_
#define ATTNMAP_FORMATS_SNIFF_H_

#include <memory>
#include <string>
#include <vector>

#include "attnmap/formats/file.h"

namespace attnmap {

enum class FileFormat {
  kJson,        // an object; whether it holds weights is for its reader to say
  kShardIndex,  // JSON with a "weight_map"
  kSafetensors,
  kNpy,
  kNpz,
  kTorch,  // either form
  kNone,   // nothing that holds weights we read
};

// What a file is, by its first bytes (and its directory, if it is a zip). With
// kNone, `refusal` says what it is instead, or that it is nothing known:
// "is HDF5 (Keras), which is not read".
struct Sniffed {
  FileFormat format = FileFormat::kNone;
  std::string refusal;
};
Sniffed SniffFile(const std::shared_ptr<const MappedFile>& file);

// Where each tensor of a sharded checkpoint lies.
struct ShardIndex {
  struct Entry {
    std::string tensor;
    size_t shard = 0;  // index into `shards`
  };
  std::vector<Entry> entries;
  std::vector<std::string> shards;  // plain file names, in order of appearance
};
// Throws Error naming the key, also for a name that could lead out of the folder.
ShardIndex ReadShardIndex(const MappedFile& file);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_SNIFF_H_
