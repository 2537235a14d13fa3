#ifndef ATTNMAP_IMAGE_CODECS_CODEC_ABI_H_
#define ATTNMAP_IMAGE_CODECS_CODEC_ABI_H_

#include <stdint.h>  // NOLINT(modernize-deprecated-headers)

// What the library and the codec module say to each other: plain C, so that the
// module may be built by another compiler and no exception crosses over.

#define ATTNMAP_CODECS_VERSION 1
#define ATTNMAP_CODECS_SYMBOL "attnmap_codecs"

#ifdef __cplusplus
extern "C" {
#endif

// How samples are to be read.
enum AttnmapReadAs {
  kAttnmapReadColor = 0,   // 3 channels, 8 bits
  kAttnmapReadStored = 1,  // as stored: 1 to 4 channels, 8 or 16 bits
};

// Rows without gaps, channels in the order R G B A (or as stored: C M Y K), 16
// bits in this machine's order. Owned by the module until `release`.
struct AttnmapSamples {
  int32_t rows;
  int32_t cols;
  int32_t channels;
  int32_t bits;
  const void* data;
  void* owner;
};

struct AttnmapEncoded {
  uint64_t size;
  const uint8_t* data;
  void* owner;
};

// All functions return 0, or another number and a sentence in `message`.
#define ATTNMAP_CODECS_MESSAGE 256
struct AttnmapCodecs {
  uint32_t version;  // ATTNMAP_CODECS_VERSION
  int (*decode)(const uint8_t* bytes, uint64_t size, enum AttnmapReadAs read_as,
                struct AttnmapSamples* out, char* message);
  void (*release)(struct AttnmapSamples* samples);
  // rgb: rows * cols * 3.
  int (*encode_tiff)(const uint8_t* rgb, int32_t rows, int32_t cols, struct AttnmapEncoded* out,
                     char* message);
  void (*release_encoded)(struct AttnmapEncoded* encoded);
};

// The module's only symbol.
// NOLINTNEXTLINE(modernize-use-using,modernize-redundant-void-arg)
typedef const struct AttnmapCodecs* (*AttnmapCodecsEntry)(void);

#ifdef __cplusplus
}
#endif

#endif  // ATTNMAP_IMAGE_CODECS_CODEC_ABI_H_
