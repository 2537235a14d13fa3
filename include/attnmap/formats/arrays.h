#ifndef ATTNMAP_FORMATS_ARRAYS_H_
#define ATTNMAP_FORMATS_ARRAYS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attnmap/core/tensor.h"
#include "attnmap/formats/archive.h"
#include "attnmap/formats/file.h"

namespace attnmap {

// Under this name an npz archive (as an entry) and a safetensors file (as a
// key of its metadata) may hold the JSON header of the model they come from,
// as OpenJsonWeights's Text("config") gives it.
inline constexpr char kArchiveHeader[] = "attnmap.json";

// ---- reading ----
// Text("metadata:KEY") is a value of "__metadata__"; Text("config") the one
// under kArchiveHeader.
std::unique_ptr<TensorArchive> OpenSafetensors(std::shared_ptr<const MappedFile> file);
// Text("config") is the entry called kArchiveHeader.
std::unique_ptr<TensorArchive> OpenNpz(std::shared_ptr<const MappedFile> file);
// One array; the archive's only tensor is named "".
std::unique_ptr<TensorArchive> OpenNpy(std::shared_ptr<const MappedFile> file);
// torch.save's zip form, TorchScript archives included, and its older form.
// `checkpoint_key`: which nested dictionary holds the tensors ("a.b" for b in
// a); empty: found by looking.
std::unique_ptr<TensorArchive> OpenTorch(std::shared_ptr<const MappedFile> file,
                                         const std::string& checkpoint_key = {});

// ---- writing: bytes of a whole file ----
std::vector<uint8_t> NpyBytes(const Shape& shape, std::span<const float> values);

// A named array to be written, someone else's numbers.
struct ArrayToWrite {
  std::string name;
  Shape shape;
  std::span<const float> values;
};
// A stored (not compressed) archive of one .npy an array; `header`, unless it
// is empty, becomes the entry kArchiveHeader.
std::vector<uint8_t> NpzBytes(std::span<const ArrayToWrite> arrays, const std::string& header = {});
void WriteNpz(const std::string& path, std::span<const ArrayToWrite> arrays,
              const std::string& header = {});

struct SafetensorsOptions {
  DataType type = DataType::kF32;  // kF32, kF16 or kBF16 (round to nearest even)
  std::vector<std::pair<std::string, std::string>> metadata;
};
std::vector<uint8_t> SafetensorsBytes(std::span<const ArrayToWrite> arrays,
                                      const SafetensorsOptions& options = {});
void WriteSafetensors(const std::string& path, std::span<const ArrayToWrite> arrays,
                      const SafetensorsOptions& options = {});
// The same cut into files of at most `shard_bytes` bytes of numbers (an array
// is never cut): "m.safetensors" gives m-00001-of-00003.safetensors, ... and
// m.safetensors.index.json. All of them or none. Returns their paths, the index last.
std::vector<std::string> WriteSafetensorsShards(const std::string& path,
                                                std::span<const ArrayToWrite> arrays,
                                                int64_t shard_bytes,
                                                const SafetensorsOptions& options = {});
// Rank <= 2: a line a row, comma separated, fewest digits that read back the
// same; rank 1 is one row. Throws Error for a higher rank.
std::string CsvText(const Shape& shape, std::span<const float> values);

// The fewest digits that read back as the same float32, as JSON and CSV want
// it; "nan", "inf" and "-inf" where it is not finite.
void AppendFloat(std::string& text, float value);
// Nested arrays: [[1,2],[3,4]]. What is not finite becomes null: JSON has no
// other word for it. REQUIRES: values.size() == NumElements(shape).
void AppendJsonArray(std::string& text, const Shape& shape, std::span<const float> values);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_ARRAYS_H_
