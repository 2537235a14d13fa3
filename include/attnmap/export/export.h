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

// Writes one file (written beside, then renamed), or for "-" standard output's
// bytes are handed back instead. npy and csv take one array (csv of rank <= 2),
// else UsageError. JSON of one is {"name","shape","layer","head","query","data"},
// of several an object keyed by name.
void ExportArrays(const std::string& path, ArrayFormat format,
                  std::span<const ExportedArray> arrays);
std::string ExportBytes(ArrayFormat format, std::span<const ExportedArray> arrays);

}  // namespace attnmap

#endif  // ATTNMAP_EXPORT_EXPORT_H_
