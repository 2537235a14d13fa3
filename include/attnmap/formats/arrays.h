#ifndef ATTNMAP_FORMATS_ARRAYS_H_
#define ATTNMAP_FORMATS_ARRAYS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attnmap/core/tensor.h"
#include "attnmap/formats/archive.h"
#include "attnmap/formats/file.h"

namespace attnmap {

// ---- reading ----
std::unique_ptr<TensorArchive> OpenSafetensors(std::shared_ptr<const MappedFile> file);
std::unique_ptr<TensorArchive> OpenNpz(std::shared_ptr<const MappedFile> file);
// One array; the archive's only tensor is named "".
std::unique_ptr<TensorArchive> OpenNpy(std::shared_ptr<const MappedFile> file);
// torch.save's zip form, TorchScript archives included, and its older form.
std::unique_ptr<TensorArchive> OpenTorch(std::shared_ptr<const MappedFile> file);

// ---- writing: bytes of a whole file ----
std::vector<uint8_t> NpyBytes(const Shape& shape, std::span<const float> values);

// A named array to be written, someone else's numbers.
struct ArrayToWrite {
  std::string name;
  Shape shape;
  std::span<const float> values;
};
void WriteNpz(const std::string& path, std::span<const ArrayToWrite> arrays);
// `type`: kF32, kF16 or kBF16 (round to nearest even). `metadata`: key, value pairs.
void WriteSafetensors(const std::string& path, std::span<const ArrayToWrite> arrays,
                      DataType type = DataType::kF32,
                      std::span<const std::pair<std::string, std::string>> metadata = {});
// Rank <= 2: a line a row, comma separated, fewest digits that read back the same.
std::string CsvText(const Shape& shape, std::span<const float> values);

// The fewest digits that read back as the same float32, as JSON and CSV want it.
void AppendFloat(std::string& text, float value);
// Nested arrays: [[1,2],[3,4]].
void AppendJsonArray(std::string& text, const Shape& shape, std::span<const float> values);

}  // namespace attnmap

#endif  // ATTNMAP_FORMATS_ARRAYS_H_
