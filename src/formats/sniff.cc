#include "attnmap/formats/sniff.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "attnmap/core/error.h"
#include "formats/safetensors_header.h"
#include "formats/torch_archive.h"
#include "formats/zip_archive.h"

namespace attnmap {
namespace {

using namespace std::string_view_literals;

// What is known by its first bytes and is not read.
struct Magic {
  std::string_view bytes;
  size_t offset;
  std::string_view refusal;
};
constexpr std::array kRefused = {
    Magic{"GGUF"sv, 0, "is GGUF, which is not supported yet"},
    Magic{"FUGG"sv, 0, "is big-endian GGUF, which is not read"},
    Magic{"lmgg"sv, 0, "is an old ggml file, which is not supported yet"},
    Magic{"\x89HDF"sv, 0, "is HDF5 (Keras), which is not read: save the weights as npz"},
    Magic{"ustar"sv, 257,
          "is a tar archive (or a very old PyTorch file): unpack it, or save it anew with PyTorch"},
    Magic{"version https://git-lfs"sv, 0,
          "is a Git LFS pointer, not the file itself: run 'git lfs pull' or download the file"},
    Magic{"\x1F\x8B"sv, 0, "is compressed with gzip: unpack it first"},
    Magic{"BZh"sv, 0, "is compressed with bzip2: unpack it first"},
    Magic{"\xFD"
          "7zXZ"sv,
          0, "is compressed with xz: unpack it first"},
    Magic{"\x28\xB5\x2F\xFD"sv, 0, "is compressed with zstd: unpack it first"},
    Magic{"7z\xBC\xAF"sv, 0, "is a 7-zip archive: unpack it first"},
    Magic{"TFL3"sv, 4, "is a TensorFlow Lite model, which is not read"},
    Magic{"\xFF\xD8\xFF"sv, 0, "is a picture (JPEG), not weights"},
    Magic{"\x89PNG"sv, 0, "is a picture (PNG), not weights"},
    Magic{"GIF8"sv, 0, "is a picture (GIF), not weights"},
    Magic{"WEBP"sv, 8, "is a picture (WebP), not weights"},
    Magic{"II*\0"sv, 0, "is a picture (TIFF), not weights"},
    Magic{"MM\0*"sv, 0, "is a picture (TIFF), not weights"},
    Magic{"BM"sv, 0, "is a picture (BMP), not weights"},
    Magic{"%PDF"sv, 0, "is a PDF document, not weights"},
    Magic{"\xFF\xFE"sv, 0, "is UTF-16 text: JSON must be UTF-8"},
    Magic{"\xFE\xFF"sv, 0, "is UTF-16 text: JSON must be UTF-8"},
    Magic{"PK\x05\x06"sv, 0, "is an empty zip archive"},
};

bool HasAt(std::string_view text, size_t offset, std::string_view part) {
  return text.size() >= offset && text.substr(offset).starts_with(part);
}

bool IsSafetensors(std::string_view text) {
  uint64_t length = 0;
  if (text.size() < 9) return false;
  std::memcpy(&length, text.data(), sizeof length);
  return length <= kMaxSafetensorsHeader && text[8] == '{';
}

Sniffed SniffZip(const std::shared_ptr<const MappedFile>& file) {
  const auto has = [&](const ZipArchive& zip, std::string_view ending) {
    return std::any_of(zip.entries().begin(), zip.entries().end(),
                       [&](const ZipEntry& entry) { return entry.name.ends_with(ending); });
  };
  try {
    const ZipArchive zip(file);
    if (has(zip, "/data.pkl") || zip.Find("data.pkl") != nullptr) return {FileFormat::kTorch, ""};
    if (has(zip, ".npy")) return {FileFormat::kNpz, ""};
    if (has(zip, ".h5")) return {FileFormat::kNone, "is a Keras archive, which is not read"};
    return {FileFormat::kNone,
            "is a zip archive with neither a PyTorch checkpoint nor .npy arrays in it"};
  } catch (const Error& error) {
    throw Error(file->path() + ": " + error.what());
  }
}

Sniffed SniffText(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == text.npos) return {FileFormat::kNone, "holds nothing but white space"};
  if (text[start] == '{') {
    const bool index = text.substr(0, 65536).find("\"weight_map\"") != text.npos;
    return {index ? FileFormat::kShardIndex : FileFormat::kJson, ""};
  }
  if (text[start] == '[') {
    return {FileFormat::kNone, "is a JSON list, weights are a JSON object"};
  }
  if (text[start] == '<') {
    return {FileFormat::kNone, "is a web page, not weights: download the file itself"};
  }
  return {FileFormat::kNone,
          "is no weights file that is known: JSON, safetensors, npz or a PyTorch checkpoint"};
}

}  // namespace

Sniffed SniffFile(const std::shared_ptr<const MappedFile>& file) {
  const auto bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) return {FileFormat::kNone, "is empty"};
  if (text.starts_with("PK\x03\x04")) return SniffZip(file);
  if (text.starts_with("\x93NUMPY")) return {FileFormat::kNpy, ""};
  if (IsTorchLegacy(bytes)) return {FileFormat::kTorch, ""};
  if (IsSafetensors(text)) return {FileFormat::kSafetensors, ""};
  for (const Magic& magic : kRefused) {
    if (HasAt(text, magic.offset, magic.bytes)) {
      return {FileFormat::kNone, std::string(magic.refusal)};
    }
  }
  if (text.size() > 1 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5) {
    return {FileFormat::kNone,
            "is a bare Python pickle, which is not read: save it with torch.save or numpy.savez"};
  }
  return SniffText(text);
}

}  // namespace attnmap
