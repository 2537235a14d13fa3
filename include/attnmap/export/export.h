#ifndef ATTNMAP_EXPORT_EXPORT_H_
#define ATTNMAP_EXPORT_EXPORT_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "attnmap/core/tensor.h"

namespace attnmap {

enum class ArrayFormat { kJson, kNpy, kNpz, kCsv, kSafetensors };

// One matrix to be dumped, and what it is.
struct ExportedArray {
  std::string name;  // "attention.3"
  SharedTensor tensor;
  std::optional<int> layer;
  std::string head;   // "all", "mean", "3", "0,3"; empty: does not apply
  std::string query;  // "class", "all", ...; empty: does not apply
};

// Throws UsageError where a format cannot hold the arrays: npy and csv take
// one (csv of rank <= 2), and Error where two have one name.
void CheckExport(ArrayFormat format, std::span<const ExportedArray> arrays);

// Writes one file, beside `path` and then renamed. JSON of one array is
// {"name","shape","layer","head","query","data"}, null for what does not
// apply; of several an object of such objects keyed by name. Throws as
// CheckExport, before anything is written.
void ExportArrays(const std::string& path, ArrayFormat format,
                  std::span<const ExportedArray> arrays);

// The bytes of that file, for standard output.
std::string ExportBytes(ArrayFormat format, std::span<const ExportedArray> arrays);

}  // namespace attnmap

#endif  // ATTNMAP_EXPORT_EXPORT_H_
