#include <limits>
#include <optional>

#include "attnmap/core/error.h"
#include "image/exif.h"
#include "image/stored_format.h"
#include "image/tiff_directory.h"

namespace attnmap {
namespace {

constexpr uint64_t kWhiteIsZero = 0;
constexpr uint64_t kRgb = 2;
constexpr uint64_t kSeparated = 5;  // CMYK
constexpr uint64_t kYcbcr = 6;      // may keep fewer samples of colour than pixels

// The fields that say what samples mean, with TIFF's own defaults.
struct Fields {
  uint64_t bits = 1;
  uint64_t samples = 1;
  uint64_t photometric = 0;
  uint64_t format = 1;  // unsigned integers
  uint64_t compression = 1;
  std::optional<uint64_t> extra;  // 0: no meaning, 1: premultiplied alpha, 2: alpha
};

Fields ReadFields(const TiffDirectory& directory) {
  Fields fields;
  fields.bits = directory.Integer(TiffTag::kBitsPerSample).value_or(1);
  fields.samples = directory.Integer(TiffTag::kSamplesPerPixel).value_or(1);
  fields.photometric = directory.Integer(TiffTag::kPhotometric).value_or(0);
  fields.format = directory.Integer(TiffTag::kSampleFormat).value_or(1);
  fields.compression = directory.Integer(TiffTag::kCompression).value_or(1);
  fields.extra = directory.Integer(TiffTag::kExtraSamples);
  return fields;
}

void CheckFields(const Fields& fields) {
  if (fields.samples < 1 || fields.samples > 4) {
    throw Error("a TIFF of " + std::to_string(fields.samples) +
                " samples a pixel is not read; expected 1 to 4");
  }
  if (fields.format != 1 || fields.bits > 16) {
    throw Error(std::string("a TIFF of ") + std::to_string(fields.bits) + "-bit " +
                (fields.format == 3 ? "floating-point" : "integer") +
                " samples is not read; expected unsigned integers of at most 16 bits");
  }
}

// Pieces that end past the file's end: libtiff would leave them grey.
void CheckPieces(const TiffDirectory& directory, TiffTag offsets_tag, TiffTag sizes_tag,
                 size_t file_size) {
  const auto offsets = directory.Integers(offsets_tag);
  const auto sizes = directory.Integers(sizes_tag);
  for (size_t i = 0; i < offsets.size() && i < sizes.size(); ++i) {
    if (offsets[i] > file_size || file_size - offsets[i] < sizes[i]) {
      throw Error("truncated TIFF: the file ends within piece " + std::to_string(i + 1) + " of " +
                  std::to_string(offsets.size()));
    }
  }
}

void Overwrite(std::vector<uint8_t>& file, const TiffDirectory& directory, TiffTag tag,
               uint8_t value) {
  const auto place = directory.PlaceOf(tag);
  if (!place) return;
  for (size_t i = 0; i < place->size; ++i) {
    const bool lowest = i == (directory.big_endian() ? place->size - 1 : 0);
    file[place->offset + i] = lowest ? value : 0;
  }
}

// OpenCV turns a TIFF upright whatever it is told, libtiff premultiplies alpha
// and has its own way from CMYK to RGB. Told that the picture is upright and its
// fourth sample nothing special, they hand the samples out as they are stored.
std::vector<uint8_t> Amend(Bytes bytes, const TiffDirectory& directory, const Fields& fields) {
  std::vector<uint8_t> file(bytes.begin(), bytes.end());
  Overwrite(file, directory, TiffTag::kOrientation, 1);
  if (fields.samples >= 2) Overwrite(file, directory, TiffTag::kExtraSamples, 0);
  if (fields.photometric == kSeparated && fields.samples == 4) {
    Overwrite(file, directory, TiffTag::kPhotometric, static_cast<uint8_t>(kRgb));
  }
  return file;
}

void Interpret(const Fields& fields, StoredFormat& stored) {
  const bool four = fields.samples == 4;
  stored.cmyk = four && fields.photometric == kSeparated;
  stored.fourth_is_padding = four && !stored.cmyk && fields.extra == uint64_t{0};
  stored.premultiplied = four && !stored.cmyk && fields.extra == uint64_t{1};
  stored.inverted = fields.bits == 16 && fields.samples == 1 && fields.photometric == kWhiteIsZero;
  stored.read_as = four || fields.bits == 16 ? kAttnmapReadStored : kAttnmapReadColor;
}

}  // namespace

StoredFormat ReadStoredTiff(Bytes bytes) {
  const auto directory = TiffDirectory::First(bytes);
  if (!directory) throw Error("truncated TIFF: its directory lies past the end of the file");
  StoredFormat stored;
  stored.cols = directory->Integer(TiffTag::kImageWidth).value_or(0);
  stored.rows = directory->Integer(TiffTag::kImageLength).value_or(0);
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  if (stored.cols > kMost || stored.rows > kMost) throw Error("broken TIFF: its size is too large");
  const Fields fields = ReadFields(*directory);
  CheckFields(fields);
  CheckPieces(*directory, TiffTag::kStripOffsets, TiffTag::kStripByteCounts, bytes.size());
  CheckPieces(*directory, TiffTag::kTileOffsets, TiffTag::kTileByteCounts, bytes.size());
  if (fields.compression == 1 && fields.bits >= 8 && fields.photometric != kYcbcr) {
    // At most 2^32 * 2^32 * 8 bytes, which only saturation holds; a picture
    // that large fails the pixel limit first.
    const uint64_t per_row = stored.cols * fields.samples * (fields.bits / 8);
    stored.least_bytes =
        stored.rows != 0 && per_row > UINT64_MAX / stored.rows ? UINT64_MAX : per_row * stored.rows;
  }
  Interpret(fields, stored);
  stored.orientation = ExifOrientation(bytes);
  const int pages = directory->CountDirectories();
  if (pages > 1) stored.notes.push_back("first of " + std::to_string(pages) + " pages");
  stored.amended = Amend(bytes, *directory, fields);
  return stored;
}

}  // namespace attnmap
